// Arguments of graphs that tests build by hand; works in constant expressions too.
#pragma once

#include "calque/graph/builder.hpp"
#include "calque/graph/frozen.hpp"

namespace calque::test {

/// Declares the next argument, with an extent of its own for each axis; returns its node.
constexpr int argument_of(builder& b, argument_kind kind, dtype type, int rank = 0) {
  node n = kind == argument_kind::array    ? builder::make<op::input>(type, rank)
           : kind == argument_kind::scalar ? builder::make<op::scalar>(type, rank)
                                           : builder::make<op::variable>(type, rank);
  n.index = b.g.arguments.size();
  for (int i = 0; i < rank; ++i) n.dims[i] = b.argument_dim(n.index, i);
  const int id = b.append_with(n);
  b.g.arguments.push({kind, type, rank, id});
  if (kind == argument_kind::variable) b.declare_variable(id);
  return id;
}
constexpr int array_of(builder& b, dtype type, int rank) {
  return argument_of(b, argument_kind::array, type, rank);
}
/// Declares a shape as the next argument; returns its number.
constexpr int extents_of(builder& b, int rank) {
  b.g.arguments.push({argument_kind::extents, dtype::int64, rank, -1});
  return b.g.arguments.size() - 1;
}

template <class... I>
constexpr graph finish(builder& b, I... results) {
  if constexpr (sizeof...(I) == 0) {
    return b.finish(nullptr, 0);
  } else {
    const std::int32_t ids[] = {static_cast<std::int32_t>(results)...};
    return b.finish(ids, static_cast<int>(sizeof...(I)));
  }
}
template <class... I>
constexpr void end_region(builder& b, I... results) {
  if constexpr (sizeof...(I) == 0) {
    b.end_region(nullptr, 0);
  } else {
    const std::int32_t ids[] = {static_cast<std::int32_t>(results)...};
    b.end_region(ids, static_cast<int>(sizeof...(I)));
  }
}
/// Ends an if: `p` chooses between two regions that are closed already.
constexpr int cond_of(builder& b, int p, int then_region, int else_region) {
  const int id = b.append_with(builder::make<op::cond>(dtype::none), b.value_of(p));
  b.own(id, then_region, else_region);
  return id;
}
/// Ends a loop whose region is closed already: trip count, states, then scanned inputs.
constexpr int loop_of(builder& b, int region, const std::int32_t* inputs, int count, int carried,
                      bool reverse = false) {
  node n = builder::make<op::loop>(dtype::none);
  n.index = carried;
  n.reverse = reverse;
  const int id = b.append(n, inputs, count);
  b.own(id, region, -1);
  return id;
}

/// Number of nodes of a kind, entries and regions included.
constexpr int count_kind(const graph_view& g, op_kind k) {
  int n = 0;
  for (int i = 0; i < g.node_count; ++i) n += g.kind(i) == k;
  return n;
}
template <class Op>
constexpr int count_op(const graph_view& g) {
  int n = 0;
  for (int i = 0; i < g.node_count; ++i) n += g.nodes[i].op->key == op_info_of<Op>.key;
  return n;
}

/// A graph made by `Make` as a constexpr value: each call of `Make` is an evaluation of its own,
/// with its own step limit.
template <class Make>
struct frozen_by {
  static constexpr detail::graph_sizes sizes = detail::sizes_of(Make{}());
  static constexpr auto value = detail::freeze<sizes>(Make{}());
  static constexpr graph_view view() { return value.view(); }
};

}  // namespace calque::test
