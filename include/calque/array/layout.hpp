// Strides of a block of elements: row-major ones, contiguity, the bytes reached, strided copies.
//
// Plain functions on pointers to 64-bit extents and strides (counted in elements), so that arrays
// of every rank share them. Called by arrays, borrowed memory and views.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "calque/core/dtype.hpp"
#include "calque/core/error.hpp"
#include "calque/core/shape.hpp"

namespace calque::detail {

/// "f32[64, 128]", as messages name an operand.
[[nodiscard]] inline std::string label(dtype t, const std::int64_t* extents, int rank) {
  return std::string(name_of(t)) + to_string(extents, rank);
}

[[noreturn]] inline void throw_index(std::int64_t index, int axis, const std::string& of,
                                     std::int64_t extent) {
  throw index_error("at: index " + std::to_string(index) + " is outside axis " +
                    std::to_string(axis) + " of " + of + "; indices count from 0 to " +
                    std::to_string(extent - 1));
}
[[noreturn]] inline void throw_size(const char* op, const std::string& of, std::int64_t elements,
                                    std::size_t given) {
  throw shape_error(std::string(op) + ": " + of + " has " + std::to_string(elements) +
                    " elements but the span has " + std::to_string(given) +
                    "; their sizes must be equal");
}

/// Writes row-major strides and returns the number of elements. Throws `shape_error`, naming
/// operation `op`, when the bytes of the block pass 2^63 - 1. Without elements every stride is 0.
inline std::int64_t dense_layout(dtype t, const std::int64_t* extents, int rank,
                                 std::int64_t* strides, const char* op = "array") {
  std::int64_t n = 1;
  bool overflow = false;
  for (int i = rank - 1; i >= 0; --i) {
    strides[i] = n;
    overflow |= __builtin_mul_overflow(n, extents[i], &n);
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() - (std::int64_t{1} << 24);
  if (!overflow && n != 0 && n <= most / size_of(t)) return n;
  if (std::find(extents, extents + rank, 0) != extents + rank) {
    std::fill(strides, strides + rank, 0);
    return 0;
  }
  throw shape_error(std::string(op) + ": " + label(t, extents, rank) +
                    " takes more than 2^63 - 1 bytes; use smaller extents");
}

/// Number of elements of extents that an array already has: the product fits 64 bits, or an extent
/// is 0. Unsigned, because what stands before that 0 may wrap.
[[nodiscard]] constexpr std::int64_t count(const std::int64_t* extents, int rank) {
  std::uint64_t n = 1;
  for (int i = 0; i < rank; ++i) n *= static_cast<std::uint64_t>(extents[i]);
  return static_cast<std::int64_t>(n);
}

/// Do the elements lie in row-major order without gaps? Axes of extent 1 have no say.
[[nodiscard]] constexpr bool is_dense(const std::int64_t* extents, const std::int64_t* strides,
                                      int rank) {
  std::int64_t expected = 1;
  bool dense = true;
  for (int i = rank - 1; i >= 0; --i) {
    if (extents[i] == 0) return true;
    if (extents[i] == 1) continue;
    dense = dense && strides[i] == expected;
    if (__builtin_mul_overflow(expected, extents[i], &expected)) dense = false;
  }
  return dense;
}

/// Bytes [low, high) that a strided block reaches; empty without elements.
struct byte_range {
  std::uintptr_t low = 0, high = 0;

  [[nodiscard]] constexpr bool overlaps(const byte_range& other) const {
    return low < other.high && other.low < high;
  }
};

/// The range reached from `data`. False when an offset or an address does not fit 64 bits.
[[nodiscard]] inline bool find_reach(const void* data, std::int64_t element_bytes,
                                     const std::int64_t* extents, const std::int64_t* strides,
                                     int rank, byte_range* range) {
  std::int64_t low = 0, high = 0, step = 0;
  *range = {};
  if (std::find(extents, extents + rank, 0) != extents + rank) return true;
  for (int i = 0; i < rank; ++i) {
    if (__builtin_mul_overflow(extents[i] - 1, strides[i], &step)) return false;
    std::int64_t& side = step < 0 ? low : high;
    if (__builtin_add_overflow(side, step, &side)) return false;
  }
  if (__builtin_add_overflow(high, 1, &high) ||
      __builtin_mul_overflow(high, element_bytes, &high) ||
      __builtin_mul_overflow(low, element_bytes, &low))
    return false;
  const auto base = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t below = std::uintptr_t{0} - static_cast<std::uintptr_t>(low);
  const auto above = static_cast<std::uintptr_t>(high);
  if (below > base || above > std::numeric_limits<std::uintptr_t>::max() - base) return false;
  *range = {base - below, base + above};
  return true;
}

/// Copies element by element; source and target may not overlap.
template <class T>
void copy_strided(const T* from, const std::int64_t* from_strides, T* to,
                  const std::int64_t* to_strides, const std::int64_t* extents, int rank) {
  if (rank == 0) {
    *to = *from;
    return;
  }
  const std::int64_t n = extents[0], a = from_strides[0], b = to_strides[0];
  if (rank == 1) {
    if (a == 1 && b == 1) {
      std::copy_n(from, n, to);
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i * b] = from[i * a];
    }
    return;
  }
  if (rank == 2 && from_strides[1] != 1 && a == 1) {  // a transposed block: by tiles that fit L1
    constexpr std::int64_t tile = 32;
    const std::int64_t m = extents[1], a1 = from_strides[1], b1 = to_strides[1];
    for (std::int64_t i0 = 0; i0 < n; i0 += tile)
      for (std::int64_t j0 = 0; j0 < m; j0 += tile)
        for (std::int64_t i = i0; i < std::min(n, i0 + tile); ++i)
          for (std::int64_t j = j0; j < std::min(m, j0 + tile); ++j)
            to[i * b + j * b1] = from[i + j * a1];
    return;
  }
  for (std::int64_t i = 0; i < n; ++i)
    copy_strided(from + i * a, from_strides + 1, to + i * b, to_strides + 1, extents + 1, rank - 1);
}

/// Copies a block of any layout to another; one `memcpy` where both are dense. No overlap.
template <class T>
void copy_elements(const T* from, const std::int64_t* from_strides, T* to,
                   const std::int64_t* to_strides, const std::int64_t* extents, int rank) {
  const std::int64_t n = count(extents, rank);
  if (n == 0) return;
  if (is_dense(extents, from_strides, rank) && is_dense(extents, to_strides, rank))
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  else copy_strided(from, from_strides, to, to_strides, extents, rank);
}

}  // namespace calque::detail
