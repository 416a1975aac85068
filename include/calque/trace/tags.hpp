// Options that are types: axes, keepdims, constants known to the compiler.
#pragma once

#include "calque/core/config.hpp"

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

/// Axes as a bit mask; 0 axes stand for all.
template <int Rank, int... A>
constexpr unsigned axis_mask(axis_t<A...>) {
  static_assert(
      (axis_exists(A, Rank) && ...),
      "cq::sum, max, softmax, ...(x, cq::axis<...>): cq::axis<...> names an axis that the "
      "operand does not have; axes count from 0 to rank - 1, or back from -1 to -rank");
  unsigned mask = 0;
  bool twice = false;
  for (int a : {A...}) {
    const unsigned bit = 1u << (a < 0 ? a + Rank : a);
    twice = twice || (mask & bit);
    mask |= bit;
  }
  return twice ? ~0u : mask;
}
template <int Rank>
constexpr unsigned axis_mask(axis_t<>) {
  return (1u << Rank) - 1u;
}
/// The number of one axis.
template <int Rank, int A>
constexpr int axis_number(axis_t<A> a) {
  (void)axis_mask<Rank>(a);  // refuses what does not exist
  return axis_exists(A, Rank) ? (A < 0 ? A + Rank : A) : 0;
}
constexpr int bits_in(unsigned mask) { return __builtin_popcount(mask); }

}  // namespace detail
}  // namespace calque
