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
#include "calque/plan/placed_graph.hpp"
#include "calque/plan/request_check.hpp"
#include "calque/plan/schedule.hpp"
#include "calque/run/device_planning.hpp"
#include "calque/run/plan.hpp"
#include "calque/run/step_layouts.hpp"

namespace calque::detail {

/// A call that does not stay on the host: its graph with transfers, and where everything is.
struct placed_call {
  std::vector<device_entry*> devices;  // the host's is null
  std::vector<std::int32_t> of_node, of_result;
  std::vector<kernel_entry> of_node_kernels;
};

class planner {
 public:
  planner(const graph_view& g, const kernel_table& kernels, const planning::graph_facts& facts,
          const call_request& request, const placed_call* placed = nullptr)
      : kernels_(kernels),
        placed_(placed),
        sizes_(checked(g, request), request.leaves, request.leaf_count),
        overlaps_(checked(sizes_, request), facts, request),
        presence_{&has_cluster, &has_node, &kernels_, max_operands},
        units_(sizes_, presence_),
        draft_{.sizes = sizes_,
               .g = sizes_.g,
               .facts = facts,
               .request = request,
               .overlaps = overlaps_,
               .devices = placed ? &placed->of_node : nullptr,
               .result_devices = placed ? &placed->of_result : nullptr} {}

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
    const int devices = placed_ ? static_cast<int>(placed_->devices.size()) : 1;
    const std::vector<std::int64_t> arenas =
        lifetimes_->run(layouts_->scratch, devices, [this](int i) { return device_of_step(i); });
    p.arena_bytes_ = arenas[0];
    for (int d = 1; d < devices; ++d)
      p.devices_.push_back(std::make_unique<plan_device>(
          placed_->devices[static_cast<std::size_t>(d)], arenas[static_cast<std::size_t>(d)]));
    p.graph_ = sizes_.g;
    p.leaves_ = sizes_.g.argument_count;
    p.counters_ = counters;
    p.guarded_ = draft_.request.guarded;
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
      r.device = draft_.result_device(k);
      p.results_.push_back(r);
      if (draft_.request.outputs != nullptr) continue;
      if (r.device == 0) p.fresh_bytes_ += sizes_.byte_count(id);
      else p.devices_[static_cast<std::size_t>(r.device - 1)]->fresh_bytes += sizes_.byte_count(id);
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
  int slot_count() const {
    const int devices = placed_ ? static_cast<int>(placed_->devices.size()) : 1;
    return sizes_.g.argument_count + sizes_.g.result_count() + 2 + devices;
  }
  /// The device whose memory a step writes, or, where it writes none, reads.
  int device_of_step(int i) const {
    if (placed_ == nullptr) return 0;
    const step_layout& l = layouts_->of[static_cast<std::size_t>(i)];
    return l.places.empty() ? 0 : device_of(l.places.back());
  }
  int device_of(const operand_base& p) const {
    int m = p.memory;
    if (p.slice >= 0) {
      const planning::slice& s = draft_.slices[static_cast<std::size_t>(p.slice)];
      m = s.node >= 0 ? draft_.place_of(s.node).memory : s.memory;
    }
    return draft_.memories[static_cast<std::size_t>(draft_.root(m))].device;
  }
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
    const planning::memory& at = draft_.memories[static_cast<std::size_t>(m)];
    return {external + 2 + at.device, at.cell >= 0 ? lifetimes_->offset_of(m) + p.offset : 0};
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
        out.device = static_cast<std::int16_t>(device_of_step(i));
        if (s.kind == step_kind::transfer)
          out.source = static_cast<std::int16_t>(device_of(l.places.front()));
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
      case step_kind::transfer: return step_role::transfer;
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
  const placed_call* placed_;
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

CALQUE_ONCE void plan_on_devices(plan& p, const graph_view& g, const kernel_table& kernels,
                                 const planning::graph_facts& facts, const call_request& request,
                                 run_counters* counters) {
  graph& own = plan_access::own_graph(p);
  planning::check_request(g, request);
  const planning::sized_graph sizes(g, request.leaves, request.leaf_count);
  planning::size_check(sizes).run();
  const planning::placement where(sizes, facts, request);
  planning::placed_graph with_transfers(sizes, where);
  placed_call placed{where.devices, with_transfers.of, {}, {}};
  for (int k = 0; k < g.result_count(); ++k) placed.of_result.push_back(where.of_result(k));
  kernel_table table = kernels;
  if (kernels.of_node != nullptr) {
    for (std::int32_t from : with_transfers.origin)
      placed.of_node_kernels.push_back(kernels.of_node[from]);
    table.of_node = placed.of_node_kernels.data();
  }
  for (std::size_t i = 0; i < with_transfers.of.size(); ++i)
    plan_access::places(p).push_back(
        {static_cast<std::int16_t>(std::max(with_transfers.of[i], 0)),
         static_cast<std::uint8_t>(
             with_transfers.is_copy[i]
                 ? planning::place_reason::transfer
                 : where.reasons[static_cast<std::size_t>(with_transfers.origin[i])])});
  own = std::move(with_transfers.g);
  planner(own.view(), table, planning::graph_facts(own.view()), request, &placed).run(p, counters);
}

/// Plans one call. Throws `shape_error`, `alias_error`, … before anything has changed.
[[nodiscard]] inline std::unique_ptr<plan> make_plan(const graph_view& g,
                                                     const kernel_table& kernels,
                                                     const planning::graph_facts& facts,
                                                     const call_request& request,
                                                     run_counters* counters = nullptr) {
  auto p = std::make_unique<plan>();
  if (request.on_host()) {
    planner(g, kernels, facts, request).run(*p, counters);
  } else if (const device_planner plan = device_planning().load(std::memory_order_acquire)) {
    plan(*p, g, kernels, facts, request, counters);
  } else {
    throw device_error(
        "plan: nothing in this program plans for devices besides the host; make them "
        "with cq::virtual_devices");
  }
  return p;
}

}  // namespace calque::detail
