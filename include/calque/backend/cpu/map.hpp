// The elementwise kernel: a program's vector loop for each instruction set, and its launcher.
#pragma once

#include "calque/backend/cpu/isa.hpp"
#include "calque/backend/cpu/tile.hpp"
#include "calque/lower/program.hpp"
#include "calque/lower/segments.hpp"

namespace calque::detail {

/// A program over contiguous operands, on vectors of VB bytes. What is left after whole vectors is
/// copied to one padded vector an operand and goes through the same code: the loop is compiled
/// once, and its body and tail agree to the bit.
template <class P>
struct map_body {
  template <int VB>
  CALQUE_INLINE static void run(void* const* data, std::int64_t n) {
    constexpr int W = lane_width(VB, program_traits<P>::widest());
    constexpr int count = operands_of<P>.count;
    registers<W, P> r;
    evaluate_uniform<W, P>(r, data);
    const std::int64_t rest = n % W;
    alignas(64) std::byte room[count][W * 8];
    void* tail[count];
    void* const* from = data;
    for (std::int64_t end = n - rest;; end = W) {
      run_windows<VB, W>(r, from, end);
      if (rest == 0 || from == tail) break;
      for (int k = 0; k < count; ++k) {
        tail[k] = room[k];
        copy_tail<true>(k, room[k], data[k], n - rest, rest, sizeof(room[k]));
      }
      from = tail;
    }
    if (rest != 0)
      for (int k = 0; k < count; ++k) copy_tail<false>(k, room[k], data[k], n - rest, rest, 0);
  }
  /// Where every operand has room for whole vectors: those past the end are computed of anything.
  template <int VB>
  CALQUE_INLINE static void run_past_end(void* const* data, std::int64_t n) {
    constexpr int W = lane_width(VB, program_traits<P>::widest());
    registers<W, P> r;
    evaluate_uniform<W, P>(r, data);
    run_windows<VB, W>(r, data, (n + W - 1) / W * W);
  }

 private:
  template <int VB, int W>
  CALQUE_INLINE static void run_windows(registers<W, P>& r, void* const* from, std::int64_t end) {
    constexpr int count = segments_of<P>.count, most = strip_windows<P>;
    if constexpr (count == 1) {
      for (std::int64_t i = 0; i < end; i += W) evaluate_window<W, true, P>(r, {from, i, W});
    } else {
      waiting_room<VB, P> rooms[most];
      for (std::int64_t i = 0; i < end; i += most * W) {
        const std::int64_t left = (end - i) / W;
        const int windows = left < most ? static_cast<int>(left) : most;
        evaluate_strip<W, P>(r, rooms, {from, i, W}, windows,
                             std::make_integer_sequence<int, count>{});
      }
    }
  }
  template <bool In>
  CALQUE_INLINE static void copy_tail(int k, std::byte* room, void* operand, std::int64_t at,
                                      std::int64_t n, std::size_t padded) {
    const operand_use& use = operands_of<P>.of[k];
    if (use.uniform || !(In ? use.input : use.output)) return;
    std::byte* p = static_cast<std::byte*>(operand) + at * use.bytes;
    const auto bytes = static_cast<std::size_t>(n * use.bytes);
    if constexpr (In) {
      std::memset(room, 0, padded);
      take_elements<P>(room, p, n, use);
      if constexpr (calls_by_element<P>)
        for (std::size_t to = bytes; to < padded; ++to)
          room[to] = room[to - static_cast<std::size_t>(use.bytes)];
    } else {
      std::memcpy(p, room, bytes);
    }
  }
};

template <class P>
CALQUE_HIDDEN [[gnu::noinline]] void map_baseline(void* const* data, std::int64_t n) {
  map_body<P>::template run<16>(data, n);
}
template <class P>
CALQUE_HIDDEN CALQUE_TARGET_AVX2 [[gnu::noinline]] void map_avx2(void* const* data,
                                                                 std::int64_t n) {
  map_body<P>::template run<32>(data, n);
}
template <class P>
CALQUE_HIDDEN CALQUE_TARGET_AVX512 [[gnu::noinline]] void map_avx512(void* const* data,
                                                                     std::int64_t n) {
  map_body<P>::template run<64>(data, n);
}
template <class P>
CALQUE_HIDDEN [[gnu::noinline]] void map_past_end_baseline(void* const* data, std::int64_t n) {
  map_body<P>::template run_past_end<16>(data, n);
}
template <class P>
CALQUE_HIDDEN CALQUE_TARGET_AVX2 [[gnu::noinline]] void map_past_end_avx2(void* const* data,
                                                                          std::int64_t n) {
  map_body<P>::template run_past_end<32>(data, n);
}

/// The loop of `P` for the processor at hand.
template <class P>
CALQUE_HIDDEN inline tile_program map_tile() {
  tile_function f = &map_baseline<P>;
#if CALQUE_X86()
  const isa level = best_isa();
  if (level == isa::avx512) f = &map_avx512<P>;
  else if (level == isa::avx2) f = &map_avx2<P>;
#endif
  return {f, operands_of<P>.of};
}

/// Whether the loop may take a step's operands as they are: the usual case, seen without a walk.
template <class P>
CALQUE_INLINE bool runs_whole(const geometry& g) {
  bool whole = true;
  [&]<int... K>(std::integer_sequence<int, K...>) {
    ((whole &= operands_of<P>.of[K].uniform || (g.operands[K].linear && !g.operands[K].streamed)),
     ...);
  }(std::make_integer_sequence<int, operands_of<P>.count>{});
  return whole;
}

template <class P>
CALQUE_HIDDEN void launch_map(const geometry& g, void* const* data, void* scratch) {
  if (g.threads == 1 && runs_whole<P>(g)) [[likely]] {
    if (g.size > 0) map_tile<P>().run(data, g.size);
    return;
  }
  share_tiles(map_tile<P>(), {g.extents, g.rank, g.inputs, g.outputs, g.operands}, g.threads, data,
              g.size, scratch);
}
/// The same at the baseline only: for steps that replace a cluster whose assumptions failed.
template <class P>
CALQUE_HIDDEN void launch_single(const geometry& g, void* const* data, void* scratch) {
  share_tiles({&map_baseline<P>, operands_of<P>.of},
              {g.extents, g.rank, g.inputs, g.outputs, g.operands}, g.threads, data, g.size,
              scratch);
}
CALQUE_HIDDEN inline std::int64_t map_scratch(const geometry& g) {
  return shared_bytes(g, tile_bytes(g.operands, g.operand_count()));
}

}  // namespace calque::detail
