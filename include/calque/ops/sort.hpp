// `cq::sort` and `cq::argsort`: a header of its own, since most programs do not sort.
//
// Include it after or instead of calque/calque.hpp, before the traced functions that sort.
#pragma once

#include "calque/core/push_macros.inc"

#include "calque/backend/cpu/sort.hpp"
#include "calque/call/array_operation.hpp"
#include "calque/trace/composed.hpp"

namespace calque {

struct descending_t {
  explicit descending_t() = default;
};
/// Largest first: `cq::sort(x, cq::axis<0>, cq::descending)`.
inline constexpr descending_t descending{};

namespace detail {

template <bool Down, int Axis>
struct sort_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(sort_fn{}, x);
    } else {
      constexpr int rank = operand_traits<X>::rank, axis = axis_number<rank>(axis_t<Axis>{});
      builder& g = common_builder(x);
      g.where = at;
      return expr<type_of<operand_traits<X>::type>, rank>{
          &g, build_accumulation<op::sort_of<Down>>(g, x.id, axis)};
    }
  }
};
template <bool Down, int Axis>
struct argsort_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(argsort_fn{}, x);
    } else {
      constexpr int rank = operand_traits<X>::rank, axis = axis_number<rank>(axis_t<Axis>{});
      builder& g = common_builder(x);
      g.where = at;
      return expr<std::int64_t, rank>{&g, build_places<op::argsort_of<Down>>(g, x.id, axis)};
    }
  }
};

}  // namespace detail

#define CALQUE_ORDERING(NAME)                                                                    \
  template <array_operand X, int A>                                                              \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A>, location at = here()) {               \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, axis_t<A>);                          \
    return detail::NAME##_fn<false, A>{}(x, at);                                                 \
  }                                                                                              \
  template <array_operand X, int A>                                                              \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A>, descending_t, location at = here()) { \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, axis_t<A>);                          \
    return detail::NAME##_fn<true, A>{}(x, at);                                                  \
  }                                                                                              \
  template <array_operand X>                                                                     \
  [[nodiscard]] constexpr auto NAME(const X& x, location at = here()) {                          \
    static_assert(detail::operand_traits<X>::rank == 1,                                          \
                  "cq::" #NAME "(x): x must have one axis; name the axis, as in cq::" #NAME      \
                  "(x, cq::axis<0>), or flatten x with cq::reshape");                            \
    return detail::NAME##_fn<false, 0>{}(x, at);                                                 \
  }

/// The elements of each line along an axis in ascending order, or descending with `cq::descending`.
/// Stable: zeros of both signs are equal and stay in order; NaN comes last both ways. The
/// derivative goes back to where each element came from.
///
///   auto ranked = cq::sort(scores, cq::axis<1>, cq::descending);
CALQUE_ORDERING(sort)
/// The places (int64) that `sort` takes its elements from.
CALQUE_ORDERING(argsort)
#undef CALQUE_ORDERING

}  // namespace calque

#include "calque/core/pop_macros.inc"
