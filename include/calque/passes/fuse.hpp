// Forms clusters, each of which becomes one kernel, from the groups that `group` made.
//
// Reductions over the same axes of one domain become one cluster with what works on their rows
// (merge_rows.hpp), elementwise groups of one domain kernels with several results (merge_maps.hpp),
// or the end of the matrix product that they read (product_ends.hpp). Extents decide only whether
// it pays: every node of a cluster is right for any broadcast, but for a `sum_to` that seems to sum
// nothing, for what rows reduce, and for an output smaller than its cluster: there extents are
// assumed equal, and the plan checks that.
#pragma once

#include "calque/passes/group.hpp"
#include "calque/passes/merge_maps.hpp"
#include "calque/passes/merge_rows.hpp"
#include "calque/passes/product_ends.hpp"

namespace calque {
namespace detail {

class fuser {
 public:
  /// `g` comes from `group`.
  constexpr explicit fuser(const graph_view& g) : g_(g) {
    group_.resize(g.node_count, -1);
    groups_.resize(g.cluster_count, {});
    list<std::int32_t> seen;  // by node: the latest group that reads it
    seen.resize(g.node_count, -1);
    for (int id = 0; id < g.node_count; ++id) {
      const int c = g.cluster_of[id];
      if (c < 0) continue;
      group_[id] = c;
      fusion_group& a = groups_[c];
      if (a.first < 0) a.first = id;
      a.last = id;
      a.region = g.nodes[id].region;
      a.device = g.nodes[id].device;
      a.root = g.clusters[c].root;
      a.domain = g.clusters[c].domain;
      ++a.nodes;
    }
    find_outside_readings();
    for (int id = 0; id < g.node_count; ++id) {
      const int c = group_[id];
      if (c < 0) continue;
      groups_[c].outputs += outside_[id] != 0;
      for (int k = 0; k < g.nodes[id].inputs; ++k) {
        const int in = g.input(id, k);
        if (group_[in] == c || seen[in] == c) continue;
        seen[in] = c;  // a bound: groups take turns
        ++groups_[c].inputs;
      }
    }
  }

  constexpr graph run() {
    if (fusion_groups::most_work(g_) > 0) {
      fusion_groups groups(g_, group_, groups_);
      row_merger(groups).run();
      map_merger(groups).run();
      product_ends(groups).run();
    }
    return finish();
  }

 private:
  /// A group of `sum_to`s that in the usual case sum nothing is none: they are looks then.
  constexpr void drop_looks() {
    list<char> works;  // by group: it computes something in any case
    works.resize(groups_.size(), 0);
    for (int id = 0; id < g_.node_count; ++id)
      if (group_[id] >= 0 && !passes_through(g_, id)) works[group_[id]] = 1;
    for (int id = 0; id < g_.node_count; ++id)
      if (group_[id] >= 0 && works[group_[id]] == 0) group_[id] = -1;
  }

  /// A group that only ends in such a `sum_to` is a reduction, which needs no assumption.
  constexpr void sum_at_the_end(int c) {
    fusion_group& a = groups_[c];
    if (a.dead || a.root >= 0 || !passes_through(g_, a.last)) return;
    for (int id = a.first; id < a.last; ++id)
      if (group_[id] == c && (outside_[id] != 0 || passes_through(g_, id))) return;
    a.root = a.last;
    a.domain = g_.input(a.last, 0);
  }

  constexpr graph finish() {
    drop_looks();
    find_outside_readings();
    for (int c = 0; c < groups_.size(); ++c) sum_at_the_end(c);
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
               : groups_[c].product   ? cluster_kind::product
               : groups_[c].root >= 0 ? cluster_kind::reduce
                                      : cluster_kind::map;
      k.root = groups_[c].root;
      k.domain = groups_[c].domain;
    }
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
    outside_.clear();
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
    const node domain = out.nodes[c.kind == cluster_kind::reduce ? c.root : c.domain];
    if (c.kind == cluster_kind::product) assume(out, c, out.nodes[c.root], domain);
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
  list<fusion_group> groups_;
  list<char> outside_;  // by node: something outside its group reads it
};

}  // namespace detail

/// The graph with its groups merged into clusters.
[[nodiscard]] constexpr graph fuse_groups(const graph_view& grouped) {
  return detail::fuser(grouped).run();
}
/// The graph with its nodes in clusters.
[[nodiscard]] constexpr graph fuse(const graph_view& g) { return fuse_groups(group(g).view()); }

}  // namespace calque
