// The steps of a plan in program order, with the values they read, and where results are wanted.
//
// A unit is emitted at its last node, or earlier where a node with a smaller id reads it; reads,
// assigns, conds and loops keep the order of their ids. Afterwards every reading of a value from
// inside a loop that the value lives outside of counts as at the loop's end.
#pragma once

#include <algorithm>

#include "calque/graph/leaves.hpp"
#include "calque/plan/assembly.hpp"
#include "calque/plan/check.hpp"
#include "calque/plan/row_readings.hpp"
#include "calque/plan/units.hpp"

namespace calque::detail::planning {

class scheduler final : public assembly_writer {
 public:
  scheduler(draft& d, const cluster_units& units, const kernel_presence& kernels)
      : assembly_writer(d, kernels), units_(units) {
    last_in_cluster_.assign(static_cast<std::size_t>(g_.cluster_count), -1);
    for (int c = 0; c < g_.cluster_count; ++c)
      for (int i = 0; i < g_.clusters[c].nodes; ++i)
        last_in_cluster_[static_cast<std::size_t>(c)] =
            std::max(last_in_cluster_[static_cast<std::size_t>(c)],
                     static_cast<int>(g_.pool[g_.clusters[c].first + i]));
    cursor_.assign(static_cast<std::size_t>(g_.region_count), 0);
    for (int r = 0; r < g_.region_count; ++r)
      cursor_[static_cast<std::size_t>(r)] = g_.regions[r].first;
    for (int id = 0; id < g_.node_count; ++id)
      if (g_.kind(id) == op_kind::result) results_.push_back(id);
    stored_ = stored_indices(g_, [&](int id) { return units_.of(g_, id) >= 0; });
  }

  void run() {
    for (int id = 0; id < g_.node_count; ++id)  // before anything can overwrite them
      if (g_.kind(id) == op_kind::input || g_.kind(id) == op_kind::scalar) emit_argument(id);
    shadow_variables();
    for (int id = 0; id < g_.node_count; ++id)
      if (may_throw(g_.kind(id)) && g_.nodes[id].region == 0 && needs_no_effect(g_.input(id, 1)))
        emit_check(id);
    emit_region(0);
    store_shadows();
    for (int k = 0; k < g_.result_count(); ++k) {
      const int id = g_.result(k);
      place to{.memory = d_.output_memory(k)};
      const std::int64_t* given = d_.request.outputs ? d_.request.outputs[k].strides : nullptr;
      if (given != nullptr) std::copy_n(given, s_.rank(id), to.strides);
      else row_major(s_.rank(id), s_.extents(id), to.strides);
      want(id, 0, to);
    }
    move_readings_to_loop_ends();
    find_last_check();
  }

 private:
  void want(int id, int region, const place& to) {
    emit(id);
    wish(id, region, to);
  }

  // --- nodes -----------------------------------------------------------------------------------

  void emit_region(int r) {
    if (s_.is_dead(r)) return;
    const region& body = g_.regions[r];
    for (int id = body.first; id < body.last; ++id) {
      if (g_.nodes[id].region != r || done(id)) continue;
      const int c = units_.of(g_, id);
      if (c >= 0 && last_in_cluster_[static_cast<std::size_t>(c)] != id) continue;
      emit(id);
    }
  }
  /// Emits the effects of a region in order up to `id`.
  void emit_effects(int id) {
    const int r = g_.nodes[id].region;
    int& at = cursor_[static_cast<std::size_t>(r)];
    while (at <= id) {
      const int e = at++;
      if (g_.nodes[e].region == r && is_effect(g_.kind(e)) && !done(e)) emit_effect(e);
    }
  }
  void emit(int id) override {
    if (done(id)) return;
    const node& n = g_.nodes[id];
    if (is_look(n.op->kind) && is_inside(id)) {
      finish(id);
      return;
    }
    switch (n.op->kind) {
      case op_kind::constant: emit_constant(id, n.value); break;
      case op_kind::extent: emit_constant(id, {0, s_.dim_value(n.index)}); break;
      case op_kind::iota:
        if (stored_[id] == 0) add_entity(id, d_.counted_place(id), 0);
        else emit_unit(id);
        break;
      case op_kind::variable:
      case op_kind::entry: finish(id); break;
      case op_kind::read:
      case op_kind::assign:
      case op_kind::cond:
      case op_kind::loop: emit_effects(id); break;
      case op_kind::result: emit_result(id); break;
      case op_kind::transpose:
      case op_kind::broadcast_to:
      case op_kind::slice:
      case op_kind::windows:
      case op_kind::marker:
      case op_kind::stop_gradient: emit_view(id); break;
      case op_kind::reshape: emit_reshape(id); break;
      case op_kind::transfer: emit_transfer(id); break;
      case op_kind::concatenate:
      case op_kind::insert: emit_assembly(id); break;
      case op_kind::take:
        emit_check(id);
        emit_unit(id);
        break;
      case op_kind::scatter_add:
        emit_check(id);
        emit_sum_into(id);
        break;
      case op_kind::overlap_add: emit_sum_into(id); break;
      case op_kind::sum_to:
        if (units_.of(g_, id) < 0 && s_.summed_axes(id) == 0) emit_view(id);
        else emit_unit(id);
        break;
      case op_kind::region_arg: break;  // made with its region
      case op_kind::map:
        if (s_.is_number(id) && units_.of(g_, id) < 0) emit_constant(id, s_.number(id));
        else emit_unit(id);
        break;
      default: emit_unit(id);
    }
  }
  void emit_argument(int id) {
    const int i = g_.nodes[id].index;
    const leaf& l = d_.request.leaves[i];
    place p = row_major_place(d_.leaf_memory(i), id);
    if (l.kind == argument_kind::array && l.strides != nullptr)
      std::copy_n(l.strides, l.rank, p.strides);
    entity& e = add_entity(id, p, 0);
    if (l.kind == argument_kind::array && may_be_overwritten(i)) {
      const int en = d_.entity_of[static_cast<std::size_t>(id)];
      e.defined = here();
      e.snapshot = push({.kind = step_kind::snapshot, .node = id, .entity = en});
    }
  }
  void emit_constant(int id, constant v) {
    const dtype t = g_.nodes[id].type;
    std::size_t k = 0;
    while (k < d_.constants.size() &&
           !(d_.constant_types[k] == t && constant::identical(d_.constants[k], v)))
      ++k;
    if (k == d_.constants.size()) d_.constants.push_back(v), d_.constant_types.push_back(t);
    add_entity(id, {.memory = constants_, .offset = static_cast<std::int64_t>(8 * k)}, 0);
  }
  void emit_view(int id) {
    const int in = g_.input(id, 0);
    emit(in);
    (void)d_.look(id, base(in), &base(id));
    d_.entity_of[static_cast<std::size_t>(id)] = d_.entity_of[static_cast<std::size_t>(in)];
    d_.is_view[static_cast<std::size_t>(id)] = 1;
    finish(id);
  }
  void emit_reshape(int id) {
    const int in = g_.input(id, 0);
    emit(in);
    if (d_.look(id, base(in), &base(id))) {
      d_.of(in).reshaped = true;
      emit_view(id);
      return;
    }
    add_copy(step_kind::copy, in, id).reshaped = true;  // it is written in the source's order
  }
  void emit_unit(int id) {
    const int c = units_.of(g_, id);
    const node& n = g_.nodes[id];
    step s{.kind = c >= 0 ? step_kind::cluster : step_kind::single,
           .node = id,
           .cluster = c,
           .region = n.region};
    std::vector<int> in, out;
    int over = id;
    bool elementwise = n.op->kind == op_kind::map;
    if (c >= 0) {
      const cluster& u = g_.clusters[c];
      const cluster_inputs& x = units_.inputs(c);
      in.assign(x.body.begin(), x.body.end());
      in.insert(in.end(), x.tail.begin(), x.tail.end());
      s.inputs = x.body.size(), s.tail_inputs = x.tail.size();
      out.assign(g_.pool + u.first_output, g_.pool + u.first_output + u.outputs);
      over = u.kind == cluster_kind::reduce ? u.root : u.domain;
      elementwise = u.kind == cluster_kind::map || u.kind == cluster_kind::product ||
                    (u.kind == cluster_kind::rows && writes_last(s_, u));
      for (int i = 0; i < u.nodes; ++i) finish(g_.pool[u.first + i]);
    } else {
      if (n.op->kind != op_kind::iota && n.op->kind != op_kind::take) require_kernel(id);
      in.assign(g_.pool + n.first_input, g_.pool + n.first_input + n.inputs);
      s.inputs = n.inputs;
      out.push_back(id);
      finish(id);
    }
    for (int i : in) emit(i);
    s.first_input = static_cast<int>(d_.ids.size());
    d_.ids.insert(d_.ids.end(), in.begin(), in.end());
    s.first_output = static_cast<int>(d_.ids.size());
    s.outputs = static_cast<int>(out.size());
    d_.ids.insert(d_.ids.end(), out.begin(), out.end());
    const int at = push(s);
    // a tail's operands are read where the result's elements are written, or before
    const cluster_kind kind = c >= 0 ? g_.clusters[c].kind : cluster_kind::map;
    for (std::size_t k = 0; k < in.size(); ++k) {
      const bool body = static_cast<int>(k) < s.inputs;
      bool in_place = (body ? elementwise : kind == cluster_kind::reduce) && s_.same(in[k], over);
      if (!body && kind == cluster_kind::rows)
        in_place = read_before_rows(s_, g_.clusters[c], in[k]);
      read_by(in[k], at, in_place);
    }
    for (int o : out) add_computed(o, at);
  }

  /// A look at a value that stays inside its cluster: nobody reads it.
  bool is_inside(int id) const {
    const int seen = looked_at(g_, id), c = units_.of(g_, seen);
    if (c < 0) return false;
    const cluster& u = g_.clusters[c];
    for (int k = 0; k < u.outputs; ++k)
      if (g_.pool[u.first_output + k] == seen) return false;
    return true;
  }

  // --- effects and regions ---------------------------------------------------------------------

  void emit_effect(int id) {
    finish(id);
    switch (g_.kind(id)) {
      case op_kind::read: emit_read(id); break;
      case op_kind::assign: emit_assign(id); break;
      case op_kind::cond: emit_cond(id); break;
      default: emit_loop(id);
    }
  }
  void emit_read(int id) {
    const int handle = g_.input(id, 0), i = g_.nodes[handle].index;
    add_entity(id, present_place(handle), here());
    if (d_.facts.writes(i) || may_be_overwritten(i)) add_snapshot(id);
  }
  void emit_assign(int id) {
    want(g_.input(id, 1), g_.nodes[id].region, present_place(g_.input(id, 0)));
  }
  /// Everything that a region reads from outside is there before it starts.
  void emit_captures(int body) {
    if (body < 0 || s_.is_dead(body)) return;
    const region& r = g_.regions[body];
    for (int id = r.first; id < r.last; ++id)
      for (int k = 0; k < g_.nodes[id].inputs; ++k)
        if (const int in = g_.input(id, k); in < r.first) emit(in);
    for (int q = body; q < g_.region_count; ++q)  // regions inside come after it
      for (int k = 0; g_.encloses(body, q) && k < g_.regions[q].results; ++k)
        if (const int in = g_.result(k, q); in < r.first) emit(in);
  }
  int result_node(int owner, int k) const {
    for (auto i = std::lower_bound(results_.begin(), results_.end(), owner); i != results_.end();
         ++i)
      if (g_.input(*i, 0) == owner && g_.nodes[*i].index == k) return *i;
    return -1;
  }
  void emit_result(int id) {
    const int owner = g_.input(id, 0);
    emit(owner);
    for (const owned_box& b : boxes_)
      if (b.owner == owner && b.k == g_.nodes[id].index) {
        add_entity(id, row_major_place(b.memory, id), b.end);
        return;
      }
  }
  void emit_cond(int id) {
    const node& n = g_.nodes[id];
    emit(g_.input(id, 0));
    emit_captures(n.body0);
    emit_captures(n.body1);
    const int begin = push({.kind = step_kind::branch, .node = id, .region = n.region});
    read_by(g_.input(id, 0), begin, false);
    const int count = g_.regions[n.body0].results;
    const std::size_t first = boxes_.size();
    for (int k = 0; k < count; ++k)
      if (const int r = result_node(id, k); r >= 0)
        boxes_.push_back({id, k, add_box(r, id, begin), 0});
    const std::size_t last = boxes_.size();
    const auto fill = [&](int body) {
      emit_region(body);
      for (std::size_t b = first; b < last && !s_.is_dead(body); ++b) {
        const int v = g_.result(boxes_[b].k, body);
        want(v, body, row_major_place(boxes_[b].memory, v));
      }
    };
    fill(n.body0);
    push({.kind = step_kind::otherwise, .node = id, .region = n.region});
    fill(n.body1);
    const int end = push({.kind = step_kind::join, .node = id, .region = n.region});
    for (std::size_t b = first; b < last; ++b) boxes_[b].end = close(boxes_[b].memory, end);
  }
  void emit_loop(int id) {
    const node& n = g_.nodes[id];
    const region& body = g_.regions[n.body0];
    const int carried = n.index, scanned = n.inputs - 1 - carried;
    for (int k = 0; k < n.inputs; ++k) emit(g_.input(id, k));
    emit_captures(n.body0);
    std::vector<int> states;
    for (int k = 0; k < carried; ++k) {
      const int init = g_.input(id, 1 + k);
      states.push_back(add_box(init, id, here()));
      boxes_.push_back({id, k, states.back(), 0});
      want(init, n.region, row_major_place(states.back(), init));
    }
    const int begin = push({.kind = step_kind::loop, .node = id, .region = n.region});
    read_by(g_.input(id, 0), begin, false);
    std::vector<std::pair<int, int>> stacks;  // result number, slice
    for (int k = carried; k < body.results; ++k)
      if (const int r = result_node(id, k); r >= 0) {
        const int m = add_box(r, id, begin);
        boxes_.push_back({id, k, m, 0});
        stacks.emplace_back(k, static_cast<int>(d_.slices.size()));
        d_.slices.push_back({id, -1, m, s_.byte_count(g_.result(k, n.body0))});
      }
    const int counters = d_.add_memory({.bytes = 16, .region = n.region, .start = begin});
    d_.control[static_cast<std::size_t>(id)] = counters;
    emit_loop_arguments(id, body, states, counters, carried, scanned);
    emit_region(n.body0);
    const bool runs = !s_.is_dead(n.body0);
    for (int k = 0; k < carried && runs; ++k) {
      const int v = g_.result(k, n.body0);
      want(v, n.body0, row_major_place(states[static_cast<std::size_t>(k)], v));
    }
    for (const auto& [k, slice] : stacks) {
      if (!runs) break;
      const int v = g_.result(k, n.body0);
      place to = row_major_place(d_.slices[static_cast<std::size_t>(slice)].memory, v);
      to.slice = slice;
      want(v, n.body0, to);
    }
    const int end = push({.kind = step_kind::next, .node = id, .region = n.region});
    d_.loop_end[static_cast<std::size_t>(id)] = end;
    close(counters, end);
    for (owned_box& b : boxes_)
      if (b.owner == id) b.end = close(b.memory, end);
  }
  void emit_loop_arguments(int owner, const region& body, const std::vector<int>& states,
                           int counters, int carried, int scanned) {
    if (const int i = argument_of(g_, body, 0); i >= 0) add_entity(i, {.memory = counters}, here());
    for (int k = 0; k < carried; ++k)
      if (const int a = argument_of(g_, body, 1 + k); a >= 0) {
        add_entity(a, row_major_place(states[static_cast<std::size_t>(k)], a), here());
        add_snapshot(a);
      }
    for (int k = 0; k < scanned; ++k)
      if (const int a = argument_of(g_, body, 1 + carried + k); a >= 0) {
        const int xs = g_.input(owner, 1 + carried + k);
        // a look at the scanned value: its readings are readings of that value
        const int slice = static_cast<int>(d_.slices.size());
        base(a) = draft::sliced(base(xs), slice);
        d_.slices.push_back({owner, xs, -1, 0});
        d_.slice_of[static_cast<std::size_t>(a)] = slice;
        d_.entity_of[static_cast<std::size_t>(a)] = d_.entity_of[static_cast<std::size_t>(xs)];
        d_.is_view[static_cast<std::size_t>(a)] = 1;
        finish(a);
      }
  }

  struct owned_box {
    int owner, k, memory, end;
  };

  const cluster_units& units_;
  std::vector<int> last_in_cluster_, cursor_, results_;
  list<char> stored_;  // by node: an index that is read by more than clusters
  std::vector<owned_box> boxes_;
};

}  // namespace calque::detail::planning
