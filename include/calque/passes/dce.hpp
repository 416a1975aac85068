// Dead code: keeps what results and effects need.
//
// Arguments stay (their numbering is the call's contract), assignments stay wherever they are. A
// region goes with its owner; results of a `cond` and stacked outputs of a loop that nobody reads
// are dropped with what computes them. A loop's carried states stay.
#pragma once

#include "calque/passes/rewriter.hpp"

namespace calque {
namespace detail {

class dce_pass {
 public:
  constexpr explicit dce_pass(const graph_view& g) : r_(g) {
    live_.resize(g.node_count, 0);
    effects_.resize(g.region_count, 0);
    first_slot_.resize(g.region_count, 0);
    find_effects();
    find_slots();
    sweep();
    r_.run(*this);
  }

  constexpr void operator()(int id) {
    if (!live_[id]) return;
    const node& n = r_.in.nodes[id];
    if (n.op->kind != op_kind::result) {
      r_.copy(id);
      return;
    }
    const int region = region_of_results(r_.in.input(id, 0));
    node m = n;
    if (region >= 0) m.index = new_slot_[first_slot_[region] + n.index];
    r_.append(id, m);
  }
  constexpr bool enters(int region) const { return live_[r_.in.regions[region].owner] != 0; }
  constexpr bool keeps(int region, int k) const {
    return new_slot_[first_slot_[region_of_results(r_.in.regions[region].owner)] + k] >= 0;
  }
  constexpr graph finish() { return r_.finish(); }

 private:
  /// The region whose results a cond's or loop's `result` nodes number; -1 for a gradient.
  constexpr int region_of_results(int owner) const { return r_.in.nodes[owner].body0; }

  constexpr void find_effects() {
    for (int id = 0; id < r_.in.node_count; ++id)
      if (r_.in.kind(id) == op_kind::assign)
        for (int r = r_.in.nodes[id].region; r >= 0 && !effects_[r]; r = r_.in.regions[r].parent)
          effects_[r] = 1;
  }
  constexpr void find_slots() {
    int slots = 0;
    for (int r = 0; r < r_.in.region_count; ++r) {
      first_slot_[r] = slots;
      slots += r_.in.regions[r].results;
    }
    new_slot_.resize(slots, -1);
  }
  constexpr void keep(int id) { live_[id] = 1; }

  // From the last node to the first: users come before their inputs, owners before their regions.
  constexpr void sweep() {
    const graph_view& g = r_.in;
    for (int k = 0; k < g.result_count(); ++k) keep(g.result(k));
    for (int id = g.node_count - 1; id >= 0; --id) {
      const node& n = g.nodes[id];
      switch (n.op->kind) {
        case op_kind::input:
        case op_kind::scalar:
        case op_kind::variable:
        case op_kind::assign: live_[id] = 1; break;
        case op_kind::entry:
        case op_kind::region_arg:
          live_[id] = n.region == 0 || live_[g.regions[n.region].owner];
          break;
        case op_kind::cond:
        case op_kind::loop:
          if (effects_[n.body0] || (n.body1 >= 0 && effects_[n.body1])) live_[id] = 1;
          if (live_[id]) keep_results(n);
          break;
        case op_kind::result:
          if (live_[id] && region_of_results(g.input(id, 0)) >= 0)
            new_slot_[first_slot_[region_of_results(g.input(id, 0))] + n.index] = 0;
          break;
        default: break;
      }
      if (live_[id])
        for (int k = 0; k < n.inputs; ++k) keep(g.input(id, k));
    }
  }
  // Called when the owner's live `result` nodes have marked their slots: numbers those anew.
  constexpr void keep_results(const node& owner) {
    const graph_view& g = r_.in;
    const int base = first_slot_[owner.body0];
    int number = 0;
    for (int k = 0; k < g.regions[owner.body0].results; ++k) {
      const bool state = owner.op->kind == op_kind::loop && k < owner.index;
      if (new_slot_[base + k] < 0 && !state) continue;
      new_slot_[base + k] = number++;
      keep(g.result(k, owner.body0));
      if (owner.body1 >= 0) keep(g.result(k, owner.body1));
    }
  }

  rewriter r_;
  list<char> live_;                // by node
  list<char> effects_;             // by region: it or a region inside assigns
  list<std::int32_t> first_slot_;  // by region: where its results start in `new_slot_`
  list<std::int32_t> new_slot_;    // new number of a result; -1 if dropped
};

}  // namespace detail

/// The graph without the nodes that neither a result nor an effect needs.
[[nodiscard]] constexpr graph dce(const graph_view& g) { return detail::dce_pass(g).finish(); }

}  // namespace calque
