// Nested braces as values: `array<float, 2> a{{1, 2}, {3, 4}}`.
//
// Apart from array.hpp so that the recursion over initializer lists stays out of the class. Called
// by the constructor of `array` alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "calque/core/error.hpp"

namespace calque::detail {

template <class T, int Rank>
struct braces {
  using type = std::initializer_list<typename braces<T, Rank - 1>::type>;
};
template <class T>
struct braces<T, 1> {
  using type = std::initializer_list<T>;
};
template <class T>
struct braces<T, 0> {
  struct type {};  // rank 0 has a constructor of its own
};

/// Extents of the values, read along each level's first entry.
template <int Rank, class List>
constexpr void measure_braces(const List& values, std::int64_t* extents) {
  extents[0] = static_cast<std::int64_t>(values.size());
  if constexpr (Rank > 1) {
    if (values.size() == 0) std::fill_n(extents + 1, Rank - 1, 0);
    else measure_braces<Rank - 1>(*values.begin(), extents + 1);
  }
}

/// Throws `shape_error` where a row is shorter or longer than the first of its level.
template <int Rank, class List>
constexpr void check_braces(const List& values, const std::int64_t* extents, int axis = 0) {
  if (static_cast<std::int64_t>(values.size()) != extents[0])
    throw shape_error("array: braces are ragged, axis " + std::to_string(axis) + " has a row of " +
                      std::to_string(values.size()) + " values beside one of " +
                      std::to_string(extents[0]) + "; give every row the same length");
  if constexpr (Rank > 1)
    for (const auto& row : values) check_braces<Rank - 1>(row, extents + 1, axis + 1);
}

/// Writes the values in row-major order and returns the end.
template <int Rank, class T, class List>
constexpr T* fill_braces(const List& values, T* to) {
  if constexpr (Rank == 1) {
    return std::copy(values.begin(), values.end(), to);
  } else {
    for (const auto& row : values) to = fill_braces<Rank - 1>(row, to);
    return to;
  }
}

}  // namespace calque::detail
