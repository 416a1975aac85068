// `zeros ones full arange linspace eye`: new host arrays.
//
// These are the overloads that name no symbol; inside a traced function the same names take a
// symbol of the trace as last argument.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "calque/array/access.hpp"

namespace calque {

namespace detail {

template <class T, int Rank>
[[nodiscard]] array<T, Rank> filled(const shape<Rank>& extents, T value) {
  auto a = array<T, Rank>::uninitialised(extents);
  std::fill_n(prepare_write(a, contents::discard), a.size(), value);
  return a;
}

/// Numbers that `arange` counts with: exact integers while all are integers, else double.
template <class... S>
using counting_type = std::conditional_t<(std::integral<S> && ...), std::int64_t, double>;

[[noreturn]] inline void throw_bad_arange(const char* why) {
  throw value_error(std::string("arange: ") + why);
}

[[nodiscard]] inline std::int64_t arange_count(std::int64_t start, std::int64_t stop,
                                               std::int64_t step) {
  if (step == 0) throw_bad_arange("the step is 0; give a positive or a negative one");
  if (step > 0 ? stop <= start : stop >= start) return 0;
  const auto low = static_cast<std::uint64_t>(step > 0 ? start : stop);
  const auto high = static_cast<std::uint64_t>(step > 0 ? stop : start);
  const auto by = step > 0 ? static_cast<std::uint64_t>(step)
                           : std::uint64_t{0} - static_cast<std::uint64_t>(step);
  const std::uint64_t steps = (high - low - 1) / by;
  if (steps >= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw_bad_arange("more than 2^63 - 1 elements; take a larger step");
  return static_cast<std::int64_t>(steps) + 1;
}

[[nodiscard]] inline std::int64_t arange_count(double start, double stop, double step) {
  if (step == 0) throw_bad_arange("the step is 0; give a positive or a negative one");
  const double n = std::ceil((stop - start) / step);
  if (std::isnan(n)) throw_bad_arange("a bound or the step is not a number; give finite ones");
  if (n >= 9.2e18) throw_bad_arange("more than 2^63 - 1 elements; take a larger step");
  return n > 0 ? static_cast<std::int64_t>(n) : 0;
}

/// Value of a count in type `T`; throws where an integer type cannot hold it.
template <class T, class N>
[[nodiscard]] T counted(N value) {
  if constexpr (std::floating_point<T>) {
    return static_cast<T>(value);
  } else {
    const auto low = static_cast<N>(std::numeric_limits<T>::lowest());
    const auto high = static_cast<N>(std::numeric_limits<T>::max());
    if constexpr (std::integral<N> && std::same_as<T, std::uint64_t>) {
      if (value < 0) throw_bad_arange("a value does not fit the element type; take a wider one");
    } else if (!(value >= low && value <= high)) {
      throw_bad_arange("a value does not fit the element type; take a wider one");
    }
    return static_cast<T>(value);
  }
}

}  // namespace detail

/// All 0 (false).
template <element T, int Rank>
[[nodiscard]] array<T, Rank> zeros(const shape<Rank>& extents) {
  return detail::filled(extents, T{});
}

/// All 1 (true).
template <element T, int Rank>
[[nodiscard]] array<T, Rank> ones(const shape<Rank>& extents) {
  return detail::filled(extents, static_cast<T>(1));
}

/// All `value`, of the value's type.
template <int Rank, scalar_literal S>
[[nodiscard]] array<scalar_element<S>, Rank> full(const shape<Rank>& extents, S value) {
  return detail::filled(extents, static_cast<scalar_element<S>>(value));
}
/// All `value`, of type `T`: `full<double>(shape, 1)`. The value keeps its kind.
template <element T, int Rank, detail::scalar_for<T> S>
[[nodiscard]] array<T, Rank> full(const shape<Rank>& extents, S value) {
  return detail::filled(extents, static_cast<T>(value));
}

/// start, start + step, … before stop. Each value is computed from its index and rounded once.
template <element T, scalar_literal A, scalar_literal B, scalar_literal C>
  requires(!std::same_as<T, bool>)
[[nodiscard]] array<T, 1> arange(A start, B stop, C step) {
  using number = detail::counting_type<A, B, C>;
  const auto lo = static_cast<number>(start), hi = static_cast<number>(stop);
  const auto by = static_cast<number>(step);
  const std::int64_t n = detail::arange_count(lo, hi, by);
  auto a = array<T, 1>::uninitialised(shape<1>(n));
  if (n == 0) return a;
  T* const to = detail::prepare_write(a, detail::contents::discard);
  (void)detail::counted<T>(lo);
  (void)detail::counted<T>(lo + static_cast<number>(n - 1) * by);
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(lo + static_cast<number>(i) * by);
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
  auto a = array<T, 1>::uninitialised(shape<1>(n));
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
  auto a = zeros<T>(shape<2>(n, n));
  T* const to = detail::prepare_write(a);
  const std::int64_t side = a.extent(0);
  for (std::int64_t i = 0; i < side; ++i) to[i * side + i] = static_cast<T>(1);
  return a;
}

}  // namespace calque
