// What the kernels of running and ordered reductions know of a monoid: how two elements combine, on
// scalars and, where it can, on lanes.
#pragma once

#include "calque/lower/program.hpp"
#include "calque/ops/arithmetic.hpp"

namespace calque::detail {

/// The functor that combines: a library operation names one, a user's monoid is one itself.
template <class F>
struct combine_functor {
  using type = F;
};
template <class F>
  requires requires { typename F::combine; }
struct combine_functor<F> {
  using type = typename F::combine;
};

template <class F, class T>
struct monoid {
  using combine = typename combine_functor<F>::type;
  /// Whether it is the library's: its identity may then be combined with elements.
  static constexpr bool built_in = requires { typename F::combine; };
  static constexpr bool on_lanes =
      requires(lane<T, 4>& r, const lane<T, 4>& a) { combine::template lanes<T, 4>(r, a, a); };

  static T identity() { return F::template identity<T>(); }
  /// An element that changes no other, whatever its sign of zero.
  static constexpr T neutral() {
    if constexpr (std::is_same_v<combine, op::add> && std::is_floating_point_v<T>) return T(-0.0);
    else return F::template identity<T>();
  }
  CALQUE_INLINE static T of(T a, T b) { return static_cast<T>(combine{}(a, b)); }
  template <int W>
  CALQUE_INLINE static void of(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
    combine::template lanes<T, W>(r, a, b);
  }
};

}  // namespace calque::detail
