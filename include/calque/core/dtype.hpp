// Element types as run-time values, and the way between them and C++ types.
//
// Nodes, plans and messages carry a `dtype`; arrays and symbols carry the C++ type.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace calque {

/// An element type. The order inside a kind is the order of width.
enum class dtype : std::uint8_t {
  none,
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64
};

/// What a dtype counts as when a weak scalar meets it: bool < integer < floating.
enum class dtype_kind : std::uint8_t { none, boolean, integer, floating };

[[nodiscard]] constexpr bool is_signed_integer(dtype t) {
  return t >= dtype::int8 && t <= dtype::int64;
}
[[nodiscard]] constexpr bool is_unsigned_integer(dtype t) {
  return t >= dtype::uint8 && t <= dtype::uint64;
}
[[nodiscard]] constexpr bool is_integer(dtype t) { return t >= dtype::int8 && t <= dtype::uint64; }
[[nodiscard]] constexpr bool is_floating(dtype t) { return t >= dtype::float16; }

[[nodiscard]] constexpr dtype_kind kind_of(dtype t) {
  if (t == dtype::none) return dtype_kind::none;
  if (t == dtype::boolean) return dtype_kind::boolean;
  return is_integer(t) ? dtype_kind::integer : dtype_kind::floating;
}

/// Bytes of one element.
[[nodiscard]] constexpr int size_of(dtype t) {
  switch (t) {
    case dtype::none: return 0;
    case dtype::boolean:
    case dtype::int8:
    case dtype::uint8: return 1;
    case dtype::int16:
    case dtype::uint16:
    case dtype::float16:
    case dtype::bfloat16: return 2;
    case dtype::int32:
    case dtype::uint32:
    case dtype::float32: return 4;
    case dtype::int64:
    case dtype::uint64:
    case dtype::float64: return 8;
  }
  return 0;
}

/// Short name used in dumps and messages: "f32", "i64", "bool".
[[nodiscard]] constexpr std::string_view name_of(dtype t) {
  switch (t) {
    case dtype::none: return "none";
    case dtype::boolean: return "bool";
    case dtype::int8: return "i8";
    case dtype::int16: return "i16";
    case dtype::int32: return "i32";
    case dtype::int64: return "i64";
    case dtype::uint8: return "u8";
    case dtype::uint16: return "u16";
    case dtype::uint32: return "u32";
    case dtype::uint64: return "u64";
    case dtype::float16: return "f16";
    case dtype::bfloat16: return "bf16";
    case dtype::float32: return "f32";
    case dtype::float64: return "f64";
  }
  return "none";
}

namespace detail {

template <class T>
[[nodiscard]] constexpr dtype dtype_for() {
  if constexpr (std::is_same_v<T, bool>) return dtype::boolean;
  else if constexpr (std::is_same_v<T, float>) return dtype::float32;
  else if constexpr (std::is_same_v<T, double>) return dtype::float64;
  else if constexpr (std::is_same_v<T, std::int8_t>) return dtype::int8;
  else if constexpr (std::is_same_v<T, std::int16_t>) return dtype::int16;
  else if constexpr (std::is_same_v<T, std::int32_t>) return dtype::int32;
  else if constexpr (std::is_same_v<T, std::int64_t>) return dtype::int64;
  else if constexpr (std::is_same_v<T, std::uint8_t>) return dtype::uint8;
  else if constexpr (std::is_same_v<T, std::uint16_t>) return dtype::uint16;
  else if constexpr (std::is_same_v<T, std::uint32_t>) return dtype::uint32;
  else if constexpr (std::is_same_v<T, std::uint64_t>) return dtype::uint64;
  else return dtype::none;
}

template <dtype D>
struct type_for;
template <>
struct type_for<dtype::boolean> {
  using type = bool;
};
template <>
struct type_for<dtype::int8> {
  using type = std::int8_t;
};
template <>
struct type_for<dtype::int16> {
  using type = std::int16_t;
};
template <>
struct type_for<dtype::int32> {
  using type = std::int32_t;
};
template <>
struct type_for<dtype::int64> {
  using type = std::int64_t;
};
template <>
struct type_for<dtype::uint8> {
  using type = std::uint8_t;
};
template <>
struct type_for<dtype::uint16> {
  using type = std::uint16_t;
};
template <>
struct type_for<dtype::uint32> {
  using type = std::uint32_t;
};
template <>
struct type_for<dtype::uint64> {
  using type = std::uint64_t;
};
template <>
struct type_for<dtype::float32> {
  using type = float;
};
template <>
struct type_for<dtype::float64> {
  using type = double;
};

}  // namespace detail

/// The dtype of an element type; `dtype::none` for any other type.
template <class T>
inline constexpr dtype dtype_of = detail::dtype_for<std::remove_cv_t<T>>();

/// The C++ type of a dtype.
template <dtype D>
using type_of = typename detail::type_for<D>::type;

/// A type that arrays and symbols can hold.
template <class T>
concept element = dtype_of<T> != dtype::none && !std::is_const_v<T>;

/// A C++ number that may stand beside a symbol: every arithmetic type but characters and long
/// double.
template <class T>
concept scalar_literal =
    std::is_arithmetic_v<T> && !std::is_same_v<T, long double> && !std::is_same_v<T, char> &&
    !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> &&
    !std::is_same_v<T, char32_t>;

namespace detail {

template <class T>
constexpr auto canonical_scalar() {
  if constexpr (element<T>) {
    return T{};
  } else if constexpr (std::is_integral_v<T>) {  // long long beside long, and the like
    if constexpr (std::is_signed_v<T>) return std::int64_t{};
    else return std::uint64_t{};
  } else {
    return double{};
  }
}

}  // namespace detail

/// The element type that holds a C++ scalar: itself, or the same-sized one (`long long` → int64).
template <scalar_literal T>
using scalar_element = decltype(detail::canonical_scalar<T>());

}  // namespace calque
