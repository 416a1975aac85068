// Which numbers of a graph extents and literals alone decide: 1 / n of a mean, sqrt of a head's
// width.
//
// A plan knows the sizes, so it computes them (plan/numbers.hpp) and hands their values to kernels:
// they take no step, and they tie no clusters together. Passes ask here which nodes that are.
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

}  // namespace detail

constexpr int graph_view::kernels() const {
  const detail::list<char> numbers = detail::extent_numbers(*this);
  int n = cluster_count;
  for (int i = 0; i < node_count; ++i)
    n += cluster_number(i) < 0 && computes(nodes[i].op->kind) && numbers[i] == 0;
  return n;
}

}  // namespace calque
