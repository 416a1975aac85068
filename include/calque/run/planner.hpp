// Makes a plan: checks sizes, schedules, places values, then turns every step into a launch.
//
// Runs once for each key, allocates no array and launches no kernel. The stages are those of plan/;
// geometries and kernels are step_layouts.hpp's.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "calque/plan/effects.hpp"
#include "calque/plan/homes.hpp"
#include "calque/plan/lifetimes.hpp"
#include "calque/plan/request_check.hpp"
#include "calque/plan/schedule.hpp"
#include "calque/run/plan.hpp"
#include "calque/run/step_layouts.hpp"

namespace calque::detail {

class planner {
 public:
  planner(const graph_view& g, const kernel_table& kernels, const planning::graph_facts& facts,
          const call_request& request)
      : kernels_(kernels),
        sizes_(checked(g, request), request.leaves, request.leaf_count),
        overlaps_(checked(sizes_, request), facts, request),
        presence_{&has_cluster, &has_node, &kernels_, max_operands},
        units_(sizes_, presence_),
        draft_{.sizes = sizes_,
               .g = sizes_.g,
               .facts = facts,
               .request = request,
               .overlaps = overlaps_} {}

  void run(plan& p, run_counters* counters) {
    planning::scheduler first(draft_, units_, presence_);
    first.run();
    if (std::vector<char> early = first.written_too_early(); !early.empty()) {
      draft_.restart(std::move(early));
      planning::scheduler(draft_, units_, presence_).run();
    }
    planning::home_finder homes(draft_);
    homes.run();
    layouts_.emplace(draft_, kernels_, homes.snapshots());
    lifetimes_.emplace(draft_);
    p.arena_bytes_ = lifetimes_->run(layouts_->scratch);
    p.graph_ = sizes_.g;
    p.leaves_ = sizes_.g.argument_count;
    p.counters_ = counters;
    set_results(p);
    set_constants(p);
    set_variables(p);
    set_slices(p);
    set_steps(p);
    note_steps(p);
    p.arenas_.set_size(p.slots_ > slots_on_stack
                           ? slot_table_offset(p) + p.slots_ * std::int64_t{sizeof(void*)}
                           : p.arena_bytes_);
    p.own_bytes_ = own_bytes(p);
  }

 private:
  using step_kind = planning::step_kind;

  static bool has_cluster(const void* table, int c) {
    const kernel_entry* e = static_cast<const kernel_table*>(table)->of_cluster;
    return e != nullptr && e[c].run != nullptr;
  }
  static bool has_node(const void* table, int id) {
    const kernel_entry* e = static_cast<const kernel_table*>(table)->of_node;
    return e != nullptr && e[id].run != nullptr;
  }

  static const graph_view& checked(const graph_view& g, const call_request& r) {
    planning::check_request(g, r);
    return g;
  }
  static const graph_view& checked(const planning::sized_graph& s, const call_request& r) {
    planning::size_check(s).run();
    planning::check_destinations(s, r);
    return s.g;
  }

  // --- the plan's tables -----------------------------------------------------------------------

  void set_results(plan& p) const {
    for (int k = 0; k < sizes_.g.result_count(); ++k) {
      const int id = sizes_.g.result(k);
      plan_result r{.type = sizes_.g.nodes[id].type, .rank = sizes_.rank(id)};
      std::copy_n(sizes_.extents(id), r.rank, r.extents.begin());
      p.results_.push_back(r);
      if (draft_.request.outputs == nullptr) p.fresh_bytes_ += sizes_.byte_count(id);
    }
  }
  void set_constants(plan& p) const {
    for (std::size_t i = 0; i < draft_.constants.size(); ++i) {
      std::uint64_t word = 0;
      visit_dtype<int>(draft_.constant_types[i], [&]<class T>(T) {
        const T v = constant_as<T>(draft_.constants[i]);
        std::memcpy(&word, &v, sizeof v);
        return 0;
      });
      p.constants_.push_back(word);
    }
  }
  void set_variables(plan& p) const {
    p.variables_ = planning::variable_use(sizes_.g, draft_.facts);
  }
  int slot_count() const { return sizes_.g.argument_count + sizes_.g.result_count() + 3; }
  void set_slices(plan& p) {
    p.slots_ = slot_count() + static_cast<int>(draft_.slices.size());
    for (std::size_t k = 0; k < draft_.slices.size(); ++k) {
      const planning::slice& s = draft_.slices[k];
      plan_slice out{.slot = slot_count() + static_cast<int>(k), .from = {}, .stride = s.stride};
      if (s.node >= 0) {
        const planning::place from = draft_.place_of(s.node);
        out.from = address(from);
        out.stride = from.strides[0] * size_of(sizes_.g.nodes[s.node].type);
      } else {
        out.from = address(operand_base{.memory = s.memory});
      }
      p.slices_.push_back(out);
    }
  }
  operand_address address(const planning::place& p) const {
    return address(operand_base{p.memory, p.slice, p.offset});
  }
  operand_address address(const operand_base& p) const {
    const int external = sizes_.g.argument_count + sizes_.g.result_count();
    if (p.slice >= 0) return {slot_count() + p.slice, p.offset};
    const int m = draft_.root(p.memory);
    if (m <= external + 1) return {m, p.offset};  // the constants' block and indices come next
    const bool placed = draft_.memories[static_cast<std::size_t>(m)].cell >= 0;
    return {external + 2, placed ? lifetimes_->offset_of(m) + p.offset : 0};
  }

  void set_steps(plan& p) {
    std::vector<int> index(draft_.steps.size() + 1);  // of the plan's step at or after a draft's
    p.shapes_.reserve(draft_.steps.size());
    std::size_t operands = 0;
    for (const step_layout& l : layouts_->of) operands += l.operands.size();
    p.layouts_.reserve(operands);
    for (std::size_t i = 0; i < draft_.steps.size(); ++i) {
      index[i] = static_cast<int>(p.steps_.size());
      add_step(p, static_cast<int>(i));
    }
    index[draft_.steps.size()] = static_cast<int>(p.steps_.size());
    for (std::size_t k = 0; k < p.steps_.size(); ++k) {
      plan_step& s = p.steps_[k];
      if (s.target >= 0) s.target = index[static_cast<std::size_t>(s.target)];
      p.straight_ &= s.action == plan_action::launch;
    }
  }
  void add_step(plan& p, int i) {
    const planning::step& s = draft_.steps[static_cast<std::size_t>(i)];
    plan_step out{.first_operand = static_cast<int>(p.operands_.size()), .target = -1};
    switch (s.kind) {
      case step_kind::start:
      case step_kind::join: return;
      case step_kind::branch:
        out.action = plan_action::branch;
        out.target = matching(i, step_kind::otherwise) + 1;
        p.operands_.push_back(address(draft_.place_of(sizes_.g.input(s.node, 0))));
        break;
      case step_kind::otherwise:
        out.action = plan_action::jump;
        out.target = matching(i, step_kind::join);
        break;
      case step_kind::loop:
      case step_kind::next: {
        const node& n = sizes_.g.nodes[s.node];
        out.action = s.kind == step_kind::loop ? plan_action::loop : plan_action::next;
        out.reverse = n.reverse;
        out.target = (s.kind == step_kind::loop ? matching(i, step_kind::next)
                                                : start_of_[static_cast<std::size_t>(s.node)]) +
                     1;
        if (s.kind == step_kind::loop) start_of_[static_cast<std::size_t>(s.node)] = i;
        std::int64_t known = 0;
        if (sizes_.known(sizes_.g.input(s.node, 0), &known)) out.count = known < 0 ? 0 : known;
        p.operands_.push_back(
            address(operand_base{.memory = draft_.control[static_cast<std::size_t>(s.node)]}));
        p.operands_.push_back(address(draft_.place_of(sizes_.g.input(s.node, 0))));
        set_slice_range(out, s.node);
        break;
      }
      default: {
        if (!s.enabled) return;
        const step_layout& l = layouts_->of[static_cast<std::size_t>(i)];
        out.run = layouts_->kernels[static_cast<std::size_t>(i)];
        for (const operand_base& at : l.places) p.operands_.push_back(address(at));
        const std::size_t first = p.layouts_.size();
        p.layouts_.insert(p.layouts_.end(), l.operands.begin(), l.operands.end());
        p.shapes_.push_back(l.shape);
        p.shapes_.back().operands = p.layouts_.data() + first;
        if (s.kind == step_kind::check) p.shapes_.back().text = add_text(p, s.node);
        out.shape = &p.shapes_.back();
        out.scratch = lifetimes_->scratch_offset(i);
        ++p.launches_;
      }
    }
    out.operands = static_cast<int>(p.operands_.size()) - out.first_operand;
    p.steps_.push_back(out);
    planned_from_.push_back(i);
  }
  const char* add_text(plan& p, int id) const {
    const auto extents_of = [this](int in) { return sizes_.extents(in); };
    p.texts_.push_back(
        std::make_unique<const std::string>(planning::operation_text(sizes_.g, id, extents_of) +
                                            planning::where_text(sizes_.g, sizes_.g.nodes[id])));
    return p.texts_.back()->c_str();
  }
  void set_slice_range(plan_step& s, int owner) const {
    int first = -1, last = -1;
    for (std::size_t k = 0; k < draft_.slices.size(); ++k)
      if (draft_.slices[k].loop == owner) {
        if (first < 0) first = static_cast<int>(k);
        last = static_cast<int>(k);
      }
    if (first >= 0) s.first_slice = first, s.slices = last - first + 1;
  }
  /// The control step of the same owner after `i`.
  int matching(int i, step_kind kind) const {
    const int owner = draft_.steps[static_cast<std::size_t>(i)].node;
    for (std::size_t k = static_cast<std::size_t>(i) + 1; k < draft_.steps.size(); ++k)
      if (draft_.steps[k].kind == kind && draft_.steps[k].node == owner) return static_cast<int>(k);
    return static_cast<int>(draft_.steps.size());
  }
  void note_steps(plan& p) const {
    std::vector<int> plan_step_at(draft_.steps.size() +
                                  1);  // the plan's step at or after a draft's
    for (std::size_t i = draft_.steps.size() + 1, k = planned_from_.size(); i-- > 0;) {
      while (k > 0 && planned_from_[k - 1] >= static_cast<int>(i)) --k;
      plan_step_at[i] = static_cast<int>(k);
    }
    for (int i : planned_from_) {
      const planning::step& s = draft_.steps[static_cast<std::size_t>(i)];
      step_note n{.role = role_of(s.kind), .node = s.node, .cluster = s.cluster};
      for (int r = s.region; r > 0; r = sizes_.g.regions[r].parent) ++n.depth;
      const step_layout& l = layouts_->of[static_cast<std::size_t>(i)];
      if (!l.places.empty()) {
        const int m = draft_.root(l.places.back().memory);
        const int cell = draft_.memories[static_cast<std::size_t>(m)].cell;
        if (cell >= 0) {
          const planning::block& b = lifetimes_->cells[static_cast<std::size_t>(cell)];
          n.first = plan_step_at[static_cast<std::size_t>(b.start)];
          n.last = plan_step_at[static_cast<std::size_t>(b.end)];
        }
      }
      p.notes_.push_back(n);
    }
  }
  static step_role role_of(step_kind k) {
    switch (k) {
      case step_kind::copy: return step_role::reshape;
      case step_kind::store: return step_role::store;
      case step_kind::snapshot: return step_role::snapshot;
      case step_kind::check: return step_role::check;
      case step_kind::branch: return step_role::branch;
      case step_kind::otherwise: return step_role::otherwise;
      case step_kind::loop: return step_role::loop;
      case step_kind::next: return step_role::next;
      default: return step_role::kernel;
    }
  }
  static std::int64_t own_bytes(const plan& p) {
    std::size_t n = sizeof(plan);
    n += p.steps_.size() * (sizeof(plan_step) + sizeof(step_note));
    n += p.operands_.size() * sizeof(operand_address) + p.shapes_.size() * sizeof(geometry);
    n += p.layouts_.size() * sizeof(operand_layout) + p.constants_.size() * 8;
    for (const auto& text : p.texts_) n += sizeof(std::string) + text->size();
    return static_cast<std::int64_t>(n);
  }

  const kernel_table& kernels_;
  planning::sized_graph sizes_;
  planning::overlap_table overlaps_;
  planning::kernel_presence presence_;
  planning::cluster_units units_;
  planning::draft draft_;
  std::optional<step_layouts> layouts_;
  std::optional<planning::lifetimes> lifetimes_;
  std::map<std::size_t, int> start_of_;
  std::vector<int> planned_from_;  // by the plan's step: the draft's
};

/// Plans one call. Throws `shape_error`, `alias_error`, … before anything has changed.
[[nodiscard]] inline std::unique_ptr<plan> make_plan(const graph_view& g,
                                                     const kernel_table& kernels,
                                                     const planning::graph_facts& facts,
                                                     const call_request& request,
                                                     run_counters* counters = nullptr) {
  auto p = std::make_unique<plan>();
  planner(g, kernels, facts, request).run(*p, counters);
  return p;
}

}  // namespace calque::detail
