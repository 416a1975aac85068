// Which numbers of a graph extents and literals alone decide: 1 / n of a mean, sqrt of a head's
// width.
//
// A plan knows the sizes, so it computes them (plan/numbers.hpp) and hands their values to kernels:
// they take no step, and they tie no clusters together. Indices that are counted, 0, 1, 2, …, and
// looks at them are leaves too: kernels of clusters compute them where they read them. Passes,
// lowering and plans ask here which nodes that are.
#pragma once

#include "calque/graph/list.hpp"
#include "calque/graph/node.hpp"

namespace calque {
namespace detail {

/// Whether plans compute the operation of a rank-0 node, given what its inputs are.
[[nodiscard]] constexpr bool plans_compute(std::uint64_t key, dtype from, dtype to) {
  const auto usual = [](dtype t) {
    return t != dtype::uint64 && t != dtype::float16 && t != dtype::bfloat16;
  };
  if (!usual(from) || !usual(to)) return false;
  switch (key) {
    case hash_name("cast"): return !is_floating(from) || is_floating(to);
    case hash_name("sqrt"): return is_floating(from);
    case hash_name("neg"):
    case hash_name("abs"):
    case hash_name("add"):
    case hash_name("sub"):
    case hash_name("mul"):
    case hash_name("div"):
    case hash_name("maximum"):
    case hash_name("minimum"):
    case hash_name("less"):
    case hash_name("less_equal"):
    case hash_name("greater"):
    case hash_name("greater_equal"):
    case hash_name("equal"):
    case hash_name("not_equal"):
    case hash_name("where"): return true;
    default: return false;
  }
}
/// Whether plans compute a node, given which of the nodes before it extents decide.
template <class Decided>
[[nodiscard]] constexpr bool is_extent_number(const graph_view& g, int id, Decided&& decided) {
  const node& n = g.nodes[id];
  if (n.op->kind != op_kind::map || n.rank != 0 || n.inputs > 3) return false;
  for (int k = 0; k < n.inputs; ++k) {
    const int in = g.input(id, k);
    const op_kind of = g.kind(in);
    if (of != op_kind::constant && of != op_kind::extent && !decided(in)) return false;
  }
  return plans_compute(n.op->key, g.input_node(id, n.op->form == map_form::select ? 1 : 0).type,
                       n.type);
}
/// By node: whether it is such a number, computed from others.
[[nodiscard]] constexpr list<char> extent_numbers(const graph_view& g) {
  list<char> is;
  is.resize(g.node_count, 0);
  for (int id = 0; id < g.node_count; ++id)
    if (g.nodes[id].rank == 0 && g.kind(id) == op_kind::map)
      is[id] = is_extent_number(g, id, [&](int in) { return is[in] != 0; });
  return is;
}

/// Whether a node only looks at its input, so that who reads it reads that.
[[nodiscard]] constexpr bool passes_on(op_kind k) {
  return k == op_kind::transpose || k == op_kind::reshape || k == op_kind::broadcast_to ||
         k == op_kind::slice || k == op_kind::windows || k == op_kind::marker ||
         k == op_kind::stop_gradient;
}
/// The counted index that a node is or looks at, or -1.
[[nodiscard]] constexpr int index_seen(const graph_view& g, int id) {
  while (passes_on(g.kind(id))) id = g.input(id, 0);
  return g.kind(id) == op_kind::iota ? id : -1;
}
/// Whether a node is computed from counted indices and numbers alone, at a cost of at most `left`.
[[nodiscard]] constexpr bool counts_within(const graph_view& g, int id, int& left) {
  const node& n = g.nodes[id];
  const op_kind k = n.op->kind;
  if (k != op_kind::map)
    return k == op_kind::constant || k == op_kind::extent || k == op_kind::scalar ||
           index_seen(g, id) >= 0;
  if (n.op->may_throw || (left -= n.op->cost) < 0) return false;
  for (int i = 0; i < n.inputs; ++i)
    if (!counts_within(g, g.input(id, i), left)) return false;
  return true;
}
/// Whether an elementwise node is computed from counted indices and numbers, so cheaply that
/// kernels over more elements compute it again for each of them.
[[nodiscard]] constexpr bool is_counting(const graph_view& g, int id) {
  int left = 6;
  return g.kind(id) == op_kind::map && g.nodes[id].rank > 0 && counts_within(g, id, left);
}
/// By node: whether it is a counted index that a step of its own has to store, because something
/// reads it that can neither count nor copy. `in_cluster(id)` says whether a kernel of several
/// nodes computes a node.
template <class InCluster>
[[nodiscard]] constexpr list<char> stored_indices(const graph_view& g, InCluster&& in_cluster) {
  list<char> stored;
  stored.resize(g.node_count, 0);
  bool any = false;
  for (int id = 0; id < g.node_count; ++id) any = any || g.kind(id) == op_kind::iota;
  for (int id = 0; any && id < g.node_count; ++id) {
    const op_kind k = g.kind(id);
    if (passes_on(k) || k == op_kind::assign || k == op_kind::concatenate || k == op_kind::insert)
      continue;
    const bool counts = in_cluster(id);
    for (int i = 0; i < g.nodes[id].inputs; ++i)
      if (const int in = g.input(id, i); !counts || g.nodes[in].rank == 0)
        if (const int index = index_seen(g, in); index >= 0) stored[index] = 1;
  }
  return stored;
}

}  // namespace detail

constexpr int graph_view::kernels() const {
  const detail::list<char> numbers = detail::extent_numbers(*this);
  const detail::list<char> stored =
      detail::stored_indices(*this, [&](int id) { return cluster_number(id) >= 0; });
  int n = cluster_count;
  for (int i = 0; i < node_count; ++i) {
    if (cluster_number(i) >= 0 || !computes(nodes[i].op->kind)) continue;
    n += nodes[i].op->kind == op_kind::iota ? stored[i] != 0 : numbers[i] == 0;
  }
  for (int r = 0; r < region_count; ++r)  // copied to where they are wanted
    for (int k = 0; k < regions[r].results; ++k)
      if (const int index = detail::index_seen(*this, result(k, r)); index >= 0)
        n += stored[index] == 0;
  return n;
}

}  // namespace calque
