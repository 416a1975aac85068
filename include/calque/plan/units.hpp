// Which nodes one step computes: a cluster that holds for the real sizes, or a node alone.
#pragma once

#include <climits>
#include <vector>

#include "calque/graph/cluster.hpp"
#include "calque/plan/sizes.hpp"

namespace calque::detail::planning {

/// Says whether a cluster or a node has a kernel; the plan knows no more of kernels.
struct kernel_presence {
  bool (*of_cluster)(const void* table, int cluster) = nullptr;
  bool (*of_node)(const void* table, int node) = nullptr;
  const void* table = nullptr;
  int max_operands = 0;
};

/// The clusters of a graph that may run as one kernel for these sizes, and their inputs.
class cluster_units {
 public:
  cluster_units(const sized_graph& sizes, const kernel_presence& kernels)
      : inputs_(static_cast<std::size_t>(sizes.g.cluster_count)),
        usable_(static_cast<std::size_t>(sizes.g.cluster_count)) {
    find_captures(sizes.g);
    for (int c = 0; c < sizes.g.cluster_count; ++c) {
      const cluster& u = sizes.g.clusters[c];
      inputs_[static_cast<std::size_t>(c)] = inputs_of(sizes.g, u);
      const cluster_inputs& in = inputs_[static_cast<std::size_t>(c)];
      usable_[static_cast<std::size_t>(c)] =
          kernels.of_cluster(kernels.table, c) &&
          in.body.size() + in.tail.size() + u.outputs <= kernels.max_operands && holds(sizes, u) &&
          is_ready_in_time(sizes.g, u, in);
    }
  }
  /// The cluster that computes a node in this plan, or -1.
  [[nodiscard]] int of(const graph_view& g, int node) const {
    const int c = g.cluster_of != nullptr ? g.cluster_of[node] : -1;
    return c >= 0 && usable_[static_cast<std::size_t>(c)] ? c : -1;
  }
  [[nodiscard]] const cluster_inputs& inputs(int c) const {
    return inputs_[static_cast<std::size_t>(c)];
  }
  [[nodiscard]] bool usable(int c) const { return usable_[static_cast<std::size_t>(c)]; }

 private:
  /// By node: the first cond or loop of its region whose regions read it.
  void find_captures(const graph_view& g) {
    captured_by_.assign(static_cast<std::size_t>(g.node_count), INT_MAX);
    const auto note = [&](int in, int r) {
      if (g.nodes[in].region == r) return;
      while (g.regions[r].parent != g.nodes[in].region && g.regions[r].parent >= 0)
        r = g.regions[r].parent;
      int& first = captured_by_[static_cast<std::size_t>(in)];
      if (g.regions[r].owner < first) first = g.regions[r].owner;
    };
    for (int id = 0; id < g.node_count; ++id)
      for (int k = 0; k < g.nodes[id].inputs; ++k) note(g.input(id, k), g.nodes[id].region);
    for (int r = 1; r < g.region_count; ++r)
      for (int k = 0; k < g.regions[r].results; ++k) note(g.result(k, r), r);
  }
  /// No cond or loop needs a node of the cluster before everything that the cluster reads is there.
  bool is_ready_in_time(const graph_view& g, const cluster& c, const cluster_inputs& in) const {
    int latest = -1;
    for (int i : in.body) latest = i > latest ? i : latest;
    for (int i : in.tail) latest = i > latest ? i : latest;
    for (int i = 0; i < c.nodes; ++i)
      if (captured_by_[static_cast<std::size_t>(g.pool[c.first + i])] < latest) return false;
    return true;
  }
  static bool holds(const sized_graph& s, const cluster& c) {
    const graph_view& g = s.g;
    for (int i = 0; i < c.assumptions; ++i) {
      const std::int32_t* pair = g.pool + c.first_assumption + 2 * i;
      if (s.dim_value(pair[0]) != s.dim_value(pair[1])) return false;
    }
    if (c.kind == cluster_kind::rows) return true;
    // what is written has one element for each of the domain's
    const int over = c.kind == cluster_kind::reduce ? c.root : c.domain;
    for (int i = 0; i < c.outputs; ++i) {
      const int out = g.pool[c.first_output + i];
      const int longer = s.rank(out) > s.rank(over) ? out : over;
      const int shorter = longer == out ? over : out;
      const int lead = s.rank(longer) - s.rank(shorter);
      for (int a = 0; a < s.rank(longer); ++a)
        if (s.extents(longer)[a] != (a < lead ? 1 : s.extents(shorter)[a - lead])) return false;
    }
    return true;
  }

  std::vector<cluster_inputs> inputs_;
  std::vector<char> usable_;
  std::vector<int> captured_by_;
};

}  // namespace calque::detail::planning
