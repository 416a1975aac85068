// A graph that grows: the owner of a trace's or a pass's nodes.
#pragma once

#include "calque/graph/leaves.hpp"

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
    v.clustered = !cluster_of.empty();
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

namespace detail {

template <class T>
constexpr void append_all(list<T>& to, const T* from, int n) {
  to.reserve(n);
  for (int i = 0; i < n; ++i) to.push(from[i]);
}

}  // namespace detail

/// A graph of its own with the nodes of `g`, clusters aside.
[[nodiscard]] constexpr graph duplicate(const graph_view& g) {
  graph r;
  detail::append_all(r.nodes, g.nodes, g.node_count);
  detail::append_all(r.pool, g.pool, g.pool_count);
  detail::append_all(r.dims, g.dims, g.dim_count);
  detail::append_all(r.regions, g.regions, g.region_count);
  detail::append_all(r.arguments, g.arguments, g.argument_count);
  detail::append_all(r.chars, g.chars, g.char_count);
  return r;
}

}  // namespace calque
