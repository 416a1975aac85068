// Checks that a graph keeps the format's rules; run after each pass in tests and in debug builds.
//
// Separate from the passes, so that none of them needs to check what it is given. Linear time.
#pragma once

#include "calque/passes/verify_parts.hpp"

namespace calque {

/// A rule of the graph format that does not hold, and where; `rule` is null if all hold.
struct broken_rule {
  const char* rule = nullptr;
  int node = -1;
};

namespace detail {

class verifier {
 public:
  constexpr explicit verifier(const graph_view& g) : g_(g) {}

  constexpr broken_rule run() {
    if (const char* rule = tables()) return {rule, -1};
    last_effect_.resize(g_.node_count, -1);
    regions_.push(0);
    marks_.push(0);
    for (int id = 0; id < g_.node_count; ++id) {
      while (regions_.size() > 1 && g_.regions[regions_.back()].last == id) leave();
      if (const char* rule = enter(id)) return {rule, id};
      if (const char* rule = shape_of_node(id)) return {rule, id};
      if (const char* rule = by_kind(id)) return {rule, id};
      if (const char* rule = effect(id)) return {rule, id};
    }
    while (regions_.size() > 1) leave();
    for (int r = 0; r < g_.region_count; ++r)
      if (const char* rule = results(r)) return {rule, g_.regions[r].owner};
    return {};
  }

 private:
  struct undo {
    std::int32_t variable, before;  // the value to restore; in `written_`, the region's first node
  };

  constexpr const node& input(int id, int k) const { return g_.input_node(id, k); }

  constexpr const char* tables() const {
    if (g_.region_count < 1 || g_.node_count < 1) return "a graph has a body and its entry";
    if (g_.regions[0].first != 0 || g_.regions[0].last != g_.node_count)
      return "the body holds all nodes";
    for (int i = 0; i < g_.dim_count; ++i) {
      const dim& d = g_.dims[i];
      if (d.kind == dim_kind::argument) {
        if (d.a < 0 || d.a >= g_.argument_count || d.b < 0 || d.b >= g_.arguments[d.a].rank)
          return "an extent names an argument's axis";
      } else if (d.kind != dim_kind::literal && (d.a < 0 || d.a >= i || d.b < 0 || d.b >= i)) {
        return "an extent is computed from earlier ones";
      } else if (d.kind == dim_kind::count && g_.dims[d.b].kind != dim_kind::range) {
        return "a range is counted";
      }
      if (d.same_as < 0) continue;
      if (d.kind == dim_kind::literal || d.same_as >= g_.dim_count)
        return "an extent's representative exists";
      if (d.same_as >= i && g_.dims[d.same_as].kind != dim_kind::literal)
        return "an extent's representative is a literal or an earlier extent";
    }
    for (int i = 0; i < g_.argument_count; ++i) {
      const argument& a = g_.arguments[i];
      if (a.kind == argument_kind::extents || a.kind == argument_kind::device) continue;
      if (a.node < 0 || a.node >= g_.node_count) return "an argument has its node";
      const op_kind k = a.kind == argument_kind::array    ? op_kind::input
                        : a.kind == argument_kind::scalar ? op_kind::scalar
                                                          : op_kind::variable;
      const node& n = g_.nodes[a.node];
      if (n.op->kind != k || n.type != a.type || n.rank != a.rank || n.region != 0)
        return "an argument's node has its kind, type and rank";
    }
    if (g_.char_count > 0 && g_.chars[g_.char_count - 1] != '\0') return "names end with a zero";
    return nullptr;
  }

  constexpr const char* enter(int id) {
    const node& n = g_.nodes[id];
    // g++ with -fsanitize=undefined does not compare such pointers in constant expressions
    if (!__builtin_is_constant_evaluated() && !n.op) return "a node has an operation";
    if (n.op->kind == op_kind::entry && id > 0) {
      const int r = n.region;
      if (r < 1 || r >= g_.region_count || g_.regions[r].first != id)
        return "an entry is the first node of its region";
      const region& e = g_.regions[r];
      if (e.parent != regions_.back() || e.parent >= r) return "a region lies in its parent";
      if (e.last <= id || e.last > g_.regions[e.parent].last) return "a region ends in its parent";
      if (e.owner < e.last || e.owner >= g_.node_count || g_.nodes[e.owner].region != e.parent)
        return "a region precedes its owner";
      if (id + e.arguments >= e.last) return "a region's arguments follow its entry";
      regions_.push(r);
      marks_.push(undo_.size());
    } else if (n.region != regions_.back()) {
      return "a region's nodes follow each other";
    }
    return (n.op->kind == op_kind::entry) == (id == g_.regions[n.region].first)
               ? nullptr
               : "a region starts with its entry";
  }
  constexpr void leave() {
    for (int i = undo_.size() - 1; i >= marks_.back(); --i)
      last_effect_[undo_[i].variable] = undo_[i].before;
    for (int i = marks_.back(); i < undo_.size(); ++i)
      written_.push({undo_[i].variable, g_.regions[regions_.back()].first});
    undo_.resize(marks_.back());
    marks_.pop();
    regions_.pop();
  }

  constexpr const char* shape_of_node(int id) const {
    const node& n = g_.nodes[id];
    if (n.rank > max_rank) return "ranks are 0 to 8";
    for (int i = 0; i < n.rank; ++i)
      if (n.dims[i] < 0 || n.dims[i] >= g_.dim_count) return "a node's extents exist";
    if (n.name >= g_.char_count) return "a node's name exists";
    if (n.inputs < 0 || n.first_input < 0 || n.first_input + n.inputs > g_.pool_count)
      return "a node's inputs lie in the pool";
    for (int k = 0; k < n.inputs; ++k) {
      const int in = g_.input(id, k);
      if (in < 0 || in >= id) return "inputs come before their users";
      if (!g_.encloses(g_.nodes[in].region, n.region)) return "inputs are visible to their users";
      if (!is_token(n.op->kind, k) && !is_value(n.op->kind, k, g_.kind(in)))
        return "inputs are values";
    }
    return nullptr;
  }
  static constexpr bool is_token(op_kind k, int input) {
    return (k == op_kind::read && input == 1) || (k == op_kind::assign && input == 2);
  }
  static constexpr bool is_value(op_kind user, int k, op_kind of) {
    const bool owner = of == op_kind::cond || of == op_kind::loop || of == op_kind::gradient;
    if (user == op_kind::result) return owner;
    if (k == 0 && (user == op_kind::read || user == op_kind::assign))
      return of == op_kind::variable;
    return !owner && of != op_kind::entry && of != op_kind::assign && of != op_kind::variable;
  }

  constexpr const char* by_kind(int id) const {
    const node& n = g_.nodes[id];
    switch (n.op->kind) {
      case op_kind::input:
      case op_kind::scalar:
      case op_kind::variable: return argument_node(id);
      case op_kind::constant:
        return n.inputs == 0 && n.rank == 0 ? nullptr : "a constant has rank 0";
      case op_kind::extent:
        return n.inputs == 0 && n.rank == 0 && n.type == dtype::int64 && n.index >= 0 &&
                       n.index < g_.dim_count
                   ? nullptr
                   : "an extent is the int64 value of an extent in the table";
      case op_kind::iota:
        return n.inputs == 0 && n.index >= 0 && n.index < n.rank ? nullptr
                                                                 : "iota counts along an axis";
      case op_kind::map: return map(id);
      case op_kind::reduce:
      case op_kind::ordered_reduce:
      case op_kind::arg_reduce: return reduction(id);
      case op_kind::random:
        return n.inputs == 1 && is_floating(n.type) && input(id, 0).rank == 1 &&
                       input(id, 0).type == dtype::uint64
                   ? nullptr
                   : "random numbers are floating and read a generator's state";
      case op_kind::along_axis:
        return n.inputs >= 1 && g_.same_extents(n, input(id, 0)) &&
                       __builtin_popcount(n.axis_mask) == 1 && n.axis_mask >> n.rank == 0
                   ? nullptr
                   : "what is computed along one axis keeps its extents";
      case op_kind::transpose: return transposition(id);
      case op_kind::sum_to:
      case op_kind::reshape:
      case op_kind::broadcast_to:
      case op_kind::marker:
      case op_kind::stop_gradient:
        return n.inputs == 1 && input(id, 0).type == n.type &&
                       (n.op->kind != op_kind::sum_to || n.rank <= input(id, 0).rank) &&
                       (n.op->kind != op_kind::broadcast_to || n.rank >= input(id, 0).rank) &&
                       ((n.op->kind != op_kind::marker && n.op->kind != op_kind::stop_gradient) ||
                        n.rank == input(id, 0).rank)
                   ? nullptr
                   : "an operation on one value keeps its type";
      case op_kind::slice:
      case op_kind::insert: return part_rules{g_}.ranges(id);
      case op_kind::concatenate: return part_rules{g_}.concatenation(id);
      case op_kind::windows:
      case op_kind::overlap_add: return part_rules{g_}.windows(id);
      case op_kind::take:
      case op_kind::scatter_add: return part_rules{g_}.indexing(id);
      case op_kind::matmul:
        return n.inputs == 2 && input(id, 0).rank >= 2 && input(id, 1).rank >= 2 &&
                       n.rank == (input(id, 0).rank > input(id, 1).rank ? input(id, 0).rank
                                                                        : input(id, 1).rank) &&
                       input(id, 0).type == n.type && input(id, 1).type == n.type
                   ? nullptr
                   : "matmul multiplies matrices of one type";
      case op_kind::cond: return condition(id);
      case op_kind::loop: return loop(id);
      case op_kind::region_arg: {
        const int first = g_.regions[n.region].first;
        return n.region > 0 && n.index >= 0 && id == first + 1 + n.index &&
                       n.index < g_.regions[n.region].arguments
                   ? nullptr
                   : "a region's arguments follow its entry";
      }
      case op_kind::result: return result(id);
      case op_kind::read:
      case op_kind::assign: {
        const int token = n.op->kind == op_kind::read ? 1 : 2;
        if (n.inputs != token + 1) return "an effect names its variable and what it follows";
        for (int k = 0; k < token; ++k)
          if (input(id, k).type != n.type || input(id, k).rank != n.rank)
            return "a variable keeps its type and rank";
        return nullptr;
      }
      case op_kind::gradient:
        return n.inputs >= 1 ? nullptr : "a gradient has a value to differentiate";
      case op_kind::transfer: return "a transfer belongs to a plan";
      case op_kind::entry: return n.inputs == 0 ? nullptr : "an entry has no inputs";
    }
    return "a node's kind is known";
  }

  constexpr const char* argument_node(int id) const {
    const node& n = g_.nodes[id];
    if (n.index < 0 || n.index >= g_.argument_count || g_.arguments[n.index].node != id)
      return "an argument's node knows its number";
    return n.inputs == 0 ? nullptr : "an argument has no inputs";
  }
  constexpr const char* map(int id) const {
    const node& n = g_.nodes[id];
    if (n.inputs != n.op->arity || n.inputs < 1)
      return "an operation has as many inputs as it takes";
    int rank = 0;
    const int first = n.op->form == map_form::select ? 1 : 0;
    for (int k = 0; k < n.inputs; ++k) {
      const node& m = input(id, k);
      if (m.rank > rank) rank = m.rank;
      if (k >= first && m.type != input(id, first).type) return "operands have one type";
    }
    if (rank != n.rank) return "an elementwise result has its operands' largest rank";
    switch (n.op->form) {
      case map_form::cast: return nullptr;
      case map_form::compare: return n.type == dtype::boolean ? nullptr : "a comparison gives bool";
      case map_form::select:
        if (input(id, 0).type != dtype::boolean) return "a choice is made by a bool";
        break;
      case map_form::same: break;
    }
    return input(id, first).type == n.type ? nullptr : "an operation keeps its operands' type";
  }
  constexpr const char* reduction(int id) const {
    const node& n = g_.nodes[id];
    if (n.inputs != 1) return "a reduction has one input";
    const int rank = input(id, 0).rank, axes = __builtin_popcount(n.axis_mask);
    if (n.axis_mask >> rank) return "a reduction's axes are its input's";
    if (n.rank != (n.keepdims ? rank : rank - axes)) return "a reduction's rank is what it leaves";
    if (n.op->kind == op_kind::arg_reduce && (axes != 1 || !is_integer(n.type)))
      return "an index is an integer along one axis";
    return nullptr;
  }
  constexpr const char* transposition(int id) const {
    const node& n = g_.nodes[id];
    if (n.inputs != 1 || input(id, 0).type != n.type || input(id, 0).rank != n.rank)
      return "a transpose keeps type and rank";
    unsigned seen = 0;
    for (int i = 0; i < n.rank; ++i) {
      if (n.perm[i] < 0 || n.perm[i] >= n.rank) return "a transpose permutes its axes";
      seen |= 1u << n.perm[i];
      if (!g_.same_dim(n.dims[i], input(id, 0).dims[n.perm[i]]))
        return "a transpose moves its extents";
    }
    return seen + 1 == 1u << n.rank ? nullptr : "a transpose permutes its axes";
  }

  constexpr bool owns(int id, int r) const {
    return r > 0 && r < g_.region_count && g_.regions[r].owner == id && g_.regions[r].last <= id;
  }
  constexpr const char* condition(int id) const {
    const node& n = g_.nodes[id];
    if (n.inputs < 1 || input(id, 0).type != dtype::boolean || input(id, 0).rank != 0)
      return "a condition is a bool of rank 0";
    if (!owns(id, n.body0) || !owns(id, n.body1)) return "a condition owns two regions";
    const region &a = g_.regions[n.body0], &b = g_.regions[n.body1];
    if (a.arguments || b.arguments) return "a condition's regions have no arguments";
    if (a.results != b.results) return "both regions of a condition give as many results";
    if (!results_exist(a) || !results_exist(b)) return "a region's results exist";
    for (int k = 0; k < a.results; ++k)
      if (!part_rules::alike(g_.nodes[g_.result(k, n.body0)], g_.nodes[g_.result(k, n.body1)]))
        return "both regions of a condition give results of one type and rank";
    return nullptr;
  }
  constexpr const char* loop(int id) const {
    const node& n = g_.nodes[id];
    if (n.inputs < 1 || input(id, 0).type != dtype::int64 || input(id, 0).rank != 0)
      return "a trip count is an int64 of rank 0";
    if (!owns(id, n.body0) || n.body1 >= 0) return "a loop owns one region";
    const region& r = g_.regions[n.body0];
    if (n.index < 0 || n.index >= n.inputs || r.results < n.index || r.arguments != n.inputs)
      return "a loop's region takes the step, its states and slices";
    if (!results_exist(r)) return "a region's results exist";
    for (int k = 0; k < n.inputs; ++k) {
      const node &a = g_.nodes[r.first + 1 + k], &in = input(id, k);
      const int slice = k > n.index ? 1 : 0;
      if (a.op->kind != op_kind::region_arg || a.type != in.type || a.rank + slice != in.rank)
        return "a loop hands in its states, and slices along the first axis";
      if (k >= 1 && !slice && !part_rules::alike(g_.nodes[g_.result(k - 1, n.body0)], a))
        return "a loop's state keeps type and rank";
    }
    return nullptr;
  }
  constexpr const char* result(int id) const {
    const node& n = g_.nodes[id];
    if (n.inputs != 1 || n.index < 0) return "a result has an owner and a number";
    const node& owner = input(id, 0);
    if (owner.op->kind == op_kind::gradient)
      return n.index < owner.inputs ? nullptr : "a result's number exists";
    if (n.index >= g_.regions[owner.body0].results) return "a result's number exists";
    const node& from = g_.nodes[g_.result(n.index, owner.body0)];
    const bool stacked = owner.op->kind == op_kind::loop && n.index >= owner.index;
    return from.type == n.type && from.rank + (stacked ? 1 : 0) == n.rank
               ? nullptr
               : "a result has its region's type and rank";
  }

  // What a read or an assignment follows is no older than the variable's latest assignment here.
  constexpr const char* effect(int id) {
    const node& n = g_.nodes[id];
    if (n.op->kind == op_kind::cond || n.op->kind == op_kind::loop) {
      for (; !written_.empty() && written_.back().before >= g_.regions[n.body0].first;
           written_.pop()) {
        const std::int32_t variable = written_.back().variable;
        undo_.push({variable, last_effect_[variable]});
        last_effect_[variable] = id;
      }
    }
    if (n.op->kind != op_kind::read && n.op->kind != op_kind::assign) return nullptr;
    const int variable = g_.input(id, 0), token = g_.input(id, n.inputs - 1);
    const op_kind t = g_.kind(token);
    if (t != op_kind::entry && t != op_kind::assign && t != op_kind::cond && t != op_kind::loop)
      return "an effect follows an entry, an assignment or a region's owner";
    if (token < last_effect_[variable]) return "effects keep the program's order";
    if (n.op->kind == op_kind::assign) {
      undo_.push({variable, last_effect_[variable]});
      last_effect_[variable] = id;
    }
    return nullptr;
  }

  constexpr bool results_exist(const region& r) const {
    if (r.results < 0 || r.first_result < 0 || r.first_result + r.results > g_.pool_count)
      return false;
    for (int k = 0; k < r.results; ++k) {
      const int id = g_.pool[r.first_result + k];
      if (id < 0 || id >= r.last) return false;
    }
    return true;
  }
  constexpr const char* results(int r) const {
    const region& e = g_.regions[r];
    if (r > 0 && (e.owner < 0 || (g_.nodes[e.owner].body0 != r && g_.nodes[e.owner].body1 != r)))
      return "a region's owner knows it";
    if (!results_exist(e)) return "a region's results exist";
    for (int k = 0; k < e.results; ++k) {
      const node& n = g_.nodes[g_.result(k, r)];
      if (!g_.encloses(n.region, r) || !is_value(op_kind::map, 0, n.op->kind))
        return "a region's results are values that it sees";
    }
    return nullptr;
  }

  graph_view g_;
  list<std::int32_t> regions_;      // open ones, outermost first
  list<std::int32_t> last_effect_;  // by variable's node: what its next effect must follow
  list<undo> undo_;                 // assignments of open regions
  list<std::int32_t> marks_;        // where each open region's start in `undo_`
  list<undo> written_;              // assignments of closed regions whose owner comes next
};

}  // namespace detail

/// The first rule that does not hold, with the node that breaks it.
[[nodiscard]] constexpr broken_rule find_broken_rule(const graph_view& g) {
  return detail::verifier(g).run();
}

/// Null if the graph keeps every rule, else the one that it breaks.
[[nodiscard]] constexpr const char* verify(const graph_view& g) { return find_broken_rule(g).rule; }

}  // namespace calque
