// What the parameters of a draw may be: a probability, a deviation, bounds.
//
// Separate, since these are values and no shapes: a literal is refused while tracing, a number that
// is an argument of the call by call/draw_limits.hpp before anything runs. What only a computation
// knows passes through these operations: they make NaN of a value that cannot be, so that no number
// comes out of it.
#pragma once

#include <limits>

#include "calque/ops/select.hpp"

namespace calque {
namespace detail {

// Not called where they are used: device code may not call functions of the library.
template <class T>
inline constexpr T no_number = std::numeric_limits<T>::quiet_NaN();
template <class T>
inline constexpr T largest_number = (std::numeric_limits<T>::max)();

// The same rules for literals, for arguments and for the operations.
template <class T>
CALQUE_HD constexpr bool is_probability(T p) {
  return T(0) <= p && p <= T(1);
}
template <class T>
CALQUE_HD constexpr bool is_deviation(T d) {
  return T(0) <= d;
}
/// Finite, in order, and no farther apart than a number of type T says.
template <class T>
CALQUE_HD constexpr bool are_bounds(T low, T high) {
  constexpr T most = largest_number<T>;
  return -most <= low && low <= high && high <= most &&
         (low >= T(0) || high <= T(0) || high - low <= most);
}

/// r = x where low <= high, else NaN.
template <class T, int W>
CALQUE_INLINE void unless_above(lane<T, W>& r, const lane<T, W>& x, const lane<T, W>& low,
                                const lane<T, W>& high) {
  lane<bool, W> fits;
  calque::lanes::less_equal<T, W>(fits, low, high);
  calque::lanes::select<T, W>(r, fits, x, lane<T, W>{} + no_number<T>);
}

}  // namespace detail
namespace op {

/// p, or NaN where it is no probability.
struct probability {
  static constexpr char name[] = "probability";
  static constexpr int arity = 1;
  template <class T>
    requires std::is_floating_point_v<T>
  CALQUE_HD constexpr T operator()(T p) const {
    constexpr T none = detail::no_number<T>;
    return detail::is_probability(p) ? p : none;
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& p) {
    detail::unless_above<T, W>(r, p, lane<T, W>{}, p);
    detail::unless_above<T, W>(r, r, r, lane<T, W>{} + T(1));
  }
  static constexpr void gradient(gradient_rule& g) { g.flow(0, g.dy); }
};
/// d, or NaN where it is no standard deviation.
struct deviation {
  static constexpr char name[] = "deviation";
  static constexpr int arity = 1;
  template <class T>
    requires std::is_floating_point_v<T>
  CALQUE_HD constexpr T operator()(T d) const {
    constexpr T none = detail::no_number<T>;
    return detail::is_deviation(d) ? d : none;
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& d) {
    detail::unless_above<T, W>(r, d, lane<T, W>{}, d);
  }
  static constexpr void gradient(gradient_rule& g) { g.flow(0, g.dy); }
};
/// The upper bound, or NaN where the two are no bounds.
struct upper_bound {
  static constexpr char name[] = "upper_bound";
  static constexpr int arity = 2;
  template <class T>
    requires std::is_floating_point_v<T>
  CALQUE_HD constexpr T operator()(T low, T high) const {
    constexpr T none = detail::no_number<T>;
    return detail::are_bounds(low, high) ? high : none;
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& low, const lane<T, W>& high) {
    const lane<T, W> apart = high - low;
    detail::unless_above<T, W>(r, high, low, high);
    detail::unless_above<T, W>(r, r, apart, lane<T, W>{} + detail::largest_number<T>);
  }
  static constexpr void gradient(gradient_rule& g) { g.flow(1, g.dy); }
};

}  // namespace op
}  // namespace calque

CALQUE_REGISTER(calque::op::probability);
CALQUE_REGISTER(calque::op::deviation);
CALQUE_REGISTER(calque::op::upper_bound);
