// Windows that slide over the last two axes: a view that moves no data, and its gradient, which
// adds up where windows overlap. What convolutions and poolings are made of.
#pragma once

#include "calque/ops/parts.hpp"
#include "calque/ops/reduce.hpp"

namespace calque {
namespace detail {

/// Of each of the two axes: extents of the table for the window and its step.
struct window_dims {
  std::int32_t window[2], stride[2];
};

/// How many windows fit an extent; the plan checks that one does.
constexpr int windows_dim(builder& b, int extent, int window, int stride) {
  const int one = b.literal_dim(1);
  if (b.is_literal(window, 1) && b.is_literal(stride, 1)) return extent;
  const int room = b.arithmetic_dim(dim_kind::sub, extent, window);
  const int steps = b.is_literal(stride, 1) ? room : b.arithmetic_dim(dim_kind::div, room, stride);
  return b.arithmetic_dim(dim_kind::add, steps, one);
}
constexpr int window_entries(builder& b, const window_dims& w) {
  const dim entries[] = {{dim_kind::range, w.window[0], w.stride[0], 1},
                         {dim_kind::range, w.window[1], w.stride[1], 1}};
  return ranges_of(b, entries, 2);
}
constexpr window_dims window_of(const builder& b, const node& n) {
  const dim h = b.g.dims[n.index], w = b.g.dims[n.index + 1];
  return {{h.a, w.a}, {h.b, w.b}};
}

/// (…, h, w) seen as (…, windows down, windows across, window's h, window's w). `weights`, if there
/// are any, are named in errors; their axis 1 must have the extent of x's axis 1.
template <class Op>
constexpr int build_windows(builder& b, int x, int weights, const window_dims& w) {
  x = b.value_of(x);
  const node from = b.at(x);
  node n = builder::make<Op>(from.type, from.rank + 2);
  n.index = window_entries(b, w);
  for (int i = 0; i < from.rank; ++i) n.dims[i] = from.dims[i];
  for (int i = 0; i < 2; ++i) {
    const int axis = from.rank - 2 + i;
    n.dims[axis] = windows_dim(b, from.dims[axis], w.window[i], w.stride[i]);
    n.dims[axis + 2] = w.window[i];
  }
  if (weights < 0) return b.append_with(n, x);
  return b.append_with(n, x, weights);
}

}  // namespace detail

namespace op {

/// `whole` plus the windows `part`, each at its place, where they overlap added up.
struct overlap_add {
  static constexpr char name[] = "overlap_add";
  static constexpr op_kind kind = op_kind::overlap_add;
  static constexpr int arity = 2;
  static constexpr int build(builder& b, int whole, int part, const detail::window_dims& w) {
    node n = builder::make<overlap_add>(b.at(whole).type, b.at(whole).rank);
    n.index = detail::window_entries(b, w);
    for (int i = 0; i < n.rank; ++i) n.dims[i] = b.at(whole).dims[i];
    return b.append_with(n, whole, part);
  }
  static constexpr void gradient(gradient_rule& g);
};

namespace detail_windows {

template <class Self>
struct windows {
  static constexpr op_kind kind = op_kind::windows;
  static constexpr void gradient(gradient_rule& g) {
    const node x = g.input(0).info();
    const int none = broadcast_to::build(g.b, g.number(0).id, x.rank, x.dims);
    g.flow(0, {&g.b, overlap_add::build(g.b, none, g.dy.id, detail::window_of(g.b, g.info()))});
  }
};

}  // namespace detail_windows

struct windows : detail_windows::windows<windows> {
  static constexpr char name[] = "windows";
};
struct conv2d_windows : detail_windows::windows<conv2d_windows> {
  static constexpr char name[] = "conv2d";
};
struct pool_windows : detail_windows::windows<pool_windows> {
  static constexpr char name[] = "max_pool2d";
};

constexpr void overlap_add::gradient(gradient_rule& g) {
  g.flow(0, g.dy);
  g.flow(1, {&g.b,
             detail::build_windows<windows>(g.b, g.dy.id, -1, detail::window_of(g.b, g.info()))});
}

/// The largest element of each window; its derivative goes to the first one that is as large.
struct pool_max {
  static constexpr char name[] = "pool_max";
  static constexpr op_kind kind = op_kind::reduce;
  using combine = maximum;
  template <class T>
  static constexpr T identity() {
    return reduce_max::identity<T>();
  }
  static constexpr void gradient(gradient_rule& g) {
    builder& b = g.b;
    const node x = g.input(0).info();
    const int rank = x.rank - 1;  // with the window's two axes as one
    std::int32_t flat[max_rank]{}, one[max_rank]{};
    for (int i = 0; i < rank - 1; ++i) flat[i] = one[i] = x.dims[i];
    flat[rank - 1] = b.arithmetic_dim(dim_kind::mul, x.dims[rank - 1], x.dims[rank]);
    one[rank - 1] = b.literal_dim(1);
    const int elements = reshape::build(b, g.input(0).id, rank, flat);
    const int best =
        detail::build_reduction<argmax>(b, elements, 1u << (rank - 1), true, dtype::int64);
    const int hit =
        b.map_of<equal>(dtype::boolean, best, b.iota(dtype::int64, 1, flat + rank - 1, 0));
    const int chosen =
        b.map_of<where>(g.dy.type(), hit, reshape::build(b, g.dy.id, rank, one), g.number(0).id);
    g.flow(0, {&b, reshape::build(b, chosen, x.rank, x.dims)});
  }
};

}  // namespace op
}  // namespace calque

CALQUE_REGISTER(calque::op::overlap_add);
CALQUE_REGISTER(calque::op::pool_max);
