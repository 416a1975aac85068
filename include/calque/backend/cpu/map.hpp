// The elementwise kernel: a program's vector loop for each instruction set, and its launcher.
#pragma once

#include "calque/backend/cpu/isa.hpp"
#include "calque/backend/cpu/tile.hpp"
#include "calque/lower/program.hpp"

namespace calque::detail {

/// Which operands of a program are uniform.
template <class P>
struct operand_flags;
template <class... I>
struct operand_flags<program<I...>> {
  struct flags {
    bool of[max_operands + 2]{};
  };
  static constexpr flags make() {
    flags f;
    (mark(f, I{}), ...);
    return f;
  }
  static constexpr flags value = make();

 private:
  template <int K, class T>
  static constexpr void mark(flags& f, splat<K, T>) { f.of[K] = true; }
  template <class Other>
  static constexpr void mark(flags&, Other) {}
};

/// A program over contiguous operands, on vectors of VB bytes.
template <class P>
struct map_body {
  template <int VB>
  CALQUE_INLINE static void run(void* const* data, std::int64_t n) {
    constexpr int W = lane_width(VB, program_traits<P>::widest());
    registers<W, P> r;
    evaluate_uniform<W, P>(r, data);
    std::int64_t i = 0;
    for (; i + W <= n; i += W) evaluate_window<W, true, P>(r, {data, i, W});
    if (i < n) evaluate_window<W, false, P>(r, {data, i, static_cast<int>(n - i)});
  }
};

template <class P>
CALQUE_HIDDEN [[gnu::noinline]] void map_baseline(void* const* data, std::int64_t n) {
  map_body<P>::template run<16>(data, n);
}
template <class P>
CALQUE_HIDDEN CALQUE_TARGET_AVX2 [[gnu::noinline]] void map_avx2(void* const* data, std::int64_t n) {
  map_body<P>::template run<32>(data, n);
}
template <class P>
CALQUE_HIDDEN CALQUE_TARGET_AVX512 [[gnu::noinline]] void map_avx512(void* const* data,
                                                                     std::int64_t n) {
  map_body<P>::template run<64>(data, n);
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
  return {f, operand_flags<P>::value.of};
}

template <class P>
CALQUE_HIDDEN void launch_map(const geometry& g, void* const* data, void* scratch) {
  run_tiles(map_tile<P>(), {g.extents, g.rank, g.inputs, g.outputs, g.operands}, data, 0, g.size,
            static_cast<std::byte*>(scratch));
}
/// The same at the baseline only: for steps that replace a cluster whose assumptions failed.
template <class P>
CALQUE_HIDDEN void launch_single(const geometry& g, void* const* data, void* scratch) {
  run_tiles({&map_baseline<P>, operand_flags<P>::value.of},
            {g.extents, g.rank, g.inputs, g.outputs, g.operands}, data, 0, g.size,
            static_cast<std::byte*>(scratch));
}
inline std::int64_t map_scratch(const geometry& g) {
  return tile_bytes(g.operands, g.operand_count());
}

}  // namespace calque::detail
