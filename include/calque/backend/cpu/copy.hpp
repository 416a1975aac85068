// Copies a block of any layout to another: the kernel behind stores, snapshots and reshapes.
//
// Elements move by their size, whatever their type; source and target may not overlap. A source
// that is a counted index is stored this way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "calque/backend/cpu/share.hpp"
#include "calque/backend/cpu/tile.hpp"

namespace calque::detail {

/// An element of N bytes that may stand for one of any type.
template <int N>
struct alignas(N) opaque {
  unsigned char bytes[N];
};

template <class T>
CALQUE_HIDDEN void copy_rows(const geometry& g, const T* from, T* to, int axis) {
  const std::int64_t *a = g.operands[0].strides, *b = g.operands[1].strides;
  const std::int64_t n = g.rank == 0 ? 1 : g.extents[axis];
  if (axis >= g.rank - 1) {
    const std::int64_t p = g.rank == 0 ? 1 : a[axis], q = g.rank == 0 ? 1 : b[axis];
    if (p == 1 && q == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    } else if (p == 0 && q == 1) {
      std::fill_n(to, n, *from);
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i * q] = from[i * p];
    }
    return;
  }
  if (axis == g.rank - 2 && a[axis] == 1 && a[axis + 1] != 1) {  // a transposed block: by tiles
    constexpr std::int64_t tile = 32;
    const std::int64_t m = g.extents[axis + 1];
    for (std::int64_t i0 = 0; i0 < n; i0 += tile)
      for (std::int64_t j0 = 0; j0 < m; j0 += tile)
        for (std::int64_t i = i0; i < std::min(n, i0 + tile); ++i)
          for (std::int64_t j = j0; j < std::min(m, j0 + tile); ++j)
            to[i * b[axis] + j * b[axis + 1]] = from[i + j * a[axis + 1]];
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) copy_rows(g, from + i * a[axis], to + i * b[axis], axis + 1);
}

template <class T>
CALQUE_HIDDEN void copy_as(const geometry& g, void* const* data) {
  copy_rows(g, static_cast<const T*>(data[0]), static_cast<T*>(data[1]), 0);
}

/// An index of which no memory holds the elements: a tile of them at a time.
CALQUE_HIDDEN inline void copy_counted(const geometry& g, void* const* data) {
  constexpr std::int64_t most = 256;
  const operand_layout &from = g.operands[0], &to = g.operands[1];
  const int bytes = size_of(to.type);
  alignas(64) std::byte tile[8 * most];
  for (std::int64_t at = 0; at < g.size; at += most) {
    const std::int64_t n = std::min(most, g.size - at);
    gather_tile(tile, data[0], from.type, g.extents, from.strides, g.rank, at, n);
    scatter_tile(tile, data[1], bytes, g.extents, to.strides, g.rank, at, n);
  }
}

CALQUE_HIDDEN inline void run_copy(const geometry& g, void* const* data, void*) {
  if (g.threads > 1) return share_axis(&run_copy, g, data, nullptr, 0, {0, g.rank});
  if (g.operands[0].counted) return copy_counted(g, data);
  switch (size_of(g.operands[0].type)) {
    case 1: copy_as<opaque<1>>(g, data); break;
    case 2: copy_as<opaque<2>>(g, data); break;
    case 4: copy_as<opaque<4>>(g, data); break;
    default: copy_as<opaque<8>>(g, data);
  }
}

/// The host's copy kernel: one input, one output of one type.
CALQUE_HIDDEN inline constexpr kernel_entry copy_kernel{&run_copy, nullptr};

}  // namespace calque::detail
