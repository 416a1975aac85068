// take gathers along an axis by indices; scatter_add adds to what indices name. They are each
// other's gradients.
//
// An index outside its axis throws `index_error`: the plan checks indices by a step of their own
// before it writes to anything that the caller can see.
#pragma once

#include "calque/ops/views.hpp"

namespace calque {
namespace detail {

/// The extents of x with those of the indices in place of one axis.
constexpr int taken_extents(const node& x, const node& indices, int axis, std::int32_t* dims) {
  int rank = 0;
  for (int i = 0; i < axis; ++i) dims[rank++] = x.dims[i];
  for (int i = 0; i < indices.rank; ++i) dims[rank++] = indices.dims[i];
  for (int i = axis + 1; i < x.rank; ++i) dims[rank++] = x.dims[i];
  return rank;
}

}  // namespace detail

namespace op {

struct take {
  static constexpr char name[] = "take";
  static constexpr op_kind kind = op_kind::take;
  static constexpr int arity = 2;
  static constexpr int build(builder& b, int x, int indices, int axis) {
    x = b.value_of(x), indices = b.value_of(indices);
    node n = builder::make<take>(b.at(x).type);
    n.rank = static_cast<std::uint8_t>(detail::taken_extents(b.at(x), b.at(indices), axis, n.dims));
    n.index = axis;
    return b.append_with(n, x, indices);
  }
  static constexpr void gradient(gradient_rule& g);
};

struct scatter_add {
  static constexpr char name[] = "scatter_add";
  static constexpr op_kind kind = op_kind::scatter_add;
  static constexpr int arity = 3;
  /// `updates` has the extents that `take` would give; the plan checks them.
  static constexpr int build(builder& b, int x, int indices, int updates, int axis) {
    x = b.value_of(x), indices = b.value_of(indices), updates = b.value_of(updates);
    node n = builder::make<scatter_add>(b.at(x).type, b.at(x).rank);
    for (int i = 0; i < n.rank; ++i) n.dims[i] = b.at(x).dims[i];
    n.index = axis;
    return b.append_with(n, x, indices, updates);
  }
  static constexpr void gradient(gradient_rule& g) {
    g.flow(0, g.dy);
    g.flow(2, {&g.b, take::build(g.b, g.dy.id, g.input(1).id, g.info().index)});
  }
};

constexpr void take::gradient(gradient_rule& g) {
  const node x = g.input(0).info();
  const int none = broadcast_to::build(g.b, g.number(0).id, x.rank, x.dims);
  g.flow(0, {&g.b, scatter_add::build(g.b, none, g.input(1).id, g.dy.id, g.info().index)});
}

}  // namespace op
}  // namespace calque

CALQUE_REGISTER(calque::op::scatter_add);
