// What a cluster's kernel reads, in the order in which the kernel's program and the plan agree.
//
// A map cluster computes all its nodes over one domain. A reduce cluster computes the nodes before
// its root over the root's input, reduces, then computes the nodes after the root over the result.
// A rows cluster sweeps its rows as often as its reductions follow from each other
// (lower/rows.hpp).
#pragma once

#include "calque/graph/rows.hpp"

namespace calque {

/// The nodes outside a cluster whose values it reads. Each list names a node once, by first use
/// (nodes ascending, operands in order). Constants and extents are inputs too: rank-0 operands.
struct cluster_inputs {
  detail::list<std::int32_t> body;  // of the elementwise part; of a rows cluster's full nodes
  detail::list<std::int32_t> tail;  // of a reduction's tail, without its root; what a rows cluster
                                    // reads once a row; the two matrices of a product
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

namespace detail {

constexpr cluster_inputs inputs_of_rows(const row_set& rows) {
  cluster_inputs r;
  for (int i = 0; i < rows.ids.size(); ++i) {
    const int id = rows.ids[i];
    const bool reads_full = rows.reduces(id) || rows.forms[i] == row_form::full;
    for (int k = 0; k < rows.axes.g->nodes[id].inputs; ++k) {
      const int in = rows.source(id, k);
      if (rows.find(in) >= 0) continue;
      const bool once = !reads_full || rows.is_row_value(in);
      if (!once || rows.forms[i] == row_form::uniform) add_once(r.body, in);
      if (once) add_once(r.tail, in);
    }
  }
  return r;
}

}  // namespace detail

[[nodiscard]] constexpr cluster_inputs inputs_of(const graph_view& g, const cluster& c) {
  if (c.kind == cluster_kind::rows) return detail::inputs_of_rows(detail::row_set(g, c));
  cluster_inputs r;
  for (int i = 0; i < c.nodes; ++i) {
    const std::int32_t id = g.pool[c.first + i];
    const node& n = g.nodes[id];
    if (c.kind == cluster_kind::product && id == c.root) {  // two operands, also where they are one
      r.tail.push(g.input(id, 0));
      r.tail.push(g.input(id, 1));
      continue;
    }
    for (int k = 0; k < n.inputs; ++k) {
      const std::int32_t in = g.pool[n.first_input + k];
      if (in_cluster(g, c, in)) continue;
      detail::add_once(in_tail(c, id) ? r.tail : r.body, in);
    }
  }
  return r;
}

}  // namespace calque
