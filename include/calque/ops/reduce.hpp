// Reductions over axes: sum, prod, max, min, all, any; and argmax, argmin along one axis.
//
// `sum` of floating types is pairwise over blocks (the same bits at every call); of integers
// narrower than 64 bits it is 64-bit. max and min propagate NaN; argmax gives the first index.
#pragma once

#include <limits>

#include "calque/core/promotion.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/select.hpp"
#include "calque/ops/views.hpp"

namespace calque {
namespace detail {

/// The extents left after reducing the axes of `mask`.
constexpr int reduced_extents(builder& b, const node& x, unsigned mask, bool keep,
                              std::int32_t* dims) {
  int rank = 0;
  for (int i = 0; i < x.rank; ++i) {
    if ((mask >> i) & 1u) {
      if (keep) dims[rank++] = b.literal_dim(1);
    } else {
      dims[rank++] = x.dims[i];
    }
  }
  return rank;
}

template <class Op>
constexpr int build_reduction(builder& b, int id, unsigned mask, bool keep, dtype type) {
  id = b.value_of(id);
  const node x = b.at(id);
  node n = builder::make<Op>(type);
  n.rank = static_cast<std::uint8_t>(reduced_extents(b, x, mask, keep, n.dims));
  n.axis_mask = static_cast<std::uint8_t>(mask);
  n.keepdims = keep;
  return b.append_with(n, id);
}

/// The number of elements over the axes of `mask`, as a double.
constexpr int build_count(builder& g, int id, unsigned mask) {
  const node n = g.at(g.value_of(id));
  int count = g.literal_dim(1);
  for (int i = 0; i < n.rank; ++i)
    if ((mask >> i) & 1u) count = g.arithmetic_dim(dim_kind::mul, count, n.dims[i]);
  return build_cast(g, g.extent_of(count), dtype::float64);
}

/// Gives a reduction's result (or its derivative) the extents of the reduction's input again.
constexpr value unreduced(gradient_rule& g, value v) {
  const node n = g.info(), x = g.input(0).info();
  std::int32_t dims[max_rank]{};
  for (int i = 0; i < x.rank; ++i)
    dims[i] = ((n.axis_mask >> i) & 1) ? g.b.literal_dim(1) : x.dims[i];
  const int kept = op::reshape::build(g.b, v.id, x.rank, dims);
  return {&g.b, op::broadcast_to::build(g.b, kept, x.rank, x.dims)};
}

// Equal extremes share the derivative; NaN, where there is one, is the extreme. NaN counts 2, so
// that no two of these choices have one arm: g++ 12 joins their masks, which costs ten times as
// much.
template <class Sum>
constexpr void extreme_gradient(gradient_rule& g) {
  const value x = g.input(0), zero = g.number(0);
  const value weight =
      apply_op<op::where>(apply_op<op::equal>(x, unreduced(g, g.output())), g.number(1),
                          apply_op<op::where>(apply_op<op::equal>(x, x), zero, g.number(2)));
  const int weights =
      build_reduction<Sum>(g.b, weight.id, g.info().axis_mask, g.info().keepdims, g.dy.type());
  const value share = unreduced(g, g.dy / value{&g.b, weights});
  g.flow(0, apply_op<op::where>(apply_op<op::greater>(weight, zero), weight * share, zero));
}

}  // namespace detail

namespace op {

/// Combines elements by `Op`, starting from `Identity`.
template <class Op, int Identity>
struct combining {
  using combine = Op;
  template <class T>
  static constexpr T identity() {
    return T{Identity};
  }
};

struct sum : combining<add, 0> {
  static constexpr char name[] = "sum";
  static constexpr op_kind kind = op_kind::reduce;
  static constexpr void gradient(gradient_rule& g) { g.flow(0, detail::unreduced(g, g.dy)); }
};

struct reduce_max {
  static constexpr char name[] = "max";
  static constexpr op_kind kind = op_kind::reduce;
  using combine = maximum;
  template <class T>
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::lowest();
  }
  static constexpr void gradient(gradient_rule& g) { detail::extreme_gradient<sum>(g); }
};

struct reduce_min {
  static constexpr char name[] = "min";
  static constexpr op_kind kind = op_kind::reduce;
  using combine = minimum;
  template <class T>
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity) return std::numeric_limits<T>::infinity();
    else return (std::numeric_limits<T>::max)();
  }
  static constexpr void gradient(gradient_rule& g) { detail::extreme_gradient<sum>(g); }
};

/// The largest element as a shift that keeps exp from overflowing: -inf of nothing is harmless
/// there, so that functions built on it take empty axes.
struct largest {
  static constexpr char name[] = "largest";
  static constexpr op_kind kind = op_kind::reduce;
  using combine = maximum;
  template <class T>
  static constexpr T identity() {
    return reduce_max::identity<T>();
  }
};

struct prod : combining<mul, 1> {
  static constexpr char name[] = "prod";
  static constexpr op_kind kind = op_kind::reduce;
  static constexpr void gradient(gradient_rule& g);  // ops/accumulate.hpp
};

struct all : combining<minimum, 1> {
  static constexpr char name[] = "all";
  static constexpr op_kind kind = op_kind::reduce;
};

struct any : combining<maximum, 0> {
  static constexpr char name[] = "any";
  static constexpr op_kind kind = op_kind::reduce;
};

struct argmax {
  static constexpr char name[] = "argmax";
  static constexpr op_kind kind = op_kind::arg_reduce;
  using better = greater;
};

struct argmin {
  static constexpr char name[] = "argmin";
  static constexpr op_kind kind = op_kind::arg_reduce;
  using better = less;
};

}  // namespace op
}  // namespace calque

CALQUE_REGISTER(calque::op::sum);
CALQUE_REGISTER(calque::op::reduce_max);
CALQUE_REGISTER(calque::op::reduce_min);
CALQUE_REGISTER(calque::op::largest);
CALQUE_REGISTER(calque::op::prod);
CALQUE_REGISTER(calque::op::all);
CALQUE_REGISTER(calque::op::any);
CALQUE_REGISTER(calque::op::argmax);
CALQUE_REGISTER(calque::op::argmin);

#include "calque/ops/accumulate.hpp"  // the derivative of prod multiplies what lies around an element
