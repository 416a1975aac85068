// A finished graph as a constexpr value of exact size: what a trace's or a pass's result is stored
// as.
#pragma once

#include "calque/graph/graph.hpp"

namespace calque {

namespace detail {

/// How many of each thing a graph holds.
struct graph_sizes {
  int nodes = 0, pool = 0, dims = 0, regions = 0, arguments = 0, clusters = 0, cluster_of = 0,
      chars = 0;
};

constexpr graph_sizes sizes_of(const graph& g) {
  return {g.nodes.size(),     g.pool.size(),     g.dims.size(),       g.regions.size(),
          g.arguments.size(), g.clusters.size(), g.cluster_of.size(), g.chars.size()};
}

template <class T, int N>
struct frozen_list {
  T values[N > 0 ? N : 1]{};
  constexpr void fill(const list<T>& from) {
    for (int i = 0; i < N; ++i) values[i] = from[i];
  }
};

}  // namespace detail

/// The lists of a graph, each of its exact length.
template <detail::graph_sizes S>
struct frozen_graph {
  detail::frozen_list<node, S.nodes> nodes;
  detail::frozen_list<std::int32_t, S.pool> pool;
  detail::frozen_list<dim, S.dims> dims;
  detail::frozen_list<region, S.regions> regions;
  detail::frozen_list<argument, S.arguments> arguments;
  detail::frozen_list<cluster, S.clusters> clusters;
  detail::frozen_list<std::int32_t, S.cluster_of> cluster_of;
  detail::frozen_list<char, S.chars> chars;

  [[nodiscard]] constexpr graph_view view() const {
    graph_view v;
    v.nodes = nodes.values;
    v.pool = pool.values;
    v.dims = dims.values;
    v.regions = regions.values;
    v.arguments = arguments.values;
    v.clusters = clusters.values;
    v.cluster_of = S.cluster_of > 0 ? cluster_of.values : nullptr;
    v.clustered = S.cluster_of > 0;
    v.chars = chars.values;
    v.node_count = S.nodes;
    v.pool_count = S.pool;
    v.dim_count = S.dims;
    v.region_count = S.regions;
    v.argument_count = S.arguments;
    v.cluster_count = S.clusters;
    v.char_count = S.chars;
    return v;
  }
};

namespace detail {

/// `plainly`: without the operations' functions, which only earlier passes need.
template <graph_sizes S>
constexpr frozen_graph<S> freeze(const graph& g, bool plainly = false) {
  frozen_graph<S> f;
  f.nodes.fill(g.nodes);
  f.pool.fill(g.pool);
  f.dims.fill(g.dims);
  f.regions.fill(g.regions);
  f.arguments.fill(g.arguments);
  f.clusters.fill(g.clusters);
  f.cluster_of.fill(g.cluster_of);
  f.chars.fill(g.chars);
  if (plainly)
    for (int i = 0; i < S.nodes; ++i) f.nodes.values[i].op = f.nodes.values[i].op->plain;
  return f;
}

}  // namespace detail
}  // namespace calque
