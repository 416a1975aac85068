// Which nodes one step computes: a cluster that holds for the real sizes, or a node alone.
#pragma once

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
    for (int c = 0; c < sizes.g.cluster_count; ++c) {
      const cluster& u = sizes.g.clusters[c];
      inputs_[static_cast<std::size_t>(c)] = inputs_of(sizes.g, u);
      const cluster_inputs& in = inputs_[static_cast<std::size_t>(c)];
      usable_[static_cast<std::size_t>(c)] =
          kernels.of_cluster(kernels.table, c) &&
          in.body.size() + in.tail.size() + u.outputs <= kernels.max_operands &&
          holds(sizes, u);
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
  static bool holds(const sized_graph& s, const cluster& c) {
    const graph_view& g = s.g;
    for (int i = 0; i < c.assumptions; ++i) {
      const std::int32_t* pair = g.pool + c.first_assumption + 2 * i;
      if (s.dim_value(pair[0]) != s.dim_value(pair[1])) return false;
    }
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
};

}  // namespace calque::detail::planning
