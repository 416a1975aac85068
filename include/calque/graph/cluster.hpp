// What a cluster's kernel reads, in the order in which the kernel's program and the plan agree.
//
// A map cluster computes all its nodes over one domain. A reduce cluster computes the nodes before
// its root over the root's input, reduces, then computes the nodes after the root over the result.
#pragma once

#include "calque/graph/list.hpp"
#include "calque/graph/node.hpp"

namespace calque {

/// The nodes outside a cluster whose values it reads. Each list names a node once, by first use
/// (nodes ascending, operands in order). Constants and extents are inputs too: rank-0 operands.
struct cluster_inputs {
  detail::list<std::int32_t> body;  // of the elementwise part
  detail::list<std::int32_t> tail;  // of a reduction's tail; its root is not among them
};

namespace detail {

constexpr void add_once(list<std::int32_t>& to, std::int32_t id) {
  for (std::int32_t seen : to)
    if (seen == id) return;
  to.push(id);
}

}  // namespace detail

[[nodiscard]] constexpr bool in_cluster(const graph_view& g, const cluster& c, std::int32_t id) {
  for (int i = 0; i < c.nodes; ++i)
    if (g.pool[c.first + i] == id) return true;
  return false;
}

/// Whether `id` belongs to the tail of a reduce cluster.
[[nodiscard]] constexpr bool in_tail(const cluster& c, std::int32_t id) {
  return c.kind == cluster_kind::reduce && id > c.root;
}

[[nodiscard]] constexpr cluster_inputs inputs_of(const graph_view& g, const cluster& c) {
  cluster_inputs r;
  for (int i = 0; i < c.nodes; ++i) {
    const std::int32_t id = g.pool[c.first + i];
    const node& n = g.nodes[id];
    for (int k = 0; k < n.inputs; ++k) {
      const std::int32_t in = g.pool[n.first_input + k];
      if (in_cluster(g, c, in)) continue;
      detail::add_once(in_tail(c, id) ? r.tail : r.body, in);
    }
  }
  return r;
}

}  // namespace calque
