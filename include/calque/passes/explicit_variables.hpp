// Makes what differentiated loops and branches read from variables explicit: values that they
// capture, or carry from step to step.
//
// The way back of a derivative repeats regions, when their variables have moved on; and inside a
// loop a variable is read anew, while a derivative with respect to it is one with respect to its
// value before. Separate from the gradient pass, which then meets no read inside what it repeats.
#pragma once

#include "calque/passes/rewriter.hpp"

namespace calque::detail {

class explicit_variables_pass {
 public:
  constexpr explicit explicit_variables_pass(const graph_view& g) : r_(g) { scan(); }
  [[nodiscard]] constexpr bool has_work() const { return work_; }
  constexpr graph run() {
    r_.run(*this);
    return r_.finish();
  }

  constexpr void operator()(int id) {
    const node& n = r_.in.nodes[id];
    r_.out.where = {n.line, n.file, n.function};
    switch (n.op->kind) {
      case op_kind::variable: r_.copy(id), r_.out.declare_variable(r_.to[id]); break;
      case op_kind::read: r_.replace(id, r_.out.value_of(r_.input(id, 0))); break;
      case op_kind::assign:
        r_.out.assign(r_.input(id, 0), r_.input(id, 1));
        r_.to[id] = r_.out.g.nodes.size() - 1;
        break;
      case op_kind::marker: r_.copy(id), hold(id); break;
      case op_kind::gradient: r_.copy(id), release(id); break;
      case op_kind::region_arg: argument(id); break;
      case op_kind::cond:
      case op_kind::loop: owner(id); break;
      case op_kind::result: result(id); break;
      default: r_.copy(id);
    }
  }
  /// Reads what the region needs from the start, before it begins.
  constexpr bool enters(int region) {
    for (int v = 0; v < variables_.size(); ++v)
      if (at(region, v).needed) at(region, v).start = r_.out.value_of(variable(v));
    return true;
  }
  constexpr void leaves(int region) {
    for (int v = 0; v < variables_.size(); ++v)
      if (hands_on(region, v)) at(region, v).end = r_.out.value_of(variable(v));
  }

 private:
  struct use {
    bool assigned = false, read = false;  // in the region or in one inside it
    bool needed = false;                  // its value is followed through the region
    std::int32_t start = -1, end = -1;    // nodes of `out`
  };
  struct marked {
    std::int32_t marker, variable, before;
  };

  constexpr use& at(int region, int v) { return uses_[region * variables_.size() + v]; }
  constexpr int variable(int v) const { return r_.to[variables_[v]]; }
  constexpr bool is_loop(int region) const {
    return r_.in.kind(r_.in.regions[region].owner) == op_kind::loop;
  }
  constexpr bool assigned_by_owner(int region, int v) {
    const node& o = r_.in.nodes[r_.in.regions[region].owner];
    return at(o.body0, v).assigned || (o.body1 >= 0 && at(o.body1, v).assigned);
  }
  /// Whether the region's owner gives the variable's last value as a result of its own.
  constexpr bool hands_on(int region, int v) {
    if (!inside_[region] || !assigned_by_owner(region, v)) return false;
    return is_loop(region) ? at(region, v).needed : needed_after(region, v);
  }
  /// Whether the variable's value is followed in the region around this one.
  constexpr bool needed_after(int region, int v) {
    const int parent = r_.in.regions[region].parent;
    return inside_[parent] ? at(parent, v).needed : differentiates_[parent] && at(parent, v).read;
  }

  constexpr void scan() {
    const graph_view& g = r_.in;
    list<std::int32_t> number;
    number.resize(g.node_count, -1);
    for (int id = 0; id < g.node_count; ++id)
      if (g.kind(id) == op_kind::variable) number[id] = variables_.push(id);
    uses_.resize(g.region_count * variables_.size(), {});
    inside_.resize(g.region_count, false);
    differentiates_.resize(g.region_count, false);
    for (int id = 0; id < g.node_count; ++id) {
      const op_kind k = g.kind(id);
      if (k == op_kind::gradient) {
        differentiates_[g.nodes[id].region] = true;
        for (int r = g.nodes[id].region + 1; r < g.region_count; ++r)
          if (g.regions[r].owner < id && g.encloses(g.nodes[id].region, r)) inside_[r] = true;
      }
      if (k == op_kind::read || k == op_kind::assign)
        for (int r = g.nodes[id].region; r >= 0; r = g.regions[r].parent) {
          use& u = at(r, number[g.input(id, 0)]);
          (k == op_kind::read ? u.read : u.assigned) = true;
        }
    }
    for (int r = 1; r < g.region_count; ++r)
      for (int v = 0; v < variables_.size(); ++v) {
        at(r, v).needed = inside_[r] && (at(r, v).read || needed_after(r, v));
        work_ = work_ || at(r, v).needed;
      }
  }

  // While a function is differentiated, its marker stands for the variable's value.
  constexpr void hold(int id) {
    const int argument = r_.in.nodes[id].index;
    if (argument < 0) return;
    const int v = r_.to[r_.in.arguments[argument].node];
    held_.push({r_.to[id], v, r_.out.exchange_value(v, r_.to[id])});
  }
  constexpr void release(int gradient) {
    for (; !held_.empty(); held_.pop()) {
      const marked m = held_.back();
      bool ends = false;
      for (int k = 1; k < r_.in.nodes[gradient].inputs; ++k)
        ends = ends || r_.input(gradient, k) == m.marker;
      if (!ends) return;
      const int now = r_.out.exchange_value(m.variable, m.before);
      if (now != m.marker) r_.out.exchange_value(m.variable, now);
    }
  }

  constexpr void argument(int id) {
    const graph_view& g = r_.in;
    const int region = g.nodes[id].region, k = g.nodes[id].index;
    const int carried = g.nodes[g.regions[region].owner].index;
    node n = g.nodes[id];
    n.index = r_.out.g.regions[r_.out.open()].arguments;
    r_.append(id, n);
    if (k != carried || !inside_[region]) return;  // else: the last state
    for (int v = 0; v < variables_.size(); ++v) {
      if (!at(region, v).needed) continue;
      int value = at(region, v).start;
      if (hands_on(region, v)) value = r_.out.region_argument(r_.out.at(variable(v)));
      r_.out.exchange_value(variable(v), value);
    }
  }
  constexpr void owner(int id) {
    const graph_view& g = r_.in;
    const node& old = g.nodes[id];
    list<std::int32_t> added;
    for (int v = 0; v < variables_.size(); ++v)
      if (hands_on(old.body0, v)) added.push(v);
    if (added.empty()) {
      r_.copy(id);
      return;
    }
    const bool loop = old.op->kind == op_kind::loop;
    list<std::int32_t> inputs;
    for (int k = 0; k < old.inputs; ++k) {
      inputs.push(r_.input(id, k));
      if (loop && k == old.index)
        for (int v : added) inputs.push(at(old.body0, v).start);
    }
    const int before =
        loop ? old.index : g.regions[old.body0].results;  // results before the new ones
    node n = old;
    if (loop) n.index += added.size();
    const int made = r_.out.append(n, inputs.begin(), inputs.size());
    for (int body : {old.body0, old.body1})
      if (body >= 0) insert_results(body, before, added);
    r_.out.own(made, r_.to_region[old.body0], old.body1 < 0 ? -1 : r_.to_region[old.body1]);
    r_.to[id] = made;
    for (int i = 0; i < added.size(); ++i)
      r_.out.exchange_value(variable(added[i]),
                            r_.out.result_of(made, before + i, r_.out.at(variable(added[i]))));
  }
  constexpr void insert_results(int body, int before, const list<std::int32_t>& added) {
    graph& g = r_.out.g;
    const region old = g.regions[r_.to_region[body]];
    list<std::int32_t> all;
    for (int k = 0; k <= old.results; ++k) {
      if (k == before)
        for (int v : added) all.push(at(body, v).end);
      if (k < old.results) all.push(std::int32_t(g.pool[old.first_result + k]));
    }
    g.regions[r_.to_region[body]].first_result = g.add_to_pool(all.begin(), all.size());
    g.regions[r_.to_region[body]].results = all.size();
  }
  constexpr void result(int id) {
    const node& o = r_.in.nodes[r_.in.input(id, 0)];
    node n = r_.in.nodes[id];
    if (o.op->kind == op_kind::loop && n.index >= o.index)
      for (int v = 0; v < variables_.size(); ++v) n.index += hands_on(o.body0, v);
    r_.append(id, n);
  }

  rewriter r_;
  bool work_ = false;
  list<std::int32_t> variables_;  // nodes of `in`
  list<use> uses_;                // by region, then by variable
  list<bool> inside_;             // by region: derivatives pass through it
  list<bool> differentiates_;     // by region: it has a gradient node of its own
  list<marked> held_;
};

}  // namespace calque::detail
