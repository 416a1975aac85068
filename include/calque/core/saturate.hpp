// Scalar arithmetic with a defined result for every input: the reference that lane code repeats.
//
// Integers wrap, division by zero gives 0, casts from floating types saturate, maximum and minimum
// pass NaN on. Separate from core/lanes.hpp because device code and constant folding use it too.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "calque/core/config.hpp"

namespace calque::detail {

// Bounds as variables: device code may read them but not call numeric_limits.
template <class T>
inline constexpr T least_of = std::numeric_limits<T>::lowest();
template <class T>
inline constexpr T greatest_of = std::numeric_limits<T>::max();

template <class To, class From>
constexpr From bounded_above() {
  constexpr int kept = std::numeric_limits<From>::digits;
  if constexpr (std::numeric_limits<To>::digits <= kept) return static_cast<From>(greatest_of<To>);
  else return static_cast<From>(greatest_of<To> - static_cast<To>(greatest_of<To> >> kept));
}

/// The largest `From` that is not above the largest `To`: 2147483520.f for int32.
template <class To, class From>
inline constexpr From upper_bound_of = bounded_above<To, From>();

/// Converts as C++ does where the value fits. A floating value beyond an integer type gives its
/// nearest bound and NaN gives 0; integers wrap; bool is "not zero"; double to float may give inf.
template <class To, class From>
[[nodiscard]] CALQUE_HD constexpr To saturate_cast(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (x != x) return To(0);
    if (x <= static_cast<From>(least_of<To>)) return least_of<To>;
    if (x > upper_bound_of<To, From>) return greatest_of<To>;
    return static_cast<To>(x);
  } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>) {
    constexpr double overflow = 0x1.ffffffp127;  // rounds to 2^128; the same cast in a constant
    if (x >= overflow) return __builtin_inff();
    if (x <= -overflow) return -__builtin_inff();
    return static_cast<float>(x);
  } else {
    return static_cast<To>(x);
  }
}

// An unsigned type that wraps as `T` does and that no promotion makes signed.
template <class T>
struct wrapping_type {
  static constexpr auto pick() {
    if constexpr (sizeof(T) <= sizeof(std::uint32_t)) return std::uint32_t{};
    else return std::uint64_t{};
  }
  using type = decltype(pick());
};
template <class T>
using wrapping_t = typename wrapping_type<T>::type;

template <class T>
[[nodiscard]] CALQUE_HD constexpr T wrap_add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  else return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
}

template <class T>
[[nodiscard]] CALQUE_HD constexpr T wrap_sub(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a - b;
  else return static_cast<T>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
}

template <class T>
[[nodiscard]] CALQUE_HD constexpr T wrap_mul(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  else return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
}

template <class T>
[[nodiscard]] CALQUE_HD constexpr T wrap_neg(T a) {
  if constexpr (std::is_floating_point_v<T>) return -a;
  else return static_cast<T>(wrapping_t<T>(0) - static_cast<wrapping_t<T>>(a));
}

/// Truncating quotient; integers: `x / 0` is 0 and the least value over -1 is itself.
template <class T>
[[nodiscard]] CALQUE_HD constexpr T wrap_div(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == T(0)) return T(0);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return wrap_neg(a);
    return static_cast<T>(a / b);
  }
}

/// Remainder of `wrap_div`, with the sign of `a`; `x % 0` is `x`. Integers only.
template <class T>
[[nodiscard]] CALQUE_HD constexpr T wrap_rem(T a, T b) {
  if (b == T(0)) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return T(0);
  return static_cast<T>(a % b);
}

/// The larger operand; NaN if either is NaN; the second of two zeros.
template <class T>
[[nodiscard]] CALQUE_HD constexpr T scalar_max(T a, T b) {
  return a > b || a != a ? a : b;
}

/// The smaller operand; NaN if either is NaN; the second of two zeros.
template <class T>
[[nodiscard]] CALQUE_HD constexpr T scalar_min(T a, T b) {
  return a < b || a != a ? a : b;
}

/// Magnitude; clears the sign of -0 and NaN; the least signed integer wraps to itself.
template <class T>
[[nodiscard]] CALQUE_HD constexpr T scalar_abs(T a) {
  if constexpr (std::is_same_v<T, float>) return __builtin_fabsf(a);
  else if constexpr (std::is_floating_point_v<T>) return __builtin_fabs(a);
  else if constexpr (std::is_signed_v<T>) return a < T(0) ? wrap_neg(a) : a;
  else return a;
}

}  // namespace calque::detail
