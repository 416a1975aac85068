// Options that are types: axes, keepdims, constants known to the compiler.
#pragma once

#include "calque/core/config.hpp"

/// Refuses a tag `AXES` that does not fit `X`, by the name of the function that was called.
#define CALQUE_CHECK_AXES(CALL, X, AXES)                                                        \
  static_assert(calque::detail::axes_exist<calque::detail::operand_traits<X>::rank, AXES>, CALL \
                ": cq::axis<...> names an axis that x does not have; axes count from 0 "        \
                "to rank - 1, or back from -1 to -rank");                                       \
  static_assert(calque::detail::axes_differ<calque::detail::operand_traits<X>::rank, AXES>,     \
                CALL ": cq::axis<...> names an axis twice; name each axis once")

namespace calque {

template <int... A>
struct axis_t {
  static constexpr int count = sizeof...(A);
};
/// The axes that an operation works on; negative ones count from the end: `cq::sum(x, cq::axis<0,
/// -1>)`.
template <int... A>
inline constexpr axis_t<A...> axis{};

struct keepdims_t {
  explicit keepdims_t() = default;
};
/// Reduced axes stay, with extent 1: `cq::sum(x, cq::axis<1>, cq::keepdims)`.
inline constexpr keepdims_t keepdims{};

/// A constant that is part of the trace: `f(x, cq::static_<3>)`; inside, `n.value` is a constant.
template <auto N>
struct static_t {
  static constexpr auto value = N;
};
template <auto N>
inline constexpr static_t<N> static_{};

namespace detail {

/// Whether axis `a` exists in an array of `rank` axes.
constexpr bool axis_exists(int a, int rank) { return a >= -rank && a < rank; }

/// Axes as a bit mask; 0 axes stand for all. What does not exist is left out: the function that was
/// called has refused it, see CALQUE_CHECK_AXES.
template <int Rank, int... A>
constexpr unsigned axis_mask(axis_t<A...>) {
  if constexpr (sizeof...(A) == 0) return (1u << Rank) - 1u;
  unsigned mask = 0;
  ((mask |= axis_exists(A, Rank) ? 1u << (A < 0 ? A + Rank : A) : 0u), ...);
  return mask;
}
/// The number of one axis.
template <int Rank, int A>
constexpr int axis_number(axis_t<A>) {
  return axis_exists(A, Rank) ? (A < 0 ? A + Rank : A) : 0;
}
constexpr int bits_in(unsigned mask) { return __builtin_popcount(mask); }

/// Whether an array of `Rank` axes has those of a tag, and whether the tag names each once.
template <int Rank, class Axes>
inline constexpr bool axes_exist = false;
template <int Rank, int... A>
inline constexpr bool axes_exist<Rank, axis_t<A...>> = (axis_exists(A, Rank) && ...);
template <int Rank, class Axes>
inline constexpr bool axes_differ = true;
template <int Rank, int... A>
inline constexpr bool axes_differ<Rank, axis_t<A...>> =
    sizeof...(A) == 0 || !(axis_exists(A, Rank) && ...) ||
    bits_in(axis_mask<Rank>(axis_t<A...>{})) == sizeof...(A);

}  // namespace detail
}  // namespace calque
