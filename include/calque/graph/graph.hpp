// A graph that grows: the owner of a trace's or a pass's nodes.
#pragma once

#include "calque/graph/list.hpp"
#include "calque/graph/node.hpp"

namespace calque {

/// Owns the lists that a `graph_view` reads.
struct graph {
  detail::list<node> nodes;
  detail::list<std::int32_t> pool;
  detail::list<dim> dims;
  detail::list<region> regions;
  detail::list<argument> arguments;
  detail::list<cluster> clusters;
  detail::list<std::int32_t> cluster_of;
  detail::list<char> chars;

  [[nodiscard]] constexpr graph_view view() const {
    graph_view v;
    v.nodes = nodes.begin();
    v.pool = pool.begin();
    v.dims = dims.begin();
    v.regions = regions.begin();
    v.arguments = arguments.begin();
    v.clusters = clusters.begin();
    v.cluster_of = cluster_of.empty() ? nullptr : cluster_of.begin();
    v.chars = chars.begin();
    v.node_count = nodes.size();
    v.pool_count = pool.size();
    v.dim_count = dims.size();
    v.region_count = regions.size();
    v.argument_count = arguments.size();
    v.cluster_count = clusters.size();
    v.char_count = chars.size();
    return v;
  }

  /// Appends ids to the pool; returns where they start.
  constexpr int add_to_pool(const std::int32_t* ids, int count) {
    const int first = pool.size();
    for (int i = 0; i < count; ++i) pool.push(ids[i]);
    return first;
  }
};

}  // namespace calque
