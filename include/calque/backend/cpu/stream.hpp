// Writes past the caches: for results so large that they would only push everything else out.
//
// A plain store first reads the line that it writes; where a step moves more than the last cache
// holds, that read is a third of the traffic of z = a * x + y. Kernels fill a tile in the first
// cache as ever, and `stream_out` sends it on. Plans decide (run/step_layouts.hpp); tile.hpp calls.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "calque/core/lane.hpp"

#if CALQUE_X86()
#include <emmintrin.h>
#endif

namespace calque::detail {

/// Bytes that a step may touch before its results are streamed: the last cache, as far as one core
/// can hope for it.
[[nodiscard]] inline std::int64_t streaming_threshold() {
#if CALQUE_X86() && defined(_SC_LEVEL3_CACHE_SIZE)
  static const std::int64_t bytes = [] {
    constexpr std::int64_t least = std::int64_t{8} << 20, most = std::int64_t{24} << 20;
    const std::int64_t found = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return found < least ? least : found > most ? most : found;
  }();
  return bytes;
#else
  return INT64_MAX;  // there is no such store
#endif
}

/// Copies `n` bytes without reading the lines they go to. Others see them after `end_streaming`.
CALQUE_HIDDEN inline void stream_out(void* to, const void* from, std::int64_t n) {
#if CALQUE_X86()
  auto* out = static_cast<std::byte*>(to);
  auto* in = static_cast<const std::byte*>(from);
  const auto head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(out) % 16);
  const std::int64_t first = head < n ? head : n;
  std::memcpy(out, in, static_cast<std::size_t>(first));
  std::int64_t i = first;
  const auto move = [&](std::int64_t at) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at)));
  };
  for (; i + 64 <= n; i += 64) move(i), move(i + 16), move(i + 32), move(i + 48);
  for (; i + 16 <= n; i += 16) move(i);
  std::memcpy(out + i, in + i, static_cast<std::size_t>(n - i));
#else
  std::memcpy(to, from, static_cast<std::size_t>(n));
#endif
}
#if CALQUE_X86()
// Through memory: a register operand wider than 16 bytes is refused in a body without a target.
#define CALQUE_STREAM_LANE(size, load, store, reg)                                       \
  if constexpr (sizeof(v) == size)                                                       \
    __asm__ volatile(load " %2, %" reg "0\n\t" store " %" reg "0, %1"                    \
                     : "=x"(scratch),                                                    \
                       "=m"(*reinterpret_cast<lanes::detail::unaligned_lane<T, W>*>(to)) \
                     : "m"(v));
#endif
/// Stores a lane like that; `to` is aligned to its size.
template <class T, int W>
CALQUE_INLINE void stream_lane(T* to, const lane<T, W>& v) {
#if CALQUE_X86()
  if constexpr (!std::is_same_v<T, bool> && sizeof(v) >= 16 && sizeof(v) <= 64) {
    lane<float, 4> scratch;
    CALQUE_STREAM_LANE(16, "movaps", "movntps", "x")
    CALQUE_STREAM_LANE(32, "vmovaps", "vmovntps", "t")
    CALQUE_STREAM_LANE(64, "vmovaps", "vmovntps", "g")
    return;
  }
#endif
  lanes::store<T, W>(to, v);
}
#if CALQUE_X86()
#undef CALQUE_STREAM_LANE
#endif
CALQUE_HIDDEN inline void end_streaming() {
#if CALQUE_X86()
  _mm_sfence();
#endif
}

}  // namespace calque::detail
