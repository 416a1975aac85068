// Groups nodes into clusters, each of which becomes one kernel.
//
// An elementwise node joins the cluster of its consumers if they all belong to one; so no cycle can
// arise. A reduction takes the elementwise nodes that feed it, and those that work on its result
// alone. A `sum_to` that seems to sum nothing joins like an elementwise node. Extents decide only
// whether it pays: every node of a cluster is right for any broadcast, but for such a `sum_to`, and
// for an output smaller than its cluster: there extents are assumed equal, and the plan checks
// that. Reductions over the same axes of one domain then become one cluster with what works on
// their rows (merge_rows.hpp), and elementwise groups of one domain kernels with several results
// (merge_maps.hpp).
#pragma once

#include "calque/graph/graph.hpp"
#include "calque/passes/merge_maps.hpp"
#include "calque/passes/merge_rows.hpp"

namespace calque {
namespace detail {

/// Most nodes in one cluster: bounds a kernel's compile time and registers.
inline constexpr int max_cluster_nodes = 192;

class fuser {
 public:
  constexpr explicit fuser(const graph_view& g) : g_(g) {
    const int n = g.node_count;
    group_.resize(n, -1);
    uses_.resize(n, {});
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
    for (int c = groups_.size() - 1; c >= 0; --c)
      if (groups_[c].root >= 0) take_tail(c);
    row_merger(g_, group_, groups_).run();
    map_merger(g_, group_, groups_).run();
    return finish();
  }

 private:
  struct use {
    std::int32_t count = 0;     // of all consumers
    std::int32_t group = -1;    // the one group that all consumers so far belong to
    std::int32_t in_group = 0;  // how many of them do
    bool escapes = false;       // a result of a region
  };

  static constexpr bool is_map(op_kind k) { return k == op_kind::map; }
  static constexpr bool is_reduction(op_kind k) {
    return k == op_kind::reduce || k == op_kind::sum_to;
  }

  /// A `sum_to` that in the usual case sums nothing: it may join a cluster that assumes so.
  constexpr bool passes_through(int id) const {
    const node& n = g_.nodes[id];
    if (n.op->kind != op_kind::sum_to) return false;
    const node& x = g_.input_node(id, 0);
    if (x.rank != n.rank) return false;
    for (int i = 0; i < n.rank; ++i)
      if (g_.is_literal(n.dims[i], 1) != g_.is_literal(x.dims[i], 1)) return false;
    return true;
  }
  constexpr void place(int id) {
    const node& n = g_.nodes[id];
    const bool reduction = is_reduction(n.op->kind) && !passes_through(id);
    if (!is_reduction(n.op->kind) && !is_map(n.op->kind)) return;
    const use u = uses_[id];
    int c = -1;
    if (!reduction && u.count > 0 && u.in_group == u.count && u.group >= 0 && joins(id, u))
      c = u.group;
    if (c < 0) {
      const bool root = is_reduction(n.op->kind);
      c = groups_.push({});
      groups_[c].region = n.region;
      groups_[c].domain = root ? g_.input(id, 0) : id;
      groups_[c].root = root ? id : -1;
      groups_[c].last = id;
    }
    add(c, id);
  }
  constexpr bool joins(int id, const use& u) const {
    const node& n = g_.nodes[id];
    const fusion_group& c = groups_[u.group];
    if (c.region != n.region || c.nodes >= max_cluster_nodes) return false;
    if (c.inputs + n.inputs + c.outputs + u.escapes > max_operands - 8) return false;
    if (u.escapes && c.root >= 0) return false;
    if (n.rank == 0 && !u.escapes) return true;  // computed once before the loop
    const node& d = g_.nodes[c.domain];
    if (n.rank != d.rank) return false;
    for (int i = 0; i < n.rank; ++i)
      if (g_.is_literal(n.dims[i], 1) != g_.is_literal(d.dims[i], 1)) return false;
    return true;
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
    fusion_group& x = groups_[c];
    for (int i = 0; i < x.inputs; ++i)
      if (x.input[i] == in) return;
    if (x.inputs < max_operands) x.input[x.inputs++] = in;
  }
  constexpr void forget_input(int c, int id) {
    fusion_group& x = groups_[c];
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
    if (u.count == 0 || u.group < 0 || u.in_group != u.count || u.group == c) return;
    const int t = u.group;
    if (groups_[t].root >= 0 || groups_[t].dead || groups_[t].region != groups_[c].region) return;
    if (!g_.same_extents(g_.nodes[groups_[t].domain], g_.nodes[root])) return;
    if (groups_[t].first < root) return;  // a node before the root is taken for its body
    if (groups_[t].nodes + groups_[c].nodes > max_cluster_nodes) return;
    if (groups_[t].inputs + groups_[t].outputs + groups_[c].inputs > max_operands - 8) return;
    groups_[t].dead = true;
    for (int id = groups_[t].first; id <= groups_[t].last; ++id)
      if (group_[id] == t) group_[id] = c;
    for (use& v : uses_)
      if (v.group == t) v.group = c;
    groups_[c].last = groups_[t].last;
    groups_[c].nodes += groups_[t].nodes;
    groups_[c].outputs += groups_[t].outputs;
    for (int i = 0; i < groups_[t].inputs; ++i) note_input(c, groups_[t].input[i]);
    forget_input(c, root);
  }
  constexpr graph finish() {
    graph out = duplicate(g_);
    out.cluster_of.resize(g_.node_count, -1);
    list<std::int32_t> number;  // by group, in order of the groups' last nodes
    number.resize(groups_.size(), -1);
    int count = 0;
    for (int id = 0; id < g_.node_count; ++id) {
      const int c = group_[id];
      if (c >= 0 && groups_[c].last == id) number[c] = count++;
    }
    out.clusters.resize(count, {});
    for (int id = 0; id < g_.node_count; ++id) {
      const int c = group_[id];
      if (c < 0) continue;
      out.cluster_of[id] = number[c];
      ++out.clusters[number[c]].nodes;
    }
    int at = out.pool.size();
    for (cluster& c : out.clusters) c.first = at, at += c.nodes, c.nodes = 0;
    out.pool.resize(at, -1);
    for (int id = 0; id < g_.node_count; ++id) {
      const int k = out.cluster_of[id];
      if (k < 0) continue;
      cluster& c = out.clusters[k];
      out.pool[c.first + c.nodes++] = id;
    }
    for (int c = 0; c < groups_.size(); ++c) {
      if (number[c] < 0 || groups_[c].dead) continue;
      cluster& k = out.clusters[number[c]];
      k.kind = groups_[c].rows        ? cluster_kind::rows
               : groups_[c].root >= 0 ? cluster_kind::reduce
                                      : cluster_kind::map;
      k.root = groups_[c].root;
      k.domain = groups_[c].domain;
    }
    find_outside_readings();
    for (cluster& c : out.clusters) {
      outputs(out, c);
      c.first_assumption = out.pool.size();
      if (c.kind == cluster_kind::rows) assume_rows(out, c);
      else assume_outputs(out, c);
    }
    return out;
  }
  /// Which nodes some other step, a region's owner or the caller reads. What a rows cluster reads
  /// of itself through reshapes and broadcasts stays inside.
  constexpr void find_outside_readings() {
    outside_.resize(g_.node_count, 0);
    for (int id = 0; id < g_.node_count; ++id) {
      if (is_look(g_.kind(id))) continue;
      const int c = group_[id];
      for (int k = 0; k < g_.nodes[id].inputs; ++k) {
        const int in = g_.input(id, k), seen = looked_at(g_, in);
        if (c >= 0 && (group_[in] == c || (groups_[c].rows && group_[seen] == c))) continue;
        outside_[in] = outside_[seen] = 1;
      }
    }
    for (int r = 0; r < g_.region_count; ++r)
      for (int k = 0; k < g_.regions[r].results; ++k)
        outside_[g_.result(k, r)] = outside_[looked_at(g_, g_.result(k, r))] = 1;
  }
  constexpr void outputs(graph& out, cluster& c) const {
    c.first_output = out.pool.size();
    for (int i = 0; i < c.nodes; ++i) {
      const int id = out.pool[c.first + i];
      if (outside_[id] != 0) out.pool.push(id), ++c.outputs;
    }
    if (c.outputs == 0) {  // nobody reads it: level 0 keeps such nodes
      out.pool.push(out.pool[c.first + c.nodes - 1]);
      c.outputs = 1;
    }
  }
  constexpr void assume_outputs(graph& out, cluster& c) const {
    assume_sums(out, c);
    const node domain = out.nodes[c.kind == cluster_kind::map ? c.domain : c.root];
    for (int i = 0; i < c.outputs; ++i)
      assume(out, c, out.nodes[out.pool[c.first_output + i]], domain);
  }
  constexpr void assume_sums(graph& out, cluster& c) const {
    for (int i = 0; i < c.nodes; ++i) {
      const int id = out.pool[c.first + i];
      if (out.nodes[id].op->kind == op_kind::sum_to && id != c.root)
        assume(out, c, out.nodes[id], g_.input_node(id, 0));
    }
  }
  /// What is reduced has the domain's extents, and so has what is written; a `sum_to` sums the
  /// cluster's axes alone.
  constexpr void assume_rows(graph& out, cluster& c) const {
    row_set rows(g_, c.domain, reduced_mask(g_, c.root));
    for (int i = 0; i < c.nodes; ++i) rows.ids.push(out.pool[c.first + i]);
    (void)rows.is_valid();
    const node domain = out.nodes[c.domain];
    for (std::int32_t id : rows.ids) {
      if (rows.reduces(id)) assume(out, c, g_.input_node(id, 0), domain);
      if (g_.kind(id) != op_kind::sum_to) continue;
      if (rows.reduces(id)) assume_kept(out, c, rows, id);
      else assume(out, c, out.nodes[id], g_.input_node(id, 0));
    }
    for (int i = 0; i < c.outputs; ++i) {
      const int id = out.pool[c.first_output + i];
      if (rows.form(id) == row_form::full) assume(out, c, out.nodes[id], domain);
      else if (!rows.reduces(id)) assume_kept(out, c, rows, id);
    }
  }
  constexpr void assume_kept(graph& out, cluster& c, const row_set& rows, int id) const {
    const node n = out.nodes[id], domain = out.nodes[c.domain];
    for (int a = 0; a < n.rank; ++a) {
      const int axis = rows.form(id) == row_form::narrow ? rows.axes.kept_axis(a) : a;
      if (!rows.axes.reduced(axis)) assume_equal(out, c, n.dims[a], domain.dims[axis]);
    }
  }
  constexpr void assume(graph& out, cluster& c, const node n, const node as) const {
    for (int a = 0; a < n.rank; ++a) assume_equal(out, c, n.dims[a], as.dims[a]);
  }
  constexpr void assume_equal(graph& out, cluster& c, int a, int b) const {
    if (g_.same_dim(a, b)) return;
    for (int at = c.first_assumption; at < out.pool.size(); at += 2)
      if (out.pool[at] == a && out.pool[at + 1] == b) return;
    out.pool.push(a);
    out.pool.push(b);
    ++c.assumptions;
  }

  graph_view g_;
  list<std::int32_t> group_;  // by node
  list<use> uses_;            // by node
  list<fusion_group> groups_;
  list<char> outside_;  // by node: something outside its group reads it
};

}  // namespace detail

/// The graph with its nodes grouped into clusters.
[[nodiscard]] constexpr graph fuse(const graph_view& g) { return detail::fuser(g).run(); }

}  // namespace calque
