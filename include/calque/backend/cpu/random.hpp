// The kernel that fills an array with random numbers, sixteen blocks of the generator at a time.
#pragma once

#include <cstring>

#include "calque/backend/cpu/isa.hpp"
#include "calque/backend/cpu/tile.hpp"
#include "calque/core/lane_math.hpp"
#include "calque/core/philox.hpp"
#include "calque/ops/random.hpp"

namespace calque::detail {

/// The elements [first, first + n) of a draw.
struct random_run {
  std::uint64_t seed, draw;
  std::int64_t first, n;
  void* out;
};

template <class Distribution, class T, int VB>
struct random_loop {
  static constexpr int W = philox_group, each = W * 16 / static_cast<int>(sizeof(T));
  /// Transforms work on vectors that the machine has: only for those there is a root.
  static constexpr int V = lane_width(VB, static_cast<int>(sizeof(T)));
  using numbers = lane<T, V>;
  using U = unsigned_bits<T>;
  using bits = lane<U, V>;
  using S = signed_bits<T>;

  CALQUE_INLINE static void run(const random_run& r) {
    T* out = static_cast<T*>(r.out);
    const std::int64_t end = r.first + r.n;
    for (std::int64_t at = r.first - r.first % each; at < end; at += each) {
      philox_lanes p;
      p.make(r.seed, r.draw, static_cast<std::uint64_t>(at / each * W));
      if (at >= r.first && at + each <= end) {
        group(p, out + (at - r.first));
      } else {
        T room[each];
        group(p, room);
        const std::int64_t low = at < r.first ? r.first - at : 0,
                           high = at + each < end ? each : end - at;
        std::memcpy(out + (at + low - r.first), room + low,
                    static_cast<std::size_t>(high - low) * sizeof(T));
      }
    }
  }

 private:
  CALQUE_INLINE static void group(const philox_lanes& p, T* out) {
    U w[sizeof(T) == 4 ? 4 : 2][W];
    if constexpr (sizeof(T) == 4) {
      for (int k = 0; k < 4; ++k) lanes::store<U, W>(w[k], p.word[k]);
    } else {
      for (int k = 0; k < 2; ++k) {
        using wide = lane<U, W>;
        const wide both = __builtin_convertvector(p.word[2 * k + 1], wide) << 32 |
                          __builtin_convertvector(p.word[2 * k], wide);
        lanes::store<U, W>(w[k], both);
      }
    }
    for (int k = 0; k < each / W; ++k) {
      if constexpr (std::is_same_v<Distribution, op::random_normal>) {
        if (k % 2 == 0)
          for (int i = 0; i < W; i += V)
            normal(w[k] + i, w[k + 1] + i, out + k * W + i, out + (k + 1) * W + i);
      } else {
        for (int i = 0; i < W; i += V) {
          numbers u;
          bits word;
          lanes::load<U, V>(word, w[k] + i);
          unit(u, word);
          lanes::store<T, V>(out + k * W + i, u);
        }
      }
    }
  }
  /// In [0, 1); of the upper bits.
  CALQUE_INLINE static void unit(numbers& r, const bits& w) {
    if constexpr (sizeof(T) == 4) {
      using whole = lane<std::int32_t, V>;
      r = __builtin_convertvector((whole)(w >> 8), numbers) * 0x1p-24f;
    } else {  // as the fraction of a number in [1, 2)
      r = (numbers)(w >> 12 | U{0x3ff0000000000000u}) - 1.0;
    }
  }
  /// Two independent normal numbers: a radius from `from`, a direction from `to`.
  CALQUE_INLINE static void normal(const U* from, const U* to, T* first, T* second) {
    numbers radius, u, sine, cosine;
    bits a, b;
    lanes::load<U, V>(a, from);
    lanes::load<U, V>(b, to);
    unit(u, a);
    lanes::log<T, V>(radius, T(1) - u);  // of (0, 1]
    lanes::sqrt<T, V>(radius, radius * T(-2));
    // the quadrant from the upper two bits, an angle in [-pi/4, pi/4) from the others
    unit(u, b << 2);
    quarter(sine, cosine, (u - T(0.5)) * T(1.57079632679489661923));
    const bits quadrant = b >> (8 * sizeof(T) - 2);
    const lane<S, V> odd = (lane<S, V>)((quadrant & U{1}) != U{0});
    const numbers x = odd ? sine : cosine, y = odd ? cosine : sine;
    constexpr int sign = 8 * static_cast<int>(sizeof(T)) - 2;
    const bits x_sign = ((quadrant + U{1}) & U{2}) << sign, y_sign = (quadrant & U{2}) << sign;
    lanes::store<T, V>(first, radius * (numbers)((bits)x ^ x_sign));
    lanes::store<T, V>(second, radius * (numbers)((bits)y ^ y_sign));
  }
  /// Polynomials of the Cephes library (S. L. Moshier), sin and sinf.
  CALQUE_INLINE static void quarter(numbers& sine, numbers& cosine, const numbers& x) {
    const numbers z = x * x;
    numbers s, c;
    if constexpr (sizeof(T) == 4) {
      s = z * -1.9515295891e-4f + 8.3321608736e-3f;
      s = s * z - 1.6666654611e-1f;
      c = z * 2.443315711809948e-5f - 1.388731625493765e-3f;
      c = c * z + 4.166664568298827e-2f;
    } else {
      s = z * 1.58962301576546568060e-10 - 2.50507477628578072866e-8;
      s = s * z + 2.75573136213857245213e-6;
      s = s * z - 1.98412698295895385996e-4;
      s = s * z + 8.33333333332211858878e-3;
      s = s * z - 1.66666666666666307295e-1;
      c = z * -1.13585365213876817300e-11 + 2.08757008419747316778e-9;
      c = c * z - 2.75573141792967388112e-7;
      c = c * z + 2.48015872888517045348e-5;
      c = c * z - 1.38888888888730564116e-3;
      c = c * z + 4.16666666666665929218e-2;
    }
    sine = s * z * x + x;
    cosine = c * z * z - z * T(0.5) + T(1);
  }
};

#define CALQUE_RANDOM_LOOP(LEVEL, TARGET, BYTES)                                    \
  template <class D, class T>                                                       \
  CALQUE_HIDDEN TARGET [[gnu::noinline]] void random_##LEVEL(const random_run& r) { \
    random_loop<D, T, BYTES>::run(r);                                               \
  }
CALQUE_RANDOM_LOOP(baseline, , 16)
CALQUE_RANDOM_LOOP(avx2, CALQUE_TARGET_AVX2, 32)
CALQUE_RANDOM_LOOP(avx512, CALQUE_TARGET_AVX512, 64)
#undef CALQUE_RANDOM_LOOP

CALQUE_HIDDEN inline std::int64_t random_room(const geometry& g) {
  return g.operands[1].linear ? 0 : tile_size * size_of(g.operands[1].type);
}
CALQUE_HIDDEN inline std::int64_t random_scratch(const geometry& g) {
  return shared_bytes(g, random_room(g));
}

/// Operand 0 is the state, operand 1 the result.
template <class D, class T>
CALQUE_HIDDEN void launch_random(const geometry& g, void* const* data, void* scratch) {
  auto* fill = &random_baseline<D, T>;
#if CALQUE_X86()
  const isa level = best_isa();
  if (level == isa::avx512) fill = &random_avx512<D, T>;
  else if (level == isa::avx2) fill = &random_avx2<D, T>;
#endif
  const auto* state = static_cast<const std::uint64_t*>(data[0]);
  const operand_layout& to = g.operands[1];
  const std::int64_t room = worker_bytes(random_room(g));
  const block_cut cut(g.size, g.threads, g.threads > 1 ? tile_size : g.size);
  for_each_block(g.threads, cut.blocks, [&](int worker, std::int64_t b) {
    const std::int64_t first = cut.first(b), end = first + cut.size(b);
    if (to.linear)
      return fill({state[0], state[1], first, end - first, static_cast<T*>(data[1]) + first});
    void* const tile = static_cast<std::byte*>(scratch) + worker * room;
    for (std::int64_t at = first; at < end; at += tile_size) {
      const std::int64_t n = end - at < tile_size ? end - at : tile_size;
      fill({state[0], state[1], at, n, tile});
      scatter_tile(tile, data[1], static_cast<int>(sizeof(T)), g.extents, to.strides, g.rank, at,
                   n);
    }
  });
}

}  // namespace calque::detail
