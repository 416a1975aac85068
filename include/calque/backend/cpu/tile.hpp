// Walks a domain in tiles for elementwise programs that know only contiguous operands.
//
// Operands that are linear in the domain are passed through; others (broadcast, strided, reversed)
// are gathered into a contiguous tile first, and strided outputs scattered after. So one vector
// loop for each program serves every layout, and body and tail run the same code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "calque/backend/backend.hpp"
#include "calque/backend/cpu/share.hpp"
#include "calque/backend/cpu/stream.hpp"
#include "calque/lower/program.hpp"

namespace calque::detail {

/// Elements of a tile: small enough that several operands' tiles stay in the first-level cache.
inline constexpr std::int64_t tile_size = 512;

/// A contiguous elementwise loop: `data[k]` is operand k's first element.
using tile_function = void (*)(void* const* data, std::int64_t n);

struct tile_program {
  tile_function run = nullptr;
  const operand_use* operands = nullptr;
};

/// Copies the elements [first, first + n) of a domain's row-major order from an operand into a
/// contiguous tile, or back.
CALQUE_ONCE void gather_tile(void* tile, void* base, int bytes, const std::int64_t* extents,
                             const std::int64_t* strides, int rank, std::int64_t first,
                             std::int64_t n);
CALQUE_ONCE void scatter_tile(void* tile, void* base, int bytes, const std::int64_t* extents,
                              const std::int64_t* strides, int rank, std::int64_t first,
                              std::int64_t n);

/// n numbers of type `t`: first, first + step, …
CALQUE_ONCE void fill_counted(dtype t, void* to, std::int64_t first, std::int64_t step,
                              std::int64_t n);
/// As above, of an operand that may be an index that is counted.
CALQUE_ONCE void gather_tile(void* tile, void* base, dtype type, const std::int64_t* extents,
                             const std::int64_t* strides, int rank, std::int64_t first,
                             std::int64_t n);
/// n neighbouring elements of an operand of program `P` into a tile.
template <class P>
CALQUE_INLINE void take_elements(void* to, const void* from, std::int64_t n,
                                 const operand_use& use) {
  if constexpr (counts_indices<P>)
    if (use.counted != dtype::none && is_counted(from))
      return fill_counted(use.counted, to, counted_at(from, use.bytes), 1, n);
  std::memcpy(to, from, static_cast<std::size_t>(n * use.bytes));
}

/// What a walk needs to know of its domain and operands.
struct tile_domain {
  const std::int64_t* extents = nullptr;
  int rank = 0;
  int inputs = 0, outputs = 0;
  const operand_layout* operands = nullptr;
};

/// Runs `p` on the elements [first, first + n) of a domain, in tiles. `base[k]` is operand k's
/// first element of the whole domain; `tiles` has room for a tile of each operand that is not
/// linear.
CALQUE_ONCE void run_tiles(const tile_program& p, const tile_domain& d, void* const* base,
                           std::int64_t first, std::int64_t n, std::byte* tiles);

/// All n elements of a domain, by several threads; `tiles` has `worker_bytes` of `tile_bytes` for
/// each.
CALQUE_ONCE void share_tiles(const tile_program& p, const tile_domain& d, int threads,
                             void* const* base, std::int64_t n, void* tiles);

/// Bytes of tiles that `run_tiles` needs.
CALQUE_HIDDEN inline std::int64_t tile_bytes(const operand_layout* operands, int count) {
  std::int64_t bytes = 0;
  for (int k = 0; k < count; ++k)
    if (!operands[k].linear || operands[k].streamed) bytes += tile_size * size_of(operands[k].type);
  return bytes;
}

/// Where the element `at` of a domain's row-major order lies in an operand.
CALQUE_HIDDEN inline std::int64_t offset_of(const std::int64_t* extents,
                                            const std::int64_t* strides, int rank,
                                            std::int64_t at) {
  std::int64_t offset = 0;
  for (int a = rank - 1; a >= 0; --a) {
    offset += at % extents[a] * strides[a];
    at /= extents[a];
  }
  return offset;
}

/// Whether an operand's elements follow each other along the axes [first, last).
CALQUE_HIDDEN inline bool is_contiguous(const geometry& g, const operand_layout& o, int first,
                                        int last) {
  std::int64_t expected = 1;
  for (int a = last - 1; a >= first; --a) {
    if (g.extents[a] != 1 && o.strides[a] != expected) return false;
    expected *= g.extents[a];
  }
  return true;
}

#if CALQUE_DEFINES_ONCE()
namespace tile_detail {

template <bool Gather, class U>
CALQUE_HIDDEN inline void move_run(U* tile, U* base, std::int64_t stride, std::int64_t n) {
  if (stride == 1) {
    if constexpr (Gather) std::memcpy(tile, base, static_cast<std::size_t>(n) * sizeof(U));
    else std::memcpy(base, tile, static_cast<std::size_t>(n) * sizeof(U));
  } else if (Gather && stride == 0) {
    const U v = *base;
    constexpr std::int64_t many = 64 / sizeof(U);
    for (std::int64_t i = 0; i < n && i < many; ++i) tile[i] = v;
    std::int64_t i = many;
    for (; i + many <= n; i += many) std::memcpy(tile + i, tile, 64);
    for (; i < n; ++i) tile[i] = v;
  } else {
    const auto one = [&](std::int64_t i) {
      if constexpr (Gather) tile[i] = base[i * stride];
      else base[i * stride] = tile[i];
    };
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) one(i), one(i + 1), one(i + 2), one(i + 3);
    for (; i < n; ++i) one(i);
  }
}

/// Steps through the elements [first, first + n) of a domain's row-major order: calls
/// `run(offset in elements, stride, count)`.
template <class F>
CALQUE_INLINE void for_each_run(const std::int64_t* extents, const std::int64_t* strides, int rank,
                                std::int64_t first, std::int64_t n, const F& f) {
  if (rank == 0) return f(0, 0, n);
  std::int64_t index[max_rank]{}, offset = 0;
  for (int a = rank - 1; a >= 0; --a) {
    index[a] = first % extents[a];
    first /= extents[a];
    offset += index[a] * strides[a];
  }
  const int last = rank - 1;
  while (n > 0) {
    const std::int64_t run = extents[last] - index[last] < n ? extents[last] - index[last] : n;
    f(offset, strides[last], run);
    n -= run;
    if (n == 0) return;
    offset -= index[last] * strides[last];
    index[last] = 0;
    for (int a = last - 1; a >= 0; --a) {
      offset += strides[a];
      if (++index[a] < extents[a]) break;
      offset -= index[a] * strides[a];
      index[a] = 0;
    }
  }
}

template <bool Gather, class U>
CALQUE_HIDDEN inline void move(U* tile, U* base, const std::int64_t* extents,
                               const std::int64_t* strides, int rank, std::int64_t first,
                               std::int64_t n) {
  for_each_run(extents, strides, rank, first, n,
               [&](std::int64_t offset, std::int64_t stride, std::int64_t run) {
                 move_run<Gather>(tile, base + offset, stride, run);
                 tile += run;
               });
}

template <bool Gather>
CALQUE_HIDDEN void move_bytes(void* tile, void* base, int bytes, const std::int64_t* extents,
                              const std::int64_t* strides, int rank, std::int64_t first,
                              std::int64_t n) {
  const auto as = [&](auto u) {
    using U = decltype(u);
    move<Gather>(static_cast<U*>(tile), static_cast<U*>(base), extents, strides, rank, first, n);
  };
  switch (bytes) {
    case 1: as(std::uint8_t{}); break;
    case 2: as(std::uint16_t{}); break;
    case 4: as(std::uint32_t{}); break;
    default: as(std::uint64_t{}); break;
  }
}

}  // namespace tile_detail

CALQUE_ONCE void gather_tile(void* tile, void* base, int bytes, const std::int64_t* extents,
                             const std::int64_t* strides, int rank, std::int64_t first,
                             std::int64_t n) {
  tile_detail::move_bytes<true>(tile, base, bytes, extents, strides, rank, first, n);
}
CALQUE_ONCE void fill_counted(dtype t, void* to, std::int64_t first, std::int64_t step,
                              std::int64_t n) {
  visit_dtype<int>(t, [&]<class T>(T) {
    constexpr int W = 16 / static_cast<int>(sizeof(T));
    T* const p = static_cast<T*>(to);
    std::int64_t i = 0;
    lane<T, W> v{};
    if (step == 0) lanes::splat<T, W>(v, static_cast<T>(first));
    for (; (step == 0 || step == 1) && i + W <= n; i += W) {
      if (step != 0) lanes::count<T, W>(v, first + i);
      lanes::store<T, W>(p + i, v);
    }
    for (; i < n; ++i) p[i] = static_cast<T>(first + i * step);
    return 0;
  });
}
CALQUE_ONCE void gather_tile(void* tile, void* base, dtype type, const std::int64_t* extents,
                             const std::int64_t* strides, int rank, std::int64_t first,
                             std::int64_t n) {
  const int bytes = size_of(type);
  if (!is_counted(base)) return gather_tile(tile, base, bytes, extents, strides, rank, first, n);
  const std::int64_t origin = counted_at(base, bytes);
  std::byte* to = static_cast<std::byte*>(tile);
  tile_detail::for_each_run(extents, strides, rank, first, n,
                            [&](std::int64_t offset, std::int64_t stride, std::int64_t run) {
                              fill_counted(type, to, origin + offset, stride, run);
                              to += run * bytes;
                            });
}
CALQUE_ONCE void scatter_tile(void* tile, void* base, int bytes, const std::int64_t* extents,
                              const std::int64_t* strides, int rank, std::int64_t first,
                              std::int64_t n) {
  tile_detail::move_bytes<false>(tile, base, bytes, extents, strides, rank, first, n);
}

CALQUE_ONCE void run_tiles(const tile_program& p, const tile_domain& d, void* const* base,
                           std::int64_t first, std::int64_t n, std::byte* tiles) {
  const int count = d.inputs + d.outputs;
  void* data[max_operands + 2];
  bool direct = true;
  std::int64_t ahead = 0;  // elements before a streamed result begins a line of the cache
  for (int k = 0; k < count; ++k) {
    const operand_layout& o = d.operands[k];
    if (p.operands[k].uniform) data[k] = base[k];
    else if (o.linear) data[k] = static_cast<std::byte*>(base[k]) + first * size_of(o.type);
    else direct = false;
    if (!o.streamed) continue;
    direct = false;
    ahead = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(data[k]) % 64) /
            size_of(o.type);
  }
  if (direct) {
    if (n > 0) p.run(data, n);
    return;
  }
  bool streams = false;
  // an index that is counted along long lines is handed on by its addresses, a line at a time
  const std::int64_t line = d.rank > 1 ? d.extents[d.rank - 1] : 0;
  bool by_lines = false;
  for (int k = 0; k < d.inputs; ++k)
    by_lines |= line >= tile_size / 4 && d.operands[k].counted && !d.operands[k].linear;
  std::int64_t m = ahead > 0 ? ahead : tile_size;
  for (std::int64_t at = 0; at < n; at += m, m = tile_size) {
    if (n - at < m) m = n - at;
    if (by_lines && line - (first + at) % line < m) m = line - (first + at) % line;
    std::byte* room = tiles;
    for (int k = 0; k < count; ++k) {
      const operand_layout& o = d.operands[k];
      if (p.operands[k].uniform) continue;
      const int bytes = size_of(o.type);
      if (o.linear && !o.streamed) {
        data[k] = static_cast<std::byte*>(base[k]) + (first + at) * bytes;
        continue;
      }
      if (by_lines && o.counted && o.strides[d.rank - 1] == 1) {
        const std::int64_t offset = offset_of(d.extents, o.strides, d.rank, first + at);
        data[k] = static_cast<std::byte*>(base[k]) + offset * bytes;
        continue;
      }
      data[k] = room;
      room += tile_size * bytes;
      if (k < d.inputs)
        gather_tile(data[k], base[k], o.type, d.extents, o.strides, d.rank, first + at, m);
    }
    p.run(data, m);
    for (int k = d.inputs; k < count; ++k) {
      const operand_layout& o = d.operands[k];
      const int bytes = size_of(o.type);
      streams |= o.streamed;
      if (o.streamed)
        stream_out(static_cast<std::byte*>(base[k]) + (first + at) * bytes, data[k], m * bytes);
      else if (!o.linear)
        scatter_tile(data[k], base[k], bytes, d.extents, o.strides, d.rank, first + at, m);
    }
  }
  if (streams) end_streaming();
}
CALQUE_ONCE void share_tiles(const tile_program& p, const tile_domain& d, int threads,
                             void* const* base, std::int64_t n, void* tiles) {
  std::byte* const room = static_cast<std::byte*>(tiles);
  if (threads <= 1) return run_tiles(p, d, base, 0, n, room);
  const std::int64_t each = worker_bytes(tile_bytes(d.operands, d.inputs + d.outputs));
  const block_cut cut(n, threads, tile_size);
  for_each_block(threads, cut.blocks, [&](int worker, std::int64_t b) {
    run_tiles(p, d, base, cut.first(b), cut.size(b), room + worker * each);
  });
}
#endif

}  // namespace calque::detail
