// Groups nodes around elementwise results and single reductions: the first half of forming
// clusters.
//
// An elementwise node joins the group of its consumers if they all belong to one; so no cycle can
// arise. A reduction takes the elementwise nodes that feed it, and those that work on its result
// alone. A `sum_to` that seems to sum nothing joins like an elementwise node. `fuse` then merges
// groups; a pass of its own because each has its own budget of steps in the compiler.
#pragma once

#include "calque/graph/cluster.hpp"
#include "calque/graph/graph.hpp"
#include "calque/graph/leaves.hpp"

namespace calque {
namespace detail {

/// Most nodes in one cluster: bounds a kernel's compile time and registers.
inline constexpr int max_cluster_nodes = 192;

/// A `sum_to` that in the usual case sums nothing: it may join a cluster that assumes so.
[[nodiscard]] constexpr bool passes_through(const graph_view& g, int id) {
  const node& n = g.nodes[id];
  return n.op->kind == op_kind::sum_to && g.same_ones(n, g.input_node(id, 0));
}

class grouper {
 public:
  constexpr explicit grouper(const graph_view& g) : g_(g) {
    const int n = g.node_count;
    group_.resize(n, -1);
    uses_.resize(n, {});
    numbers_ = extent_numbers(g);
    for (int id = 0; id < n; ++id)
      for (int k = 0; k < g.nodes[id].inputs; ++k) ++uses_[g.input(id, k)].count;
    for (int r = 0; r < g.region_count; ++r)
      for (int k = 0; k < g.regions[r].results; ++k) {
        use& u = uses_[g.result(k, r)];
        u.escapes = true;
        // handed out by an inner region: its owner reads it, and is in no group
        if (g.nodes[g.result(k, r)].region != r) ++u.count;
      }
  }

  constexpr graph run() {
    for (int id = g_.node_count - 1; id >= 0; --id) place(id);
    into_.resize(groups_.size(), -1);
    for (int c = 0; c < groups_.size(); ++c) into_[c] = c;
    for (int c = groups_.size() - 1; c >= 0; --c)
      if (groups_[c].root >= 0) take_tail(c);
    for (int id = 0; id < g_.node_count; ++id)  // alone, it has a kernel that reads its operand
      if (group_[id] >= 0 && keeps_order(g_.kind(id)) && groups_[group_[id]].nodes == 1)
        group_[id] = -1;
    return finish();
  }

 private:
  struct node_group {
    std::int32_t region = 0, domain = -1, root = -1, nodes = 0, first = -1, last = -1;
    std::int32_t inputs = 0, outputs = 0;
    std::int32_t input[max_operands]{};
    bool dead = false;
  };
  struct use {
    std::int32_t count = 0;     // of all consumers
    std::int32_t group = -1;    // the one group that all consumers so far belong to
    std::int32_t in_group = 0;  // how many of them do
    bool escapes = false;       // a result of a region
  };

  static constexpr bool is_map(op_kind k) { return k == op_kind::map; }
  static constexpr bool is_reduction(const op_info& o) {
    return o.kind == op_kind::reduce || o.kind == op_kind::sum_to ||
           o.kind == op_kind::ordered_reduce || runs(o);
  }
  static constexpr bool keeps_order(op_kind k) {
    return k == op_kind::ordered_reduce || k == op_kind::along_axis;
  }
  /// Whether an operation is a running reduction: as many results as elements, so without a tail.
  static constexpr bool runs(const op_info& o) {
    return o.kind == op_kind::along_axis && o.combines;
  }

  constexpr void place(int id) {
    const node& n = g_.nodes[id];
    const bool reduction = is_reduction(*n.op) && !passes_through(g_, id);
    if (!is_reduction(*n.op) && !is_map(n.op->kind)) return;
    if (numbers_[id] != 0) return;
    const use u = uses_[id];
    int c = -1;
    if (!reduction && u.count > 0 && u.in_group == u.count && u.group >= 0 && joins(id, u))
      c = u.group;
    if (c < 0) {
      c = groups_.push({});
      groups_[c].region = n.region;
      groups_[c].domain = reduction ? g_.input(id, 0) : id;
      groups_[c].root = reduction ? id : -1;
      groups_[c].last = id;
    }
    add(c, id);
  }
  constexpr bool joins(int id, const use& u) const {
    const node& n = g_.nodes[id];
    const node_group& c = groups_[u.group];
    if (c.region != n.region || c.nodes >= max_cluster_nodes) return false;
    if (g_.nodes[c.last].device != n.device) return false;
    if (c.inputs + n.inputs + c.outputs + u.escapes > max_operands - 8) return false;
    if (u.escapes && c.root >= 0) return false;
    if (n.rank == 0 && !u.escapes) return true;  // computed once before the loop
    if (!u.escapes && is_counting(g_, id)) return true;
    return g_.same_ones(n, g_.nodes[c.domain]);
  }
  constexpr void add(int c, int id) {
    const node& n = g_.nodes[id];
    group_[id] = c;
    groups_[c].first = id;
    ++groups_[c].nodes;
    groups_[c].outputs += uses_[id].escapes;
    forget_input(c, id);
    for (int k = 0; k < n.inputs; ++k) {
      const int in = g_.input(id, k);
      note_input(c, in);
      use& u = uses_[in];
      if (u.group < 0) u.group = c;
      if (u.group == c) ++u.in_group;
    }
  }
  constexpr void note_input(int c, int in) {
    node_group& x = groups_[c];
    for (int i = 0; i < x.inputs; ++i)
      if (x.input[i] == in) return;
    if (x.inputs < max_operands) x.input[x.inputs++] = in;
  }
  constexpr void forget_input(int c, int id) {
    node_group& x = groups_[c];
    for (int i = 0; i < x.inputs; ++i)
      if (x.input[i] == id) {
        x.input[i] = x.input[--x.inputs];
        return;
      }
  }
  /// Merges into reduction `c` the map group that all consumers of its result belong to.
  constexpr void take_tail(int c) {
    const int root = groups_[c].root;
    const use u = uses_[root];
    if (u.count == 0 || u.group < 0 || u.in_group != u.count || runs(*g_.nodes[root].op)) return;
    const int t = into_[u.group];
    if (t == c) return;
    if (groups_[t].root >= 0 || groups_[t].dead || groups_[t].region != groups_[c].region) return;
    if (!g_.same_extents(g_.nodes[groups_[t].domain], g_.nodes[root])) return;
    if (g_.nodes[groups_[t].last].device != g_.nodes[root].device) return;
    if (groups_[t].first < root) return;  // a node before the root is taken for its body
    if (groups_[t].nodes + groups_[c].nodes > max_cluster_nodes) return;
    if (groups_[t].inputs + groups_[t].outputs + groups_[c].inputs > max_operands - 8) return;
    groups_[t].dead = true;
    for (int id = groups_[t].first; id <= groups_[t].last; ++id)
      if (group_[id] == t) group_[id] = c;
    into_[t] = c;
    groups_[c].last = groups_[t].last;
    groups_[c].nodes += groups_[t].nodes;
    groups_[c].outputs += groups_[t].outputs;
    for (int i = 0; i < groups_[t].inputs; ++i) note_input(c, groups_[t].input[i]);
    forget_input(c, root);
  }
  /// The groups as clusters without outputs.
  constexpr graph finish() {
    graph out = duplicate(g_);
    out.cluster_of.resize(g_.node_count, -1);
    list<std::int32_t> number;  // by group, in order of the groups' last nodes
    number.resize(groups_.size(), -1);
    for (int id = 0; id < g_.node_count; ++id) {
      const int c = group_[id];
      if (c < 0 || groups_[c].last != id) continue;
      number[c] = out.clusters.push({});
      cluster& k = out.clusters[number[c]];
      k.kind = groups_[c].root >= 0 ? cluster_kind::reduce : cluster_kind::map;
      k.root = groups_[c].root;
      k.domain = groups_[c].domain;
      k.nodes = groups_[c].nodes;
    }
    for (int id = 0; id < g_.node_count; ++id)
      if (group_[id] >= 0) out.cluster_of[id] = number[group_[id]];
    return out;
  }

  graph_view g_;
  list<std::int32_t> group_;  // by node
  list<use> uses_;            // by node
  list<char> numbers_;        // by node: the plan computes it
  list<node_group> groups_;
  list<std::int32_t> into_;  // by group: itself, or the reduction that took it as its tail
};

}  // namespace detail

/// The graph with its nodes in groups: clusters whose outputs and assumptions are still to be
/// found.
[[nodiscard]] constexpr graph group(const graph_view& g) { return detail::grouper(g).run(); }

}  // namespace calque
