// The one promotion table: the dtype of a result from the dtypes of its operands.
//
// Both symbols and arrays ask here; `decltype` of a maths call is never used (it differs between
// compilers). A weak operand is a C++ scalar or literal: it yields to an array's type.
#pragma once

#include "calque/core/dtype.hpp"

namespace calque {

namespace detail {

constexpr dtype signed_of_size(int bytes) {
  switch (bytes) {
    case 1: return dtype::int8;
    case 2: return dtype::int16;
    case 4: return dtype::int32;
    case 8: return dtype::int64;
    default: return dtype::none;
  }
}

constexpr dtype wider(dtype a, dtype b) { return size_of(a) >= size_of(b) ? a : b; }

}  // namespace detail

/// Result of combining two strong operands; `dtype::none` where no type holds both (int64, uint64).
[[nodiscard]] constexpr dtype promote(dtype a, dtype b) {
  if (a == b) return a;
  if (a == dtype::boolean) return b;
  if (b == dtype::boolean) return a;
  if (is_floating(a) && is_floating(b)) {
    if (size_of(a) == size_of(b)) return dtype::float32;  // float16 with bfloat16
    return detail::wider(a, b);
  }
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  if (is_signed_integer(a) == is_signed_integer(b)) return detail::wider(a, b);
  const dtype s = is_signed_integer(a) ? a : b;
  const dtype u = is_signed_integer(a) ? b : a;
  if (size_of(s) > size_of(u)) return s;
  return detail::signed_of_size(2 * size_of(u));
}

/// Result of an array of type `array` with a weak scalar of type `scalar`.
[[nodiscard]] constexpr dtype promote_weak(dtype array, dtype scalar) {
  return kind_of(scalar) <= kind_of(array) ? array : scalar;
}

/// C++'s usual arithmetic conversions, for two weak scalars (bool and narrow integers become
/// int32).
[[nodiscard]] constexpr dtype promote_scalars(dtype a, dtype b) {
  if (is_floating(a) || is_floating(b)) return promote(a, b);
  const auto integral = [](dtype t) { return size_of(t) < 4 ? dtype::int32 : t; };
  const dtype x = integral(a), y = integral(b);
  if (is_signed_integer(x) == is_signed_integer(y)) return detail::wider(x, y);
  const dtype s = is_signed_integer(x) ? x : y;
  const dtype u = is_signed_integer(x) ? y : x;
  return size_of(u) >= size_of(s) ? u : s;
}

/// Arithmetic on two bools counts: the result is int32. Comparisons and `& | ^ !` keep bool.
[[nodiscard]] constexpr dtype arithmetic(dtype t) { return t == dtype::boolean ? dtype::int32 : t; }

/// Accumulator and result of `sum`/`prod`: integers narrower than 64 bits and bool become 64-bit.
[[nodiscard]] constexpr dtype sum_type(dtype t) {
  if (t == dtype::boolean || is_signed_integer(t)) return dtype::int64;
  if (is_unsigned_integer(t)) return dtype::uint64;
  return t;
}

/// Result of `mean` and of floating functions (`exp`, …) on integers: double; floating stays.
[[nodiscard]] constexpr dtype floating(dtype t) { return is_floating(t) ? t : dtype::float64; }

}  // namespace calque
