// The loops of a running reduction, for each instruction set.
//
// A line is cut into blocks of `scan_block` elements. Inside a block elements are combined from its
// first one on; the blocks before it join last, as one value: so each block's results depend on
// sizes alone, however many threads there are, and the error of a float sum grows with the number
// of blocks. Along a line a lane's own prefixes are made in log2 W steps; across lines (the axis is
// not the contiguous one) elements of many lines are combined side by side.
#pragma once

#include <cstring>

#include "calque/backend/cpu/isa.hpp"
#include "calque/backend/cpu/monoid.hpp"
#include "calque/backend/cpu/stream.hpp"
#include "calque/core/lane_shuffles.hpp"

namespace calque::detail {

/// Elements of a line whose results are combined from scratch.
inline constexpr std::int64_t scan_block = 4096;

/// A block: n >= 1 elements from `in` to `out`, which lie one after the other upwards (step 1) or
/// downwards (-1). `carry`: the combination of all before the block; null for the first. The last
/// result also goes to `last`, which may be where the carry was. With `past_caches`, which wants an
/// aligned `out` and step 1, the results are not read again soon.
struct scan_run {
  const void* in;
  void* out;
  std::int64_t n;
  int in_step, out_step;
  const void* carry;
  void* last;
  bool past_caches = false;
};
/// One element each of n lines: `local` holds their combinations in the block so far.
struct scan_line {
  const void* in;
  void* local;
  void* out;
  std::int64_t n;
  bool first;         // of the block
  const void* carry;  // as above, one each
};

template <class F, class T>
struct scan_loops {
  using m = monoid<F, T>;

  template <int VB>
  CALQUE_INLINE static void block(const scan_run& b) {
    if constexpr (m::on_lanes) {
      constexpr int W = lane_width(VB, lane_bytes<T>);
      if (b.carry) lanes_of<W, true>(b);
      else lanes_of<W, false>(b);
    } else {
      if (b.carry) scalars<true>(b);
      else scalars<false>(b);
    }
  }
  template <int VB>
  CALQUE_INLINE static void across(const scan_line& l) {
    const T* in = static_cast<const T*>(l.in);
    T *local = static_cast<T*>(l.local), *out = static_cast<T*>(l.out);
    const T* carry = static_cast<const T*>(l.carry);
    std::int64_t i = 0;
    if constexpr (m::on_lanes) {
      constexpr int W = lane_width(VB, lane_bytes<T>);
      for (; i + W <= l.n; i += W) {
        lane<T, W> v, other;
        lanes::load<T, W>(v, in + i);
        if (!l.first) {
          lanes::load<T, W>(other, local + i);
          m::template of<W>(v, other, v);
        }
        lanes::store<T, W>(local + i, v);
        if (carry) {
          lanes::load<T, W>(other, carry + i);
          m::template of<W>(v, other, v);
        }
        lanes::store<T, W>(out + i, v);
      }
    }
    for (; i < l.n; ++i) {
      local[i] = l.first ? in[i] : m::of(local[i], in[i]);
      out[i] = carry ? m::of(carry[i], local[i]) : local[i];
    }
  }

 private:
  template <bool Carried>
  CALQUE_INLINE static void scalars(const scan_run& b) {
    const T* in = static_cast<const T*>(b.in);
    T* out = static_cast<T*>(b.out);
    T sum = *in;
    for (std::int64_t i = 0;;) {
      if constexpr (Carried) *out = m::of(*static_cast<const T*>(b.carry), sum);
      else *out = sum;
      if (++i == b.n) break;
      in += b.in_step, out += b.out_step;
      sum = m::of(sum, *in);
    }
    *static_cast<T*>(b.last) = *out;
  }

  template <int W>
  struct state {
    lane<T, W> sum, carry, neutral;
  };
  template <int W, bool Carried>
  CALQUE_INLINE static void lanes_of(const scan_run& b) {
    const T* in = static_cast<const T*>(b.in);
    T* out = static_cast<T*>(b.out);
    state<W> s;
    lanes::splat<T, W>(s.neutral, m::neutral());
    if constexpr (Carried) lanes::splat<T, W>(s.carry, *static_cast<const T*>(b.carry));
    lane<T, W> v{};
    std::int64_t i = 0;
    if (W <= b.n) {
      get<W>(v, in, 0, b.in_step);
      next<W, Carried, true>(s, v);
      put<W>(b, 0, v);
      for (i = W; i + W <= b.n; i += W) {
        get<W>(v, in, i, b.in_step);
        next<W, Carried, false>(s, v);
        put<W>(b, i, v);
      }
    }
    T room[W];
    T& last = *static_cast<T*>(b.last);
    if (i == b.n) {
      lanes::store<T, W>(room, v);
      last = room[b.out_step > 0 ? W - 1 : 0];
      return;
    }
    for (std::int64_t k = 0; k < W; ++k)  // past the end: some element, whose results are dropped
      room[k] = in[b.in_step * (i + k < b.n ? i + k : b.n - 1)];
    lanes::load<T, W>(v, room);
    if (i == 0) next<W, Carried, true>(s, v);
    else next<W, Carried, false>(s, v);
    lanes::store<T, W>(room, v);
    for (std::int64_t k = 0; i + k < b.n; ++k) last = out[b.out_step * (i + k)] = room[k];
  }
  /// The next W elements to their results.
  template <int W, bool Carried, bool First>
  CALQUE_INLINE static void next(state<W>& s, lane<T, W>& v) {
    prefixes<W, 1>(v, s.neutral);
    lane<T, W> last;
    lanes::spread_last<T, W>(last, v);
    if constexpr (First) {
      s.sum = last;
    } else {
      m::template of<W>(v, s.sum, v);
      m::template of<W>(s.sum, s.sum, last);  // the bits that v's last element has
    }
    if constexpr (Carried) m::template of<W>(v, s.carry, v);
  }
  template <int W, int D>
  CALQUE_INLINE static void prefixes(lane<T, W>& v, const lane<T, W>& neutral) {
    lane<T, W> before;
    if constexpr (m::built_in) {
      lanes::shift_up<T, W, D>(before, v, neutral);
      m::template of<W>(v, before, v);
    } else {
      lane<T, W> both;
      lanes::shift_up<T, W, D>(before, v, v);
      m::template of<W>(both, before, v);
      lanes::keep_first<T, W, D>(v, v, both);
    }
    if constexpr (2 * D < W) prefixes<W, 2 * D>(v, neutral);
  }
  template <int W>
  CALQUE_INLINE static void get(lane<T, W>& v, const T* in, std::int64_t i, int step) {
    if (step > 0) {
      lanes::load<T, W>(v, in + i);
    } else {
      lanes::load<T, W>(v, in - i - (W - 1));
      lanes::reverse<T, W>(v, v);
    }
  }
  template <int W>
  CALQUE_INLINE static void put(const scan_run& b, std::int64_t i, lane<T, W>& v) {
    T* out = static_cast<T*>(b.out);
    if (b.past_caches) {
      stream_lane<T, W>(out + i, v);
    } else if (b.out_step > 0) {
      lanes::store<T, W>(out + i, v);
    } else {
      lanes::reverse<T, W>(v, v);
      lanes::store<T, W>(out - i - (W - 1), v);
    }
  }
};

#define CALQUE_SCAN_LOOPS(LEVEL, TARGET, BYTES)                                         \
  template <class F, class T>                                                           \
  CALQUE_HIDDEN TARGET [[gnu::noinline]] void scan_block_##LEVEL(const scan_run& b) {   \
    scan_loops<F, T>::template block<BYTES>(b);                                         \
  }                                                                                     \
  template <class F, class T>                                                           \
  CALQUE_HIDDEN TARGET [[gnu::noinline]] void scan_across_##LEVEL(const scan_line& l) { \
    scan_loops<F, T>::template across<BYTES>(l);                                        \
  }
CALQUE_SCAN_LOOPS(baseline, , 16)
CALQUE_SCAN_LOOPS(avx2, CALQUE_TARGET_AVX2, 32)
CALQUE_SCAN_LOOPS(avx512, CALQUE_TARGET_AVX512, 64)
#undef CALQUE_SCAN_LOOPS

/// The loops of a running reduction for the processor at hand.
struct scan_program {
  void (*block)(const scan_run&) = nullptr;
  void (*across)(const scan_line&) = nullptr;
  int bytes = 0;
};
template <class F, class T>
CALQUE_HIDDEN inline scan_program scan_program_of() {
  constexpr int bytes = static_cast<int>(sizeof(T));
#if CALQUE_X86()
  if constexpr (monoid<F, T>::on_lanes) {
    const isa level = best_isa();
    if (level == isa::avx512) return {&scan_block_avx512<F, T>, &scan_across_avx512<F, T>, bytes};
    if (level == isa::avx2) return {&scan_block_avx2<F, T>, &scan_across_avx2<F, T>, bytes};
  }
#endif
  return {&scan_block_baseline<F, T>, &scan_across_baseline<F, T>, bytes};
}

}  // namespace calque::detail
