// Bits, shifts, signs and kinds of numbers on lanes; each with its scalar twin beside it.
//
// Separate from core/lanes.hpp, which is what every program needs. All hold for every element type
// that they make sense for, and none has undefined input: shifts by a negative count or by the
// width or more give 0, or the sign where a signed number goes right. Called by lowered programs.
#pragma once

#include <cstdint>
#include <type_traits>

#include "calque/core/config.hpp"
#include "calque/core/lane.hpp"
#include "calque/core/saturate.hpp"

namespace calque::detail {

/// a << b; integers of any width.
template <class T>
[[nodiscard]] CALQUE_HD constexpr T shift_left(T a, T b) {
  using U = unsigned_bits<T>;
  if (static_cast<U>(b) >= sizeof(T) * 8) return T(0);
  return static_cast<T>(static_cast<wrapping_t<T>>(a) << static_cast<U>(b));
}

/// a >> b; copies the sign.
template <class T>
[[nodiscard]] CALQUE_HD constexpr T shift_right(T a, T b) {
  using U = unsigned_bits<T>;
  if (static_cast<U>(b) >= sizeof(T) * 8) return a < T(0) ? static_cast<T>(-1) : T(0);
  return static_cast<T>(a >> static_cast<U>(b));
}

/// -1, 0 or 1; zeros and NaN are themselves.
template <class T>
[[nodiscard]] CALQUE_HD constexpr T scalar_sign(T a) {
  if constexpr (std::is_floating_point_v<T>) return a > T(0) ? T(1) : a < T(0) ? T(-1) : a;
  else return static_cast<T>((a > T(0)) - (a < T(0)));
}

enum class number_kind : std::uint8_t { nan, infinite, finite };

/// The exponent's bits, all set in infinities and NaN. Tests are on bits: they hold under
/// -ffast-math too.
template <class T>
inline constexpr unsigned_bits<T> full_exponent =
    sizeof(T) == 4 ? static_cast<unsigned_bits<T>>(0x7f800000u)
                   : static_cast<unsigned_bits<T>>(0x7ff0000000000000u);

template <number_kind K, class T>
[[nodiscard]] CALQUE_HD constexpr bool is_kind(T a) {
  if constexpr (std::is_floating_point_v<T>) {
    using U = unsigned_bits<T>;
    const U magnitude = static_cast<U>(static_cast<U>(__builtin_bit_cast(U, a) << 1) >> 1);
    if constexpr (K == number_kind::nan) return magnitude > full_exponent<T>;
    else if constexpr (K == number_kind::infinite) return magnitude == full_exponent<T>;
    else return magnitude < full_exponent<T>;
  } else {
    return K == number_kind::finite;
  }
}

}  // namespace calque::detail

namespace calque::lanes {

#define CALQUE_BITWISE(NAME, OPERATOR)                                               \
  template <class T, int W>                                                          \
  CALQUE_INLINE void NAME(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) { \
    r = a OPERATOR b;                                                                \
  }
CALQUE_BITWISE(bitwise_and, &)
CALQUE_BITWISE(bitwise_or, |)
CALQUE_BITWISE(bitwise_xor, ^)
#undef CALQUE_BITWISE

template <class T, int W>
CALQUE_INLINE void bitwise_not(lane<T, W>& r, const lane<T, W>& a) {
  r = ~a;
}

template <class T, int W>
CALQUE_INLINE void shift_left(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  using U = calque::detail::unsigned_bits<T>;
  using S = calque::detail::signed_bits<T>;
  constexpr U width = sizeof(T) * 8;
  const lane<U, W> moved = (lane<U, W>)a << ((lane<U, W>)b & static_cast<U>(width - 1));
  r = (lane<T, W>)((lane<S, W>)((lane<U, W>)b < width) ? moved : lane<U, W>{});
}

template <class T, int W>
CALQUE_INLINE void shift_right(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  using U = calque::detail::unsigned_bits<T>;
  using S = calque::detail::signed_bits<T>;
  constexpr U width = sizeof(T) * 8;
  if constexpr (std::is_signed_v<T>) {
    lane<U, W> most{};
    most = most + static_cast<U>(width - 1);
    const lane<U, W> count = (lane<S, W>)((lane<U, W>)b < width) ? (lane<U, W>)b : most;
    r = a >> (lane<T, W>)count;
  } else {
    const lane<T, W> moved = a >> (b & static_cast<U>(width - 1));
    r = (lane<S, W>)(b < width) ? moved : lane<T, W>{};
  }
}

/// Remainder of the truncating quotient, with the sign of a; by zero it is a. One by one: there is
/// no vector instruction.
template <class T, int W>
CALQUE_INLINE void remainder(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  const auto one = [](T x, T y) { return calque::detail::wrap_rem(x, y); };
  map_each<T, W, T, T>(one, r, a, b);
}

template <class T, int W>
CALQUE_INLINE void sign(lane<T, W>& r, const lane<T, W>& a) {
  using S = calque::detail::signed_bits<T>;
  const lane<T, W> zero{};
  if constexpr (std::is_floating_point_v<T>) {
    lane<T, W> one{}, minus{};
    one = one + T(1);
    minus = minus - T(1);
    const lane<T, W> rest = (lane<S, W>)(a < zero) ? minus : a;
    r = (lane<S, W>)(a > zero) ? one : rest;
  } else if constexpr (std::is_signed_v<T>) {
    r = (lane<T, W>)((lane<S, W>)(a < zero) - (lane<S, W>)(a > zero));
  } else {
    r = (lane<T, W>)(lane<S, W>{} - (lane<S, W>)(a > zero));
  }
}

/// r = whether a is of kind K; integers are finite.
template <calque::detail::number_kind K, class T, int W>
CALQUE_INLINE void is_kind(lane<bool, W>& r, const lane<T, W>& a) {
  using calque::detail::number_kind;
  if constexpr (std::is_floating_point_v<T>) {
    using U = calque::detail::unsigned_bits<T>;
    using S = calque::detail::signed_bits<T>;
    // signed: what is left without the sign bit compares by one instruction
    const lane<S, W> magnitude = (lane<S, W>)(((lane<U, W>)a << 1) >> 1);
    lane<S, W> full{};
    full = full + static_cast<S>(calque::detail::full_exponent<T>);
    if constexpr (K == number_kind::nan)
      r = __builtin_convertvector((lane<S, W>)(magnitude > full), lane<bool, W>);
    else if constexpr (K == number_kind::infinite)
      r = __builtin_convertvector((lane<S, W>)(magnitude == full), lane<bool, W>);
    else r = __builtin_convertvector((lane<S, W>)(magnitude < full), lane<bool, W>);
  } else {
    r = lane<bool, W>{};
    if constexpr (K == number_kind::finite) r = ~r;
  }
}

}  // namespace calque::lanes
