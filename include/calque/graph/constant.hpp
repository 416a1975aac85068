// A scalar of any element type as plain data, for constants in nodes and for folding.
#pragma once

#include <cstdint>

#include "calque/core/dtype.hpp"

namespace calque {

/// The value of a constant node. Floating types live in `f`, all others in `i` (uint64 by its
/// bits).
struct constant {
  double f = 0;
  std::int64_t i = 0;

  /// Bit-for-bit the same: tells +0 from -0 and one NaN from a number.
  [[nodiscard]] static constexpr bool identical(const constant& a, const constant& b) {
    return __builtin_bit_cast(std::int64_t, a.f) == __builtin_bit_cast(std::int64_t, b.f) &&
           a.i == b.i;
  }
};

namespace detail {

template <class T>
constexpr constant make_constant(T v) {
  if constexpr (is_floating(dtype_of<T>)) return {static_cast<double>(v), 0};
  else return {0, static_cast<std::int64_t>(v)};
}

template <class T>
constexpr T constant_as(const constant& c) {
  if constexpr (is_floating(dtype_of<T>)) return static_cast<T>(c.f);
  else if constexpr (std::is_same_v<T, bool>) return c.i != 0;
  else return static_cast<T>(c.i);
}

/// Calls `f` with a value of the C++ type of `t`; float16 types have none yet and give `R{}`.
template <class R, class F>
constexpr R visit_dtype(dtype t, F&& f) {
  switch (t) {
    case dtype::boolean: return f(bool{});
    case dtype::int8: return f(std::int8_t{});
    case dtype::int16: return f(std::int16_t{});
    case dtype::int32: return f(std::int32_t{});
    case dtype::int64: return f(std::int64_t{});
    case dtype::uint8: return f(std::uint8_t{});
    case dtype::uint16: return f(std::uint16_t{});
    case dtype::uint32: return f(std::uint32_t{});
    case dtype::uint64: return f(std::uint64_t{});
    case dtype::float32: return f(float{});
    case dtype::float64: return f(double{});
    default: return R{};
  }
}

/// Rounds or wraps a 64-bit intermediate to what `t` holds.
constexpr constant narrowed(dtype t, const constant& c) {
  switch (t) {
    case dtype::boolean: return {0, c.i != 0};
    case dtype::int8: return {0, static_cast<std::int8_t>(c.i)};
    case dtype::int16: return {0, static_cast<std::int16_t>(c.i)};
    case dtype::int32: return {0, static_cast<std::int32_t>(c.i)};
    case dtype::uint8: return {0, static_cast<std::uint8_t>(c.i)};
    case dtype::uint16: return {0, static_cast<std::uint16_t>(c.i)};
    case dtype::uint32: return {0, static_cast<std::uint32_t>(c.i)};
    case dtype::float32: return {static_cast<double>(static_cast<float>(c.f)), 0};
    default: return c;
  }
}

}  // namespace detail
}  // namespace calque
