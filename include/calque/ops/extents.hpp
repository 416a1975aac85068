// Extents from symbolic arithmetic: `x.extent(0) * 2` as an entry of the extents' table.
#pragma once

#include "calque/ops/arithmetic.hpp"
#include "calque/ops/cast.hpp"

namespace calque::detail {

/// The extent that a scalar node stands for: made of extents and constants only,
/// computed in 64-bit integers.
constexpr int dim_of_node(builder& g, int id) {
  const node n = g.at(id);
  // a cast to a narrower or a floating type could give another value than the extent's
  const bool exact = n.type == dtype::int64 || n.type == dtype::uint64;
  switch (exact || n.op->kind == op_kind::constant ? n.op->kind : op_kind::entry) {
    case op_kind::extent: return n.index;
    case op_kind::constant: return g.literal_dim(n.value.i);
    case op_kind::map: {
      const auto binary = [&](dim_kind k) {
        const int a = dim_of_node(g, g.input(id, 0));
        return g.arithmetic_dim(k, a, dim_of_node(g, g.input(id, 1)));
      };
      if (n.op->key == op_info_of<op::cast>.key) return dim_of_node(g, g.input(id, 0));
      if (n.op->key == op_info_of<op::add>.key) return binary(dim_kind::add);
      if (n.op->key == op_info_of<op::sub>.key) return binary(dim_kind::sub);
      if (n.op->key == op_info_of<op::mul>.key) return binary(dim_kind::mul);
      if (n.op->key == op_info_of<op::div>.key) return binary(dim_kind::div);
      break;
    }
    default: break;
  }
  g.fail(trace_fault::extent);
  return g.literal_dim(1);
}

}  // namespace calque::detail
