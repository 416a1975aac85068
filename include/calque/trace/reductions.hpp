// Array functions that reduce: sum prod mean max min all any argmax argmin.
#pragma once

#include "calque/ops/reduce.hpp"
#include "calque/trace/functions.hpp"

namespace calque {
namespace detail {

/// The type in which `Op` reduces elements of type `t`.
template <class Op>
constexpr dtype reduction_type(dtype t) {
  if (std::is_same_v<Op, op::sum> || std::is_same_v<Op, op::prod>) return sum_type(t);
  return std::is_same_v<Op, op::all> || std::is_same_v<Op, op::any> ? dtype::boolean : t;
}

/// A number or its symbol reduced over no axes: itself, as type `Type`.
template <dtype Type, class Axes, class X>
constexpr auto scalar_result(const X& x, location at) {
  if constexpr (symbolic<X>) {
    builder& g = common_builder(x);
    g.where = at;
    return expr<type_of<Type>, 0>{&g, build_cast(g, x.id, Type)};
  } else {
    return static_cast<type_of<Type>>(x);
  }
}

template <class Axes, class X>
constexpr unsigned mask_of = axis_mask<operand_traits<X>::rank>(Axes{});

template <class Op, class Axes, bool Keep>
struct reduce_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(reduce_fn{}, x);
    } else if constexpr (weak_operand<X>) {
      return scalar_result<reduction_type<Op>(operand_traits<X>::type), Axes>(x, at);
    } else {
      constexpr int rank = operand_traits<X>::rank;
      constexpr unsigned mask = mask_of<Axes, X>;
      constexpr dtype t = reduction_type<Op>(operand_traits<X>::type);
      builder& g = common_builder(x);
      g.where = at;
      const int id = build_cast(g, x.id, t);
      return expr < type_of<t>,
             Keep ? rank : rank - bits_in(mask) > {&g, build_reduction<Op>(g, id, mask, Keep, t)};
    }
  }
};

template <class Axes, bool Keep>
struct mean_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(mean_fn{}, x);
    } else if constexpr (weak_operand<X>) {
      return scalar_result<floating(operand_traits<X>::type), Axes>(x, at);
    } else {
      // summed in double, so that a mean of floats neither overflows nor stalls
      constexpr int rank = operand_traits<X>::rank;
      constexpr unsigned mask = mask_of<Axes, X>;
      constexpr dtype t = floating(operand_traits<X>::type);
      builder& g = common_builder(x);
      g.where = at.in("mean");
      const int total = build_reduction<op::sum>(g, build_cast(g, x.id, dtype::float64), mask, Keep,
                                                 dtype::float64);
      const int mean = g.map_of<op::div>(dtype::float64, total, build_count(g, x.id, mask));
      return expr < type_of<t>, Keep ? rank : rank - bits_in(mask) > {&g, build_cast(g, mean, t)};
    }
  }
};

template <class Op, int Axis, bool Keep>
struct arg_reduce_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(arg_reduce_fn{}, x);
    } else {
      constexpr int rank = operand_traits<X>::rank;
      constexpr unsigned mask = axis_mask<rank>(axis_t<Axis>{});
      builder& g = common_builder(x);
      g.where = at;
      return expr < std::int64_t,
             Keep ? rank : rank - 1 > {&g, build_reduction<Op>(g, x.id, mask, Keep, dtype::int64)};
    }
  }
};

}  // namespace detail

#define CALQUE_REDUCTION(NAME, ...)                                                               \
  template <operand X>                                                                            \
  [[nodiscard]] constexpr auto NAME(const X& x, location at = here()) {                           \
    using Axes = axis_t<>;                                                                        \
    constexpr bool Keep = false;                                                                  \
    return detail::__VA_ARGS__{}(x, at);                                                          \
  }                                                                                               \
  template <operand X, int... A>                                                                  \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A...>, location at = here()) {             \
    using Axes = axis_t<A...>;                                                                    \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, Axes);                                \
    constexpr bool Keep = false;                                                                  \
    return detail::__VA_ARGS__{}(x, at);                                                          \
  }                                                                                               \
  template <operand X, int... A>                                                                  \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A...>, keepdims_t, location at = here()) { \
    using Axes = axis_t<A...>;                                                                    \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, Axes);                                \
    constexpr bool Keep = true;                                                                   \
    return detail::__VA_ARGS__{}(x, at);                                                          \
  }                                                                                               \
  template <operand X>                                                                            \
  [[nodiscard]] constexpr auto NAME(const X& x, keepdims_t, location at = here()) {               \
    using Axes = axis_t<>;                                                                        \
    constexpr bool Keep = true;                                                                   \
    return detail::__VA_ARGS__{}(x, at);                                                          \
  }

/// Sum over all axes or those of the tag; 0 for none; a number is its own sum. Integers narrower
/// than 64 bits and bool give 64-bit sums; float sums are pairwise and repeatable to the bit.
///
///   auto rows = cq::sum(x, cq::axis<1>);
CALQUE_REDUCTION(sum, reduce_fn<op::sum, Axes, Keep>)
/// Product over all axes or those of the tag; 1 of none; of integers narrower than 64 bits and bool
/// it is 64-bit. Its derivative is right where elements are zero.
CALQUE_REDUCTION(prod, reduce_fn<op::prod, Axes, Keep>)
/// Whether every element is true (not zero; NaN is true); true of none.
///
///   auto settled = cq::all(cq::abs(step) < 1e-6f);
CALQUE_REDUCTION(all, reduce_fn<op::all, Axes, Keep>)
/// Whether any element is true (not zero; NaN is true); false of none.
CALQUE_REDUCTION(any, reduce_fn<op::any, Axes, Keep>)
/// Largest element; NaN if any is NaN; `shape_error` over no elements. Equal ones share the
/// derivative; if there is NaN, those that are share it.
CALQUE_REDUCTION(max, reduce_fn<op::reduce_max, Axes, Keep>)
/// Smallest element; NaN if any is NaN; `shape_error` over no elements.
CALQUE_REDUCTION(min, reduce_fn<op::reduce_min, Axes, Keep>)
/// Arithmetic mean, summed in double; NaN over no elements; of integers it is double.
CALQUE_REDUCTION(mean, mean_fn<Axes, Keep>)
#undef CALQUE_REDUCTION

// An axis is a template argument; these exist for their text. `max` and `min` of two have another.
#define CALQUE_AXIS_NUMBER(NAME)                                                         \
  template <operand X, std::integral I>                                                  \
  constexpr auto NAME(const X& x, I) {                                                   \
    static_assert(detail::never<X>,                                                      \
                  "cq::" #NAME                                                           \
                  "(x, 1): the axis must be a constant of the program: write cq::" #NAME \
                  "(x, cq::axis<1>)");                                                   \
    return x;                                                                            \
  }
CALQUE_AXIS_NUMBER(sum)
CALQUE_AXIS_NUMBER(prod)
CALQUE_AXIS_NUMBER(all)
CALQUE_AXIS_NUMBER(any)
CALQUE_AXIS_NUMBER(mean)
CALQUE_AXIS_NUMBER(argmax)
CALQUE_AXIS_NUMBER(argmin)
#undef CALQUE_AXIS_NUMBER

#define CALQUE_ARG_REDUCTION(NAME)                                                             \
  template <array_operand X, int A>                                                            \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A>, location at = here()) {             \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, axis_t<A>);                        \
    return detail::arg_reduce_fn<op::NAME, A, false>{}(x, at);                                 \
  }                                                                                            \
  template <array_operand X, int A>                                                            \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A>, keepdims_t, location at = here()) { \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, axis_t<A>);                        \
    return detail::arg_reduce_fn<op::NAME, A, true>{}(x, at);                                  \
  }                                                                                            \
  template <array_operand X>                                                                   \
  [[nodiscard]] constexpr auto NAME(const X& x, location at = here()) {                        \
    static_assert(detail::operand_traits<X>::rank == 1,                                        \
                  "cq::" #NAME "(x): x must have one axis; name the axis, as in cq::" #NAME    \
                  "(x, cq::axis<0>), or flatten x with cq::reshape");                          \
    return detail::arg_reduce_fn<op::NAME, 0, false>{}(x, at);                                 \
  }

/// Index (int64) of the largest element along one axis: the first of equals, of NaN if there is
/// one; `shape_error` over no elements.
CALQUE_ARG_REDUCTION(argmax)
/// Index (int64) of the smallest element along one axis, as `argmax`.
CALQUE_ARG_REDUCTION(argmin)
#undef CALQUE_ARG_REDUCTION

}  // namespace calque
