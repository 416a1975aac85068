// `zeros ones full arange linspace eye`: new host arrays.
//
// These are the overloads that name no symbol; inside a traced function the same names take a
// symbol of the trace as last argument.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "calque/array/access.hpp"
#include "calque/core/fits.hpp"

namespace calque {

namespace detail {

/// A new array; extents that take too many bytes are refused in the name of `op`.
template <class T, int Rank>
[[nodiscard]] array<T, Rank> new_array(const shape<Rank>& extents, const char* op) {
  std::array<std::int64_t, Rank> strides{};
  (void)dense_layout(dtype_of<T>, extents.begin(), Rank, strides.data(), op);
  return array<T, Rank>::uninitialised(extents);
}

template <class T, int Rank>
[[nodiscard]] array<T, Rank> filled(const shape<Rank>& extents, T value, const char* op) {
  auto a = new_array<T>(extents, op);
  std::fill_n(prepare_write(a, contents::discard), a.size(), value);
  return a;
}

/// Holds every 64-bit integer, signed or not, and every distance of two.
__extension__ typedef __int128 wide_integer;

/// Numbers that `arange` counts with: exact integers while all are integers, else double.
template <class... S>
using counting_type = std::conditional_t<(std::integral<S> && ...), wide_integer, double>;

[[noreturn]] inline void throw_bad_arange(const char* why) {
  throw value_error(std::string("arange: ") + why);
}

[[nodiscard]] inline std::int64_t arange_count(wide_integer start, wide_integer stop,
                                               wide_integer step) {
  if (step == 0) throw_bad_arange("the step is 0; give a positive or a negative one");
  if (step > 0 ? stop <= start : stop >= start) return 0;
  const wide_integer n =
      (step > 0 ? stop - start - 1 : start - stop - 1) / (step > 0 ? step : -step) + 1;
  if (n > std::numeric_limits<std::int64_t>::max())
    throw_bad_arange("more than 2^63 - 1 elements; take a larger step");
  return static_cast<std::int64_t>(n);
}

[[nodiscard]] inline std::int64_t arange_count(double start, double stop, double step) {
  if (step == 0) throw_bad_arange("the step is 0; give a positive or a negative one");
  const double n = std::ceil((stop - start) / step);
  if (std::isnan(n)) throw_bad_arange("a bound or the step is not a number; give finite ones");
  if (n >= 9.2e18) throw_bad_arange("more than 2^63 - 1 elements; take a larger step");
  return n > 0 ? static_cast<std::int64_t>(n) : 0;
}

/// Throws where the integer type `T` cannot hold a value of a count.
template <class T>
void check_counted(wide_integer value) {
  if constexpr (std::integral<T>)
    if (value < least_of<T> || value > greatest_of<T>)
      throw_bad_arange("a value does not fit the element type; take a wider one");
}
template <class T>
void check_counted(double value) {
  if constexpr (std::integral<T>)
    if (!(value >= static_cast<double>(least_of<T>) && value <= upper_bound_of<T, double>))
      throw_bad_arange("a value does not fit the element type; take a wider one");
}

/// Writes start, start + step, …, each computed from its index.
template <class T>
void count_up(T* to, std::int64_t n, wide_integer start, wide_integer step) {
  const wide_integer last = start + step * (n - 1);
  const auto in_64_bits = [](wide_integer x) {
    return x >= least_of<std::int64_t> && x <= greatest_of<std::int64_t>;
  };
  if (in_64_bits(start) && in_64_bits(last)) {  // values fit, products on the way may wrap
    const auto from = static_cast<std::uint64_t>(start), by = static_cast<std::uint64_t>(step);
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = static_cast<T>(static_cast<std::int64_t>(from + static_cast<std::uint64_t>(i) * by));
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(start + step * i);
  }
}
template <class T>
void count_up(T* to, std::int64_t n, double start, double step) {
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = static_cast<T>(start + static_cast<double>(i) * step);
}

}  // namespace detail

/// All 0 (false). The extents are a `shape{n, 3}`, or braces alone: `zeros<float>({n, 3})`.
template <element T, int Rank>
[[nodiscard]] array<T, Rank> zeros(const shape<Rank>& extents) {
  return detail::filled(extents, T{}, "zeros");
}
template <element T, std::size_t Rank>
[[nodiscard]] auto zeros(const detail::listed_extent (&extents)[Rank]) {
  return zeros<T>(detail::listed_shape(extents));
}

/// All 1 (true).
template <element T, int Rank>
[[nodiscard]] array<T, Rank> ones(const shape<Rank>& extents) {
  return detail::filled(extents, static_cast<T>(1), "ones");
}
template <element T, std::size_t Rank>
[[nodiscard]] auto ones(const detail::listed_extent (&extents)[Rank]) {
  return ones<T>(detail::listed_shape(extents));
}

/// All `value`, of the value's type.
template <int Rank, scalar_literal S>
[[nodiscard]] array<scalar_element<S>, Rank> full(const shape<Rank>& extents, S value) {
  return detail::filled(extents, static_cast<scalar_element<S>>(value), "full");
}
/// All `value`, of type `T`: `full<double>(shape, 1)`. The value keeps its kind; an integer
/// that does not fit throws `dtype_error`.
template <element T, int Rank, detail::scalar_for<T> S>
[[nodiscard]] array<T, Rank> full(const shape<Rank>& extents, S value) {
  return detail::filled(extents, detail::checked_element<T>(value, "full"), "full");
}
template <std::size_t Rank, scalar_literal S>
[[nodiscard]] auto full(const detail::listed_extent (&extents)[Rank], S value) {
  return full(detail::listed_shape(extents), value);
}
template <element T, std::size_t Rank, detail::scalar_for<T> S>
[[nodiscard]] auto full(const detail::listed_extent (&extents)[Rank], S value) {
  return full<T>(detail::listed_shape(extents), value);
}

/// start, start + step, … before stop. Each value is computed from its index and rounded once.
template <element T, scalar_literal A, scalar_literal B, scalar_literal C>
  requires(!std::same_as<T, bool>)
[[nodiscard]] array<T, 1> arange(A start, B stop, C step) {
  using number = detail::counting_type<A, B, C>;
  const auto lo = static_cast<number>(start), hi = static_cast<number>(stop);
  const auto by = static_cast<number>(step);
  const std::int64_t n = detail::arange_count(lo, hi, by);
  if (n != 0) {
    detail::check_counted<T>(lo);
    detail::check_counted<T>(lo + static_cast<number>(n - 1) * by);
  }
  auto a = detail::new_array<T>(shape<1>(n), "arange");
  detail::count_up(detail::prepare_write(a, detail::contents::discard), n, lo, by);
  return a;
}
template <element T, scalar_literal A, scalar_literal B>
  requires(!std::same_as<T, bool>)
[[nodiscard]] array<T, 1> arange(A start, B stop) {
  return arange<T>(start, stop, 1);
}
/// 0, 1, … before stop.
template <element T, scalar_literal A>
  requires(!std::same_as<T, bool>)
[[nodiscard]] array<T, 1> arange(A stop) {
  return arange<T>(0, stop, 1);
}

/// `n` evenly spaced values from lo to hi, both included (n = 1: lo). float for two floats, else
/// double.
template <scalar_literal A, scalar_literal B, std::integral N>
[[nodiscard]] auto linspace(A lo, B hi, N n) {
  using T = std::conditional_t<std::same_as<A, float> && std::same_as<B, float>, float, double>;
  auto a = detail::new_array<T>(shape<1>(n), "linspace");
  T* const to = detail::prepare_write(a, detail::contents::discard);
  const auto first = static_cast<double>(lo), last = static_cast<double>(hi);
  const std::int64_t count = a.size();
  for (std::int64_t i = 0; i < count; ++i) {
    const double t = count == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
    to[i] = static_cast<T>(std::lerp(first, last, t));
  }
  return a;
}

/// The n by n identity.
template <element T, std::integral N>
[[nodiscard]] array<T, 2> eye(N n) {
  auto a = detail::filled(shape<2>(n, n), T{}, "eye");
  T* const to = detail::prepare_write(a);
  const std::int64_t side = a.extent(0);
  for (std::int64_t i = 0; i < side; ++i) to[i * side + i] = static_cast<T>(1);
  return a;
}

}  // namespace calque
