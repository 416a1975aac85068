// The vector loops of a reduction, for each instruction set: a program over a panel of rows,
// reduced along the rows or across them. What is a row and which loop runs is decided in
// reduce.hpp.
//
// The order of combination depends on sizes alone: along a row several accumulators, then their
// lanes by halves; across rows one after another. So the bits repeat.
#pragma once

#include <array>

#include "calque/backend/cpu/ahead.hpp"
#include "calque/backend/cpu/map.hpp"

namespace calque::detail {

/// Rows of n contiguous elements of each operand; operand k's rows begin `steps[k]` bytes apart.
struct panel {
  void* const* data;
  const std::int64_t* steps;
  std::int64_t rows, n;
  const std::int64_t* ahead = nullptr;  // bytes to what is wanted next; 0 for nothing
};
/// Reduces each of a panel's rows, n >= 1, to one of `results`.
using rows_function = void (*)(const panel& p, void* results);
/// Reduces a panel across its rows to n values, on top of those in `sums` unless these are the
/// first.
using columns_function = void (*)(const panel& p, void* sums, bool first);
using fill_function = void (*)(void* to, std::int64_t n);
using join_function = void (*)(void* to, const void* from);

/// A body's elementwise instructions, without its store: the loops keep the value in registers.
template <class P>
struct reduce_body;
template <class... I>
struct reduce_body<program<I...>> {
  template <class... A, class B>
  static constexpr auto keep(program<A...>, B) {
    return program<A..., B>{};
  }
  template <class... A, int K, class T, int Src>
  static constexpr auto keep(program<A...>, store<K, T, Src>) {
    return program<A...>{};
  }
  template <class Done>
  static constexpr auto all(Done d) {
    return d;
  }
  template <class Done, class B, class... Rest>
  static constexpr auto all(Done d, B b, Rest... rest) {
    return all(keep(d, b), rest...);
  }
  using type = decltype(all(program<>{}, I{}...));

  template <int K, class T, int Src>
  static constexpr int source(store<K, T, Src>) {
    return Src;
  }
  template <class Other>
  static constexpr int source(Other) {
    return 0;
  }
  static constexpr int value = (source(I{}) + ...);  // the register that its only store reads
};

/// Lanes of T as bits; those of bool are masks of int32.
template <class T>
using lane_bits = signed_bits<std::conditional_t<std::is_same_v<T, bool>, std::int32_t, T>>;

/// W words of ones, W of zeros, W of ones: lanes to leave out are those where a word is not 0.
template <class T, int W>
struct lane_masks {
  static constexpr auto make() {
    std::array<lane_bits<T>, 3 * W> m{};
    for (std::size_t k = 0; k < W; ++k) m[k] = m[2 * W + k] = -1;
    return m;
  }
  static constexpr auto value = make();
  static const lane_bits<T>* all_but_last(std::int64_t n) { return value.data() + n; }
  static const lane_bits<T>* from(std::int64_t n) { return value.data() + 2 * W - n; }
};

/// Several lanes' values of a reduction into one.
template <class Op, class T>
struct lane_fold {
  using combine = typename Op::combine;

  /// Puts the identity into the lanes that `mask` leaves out.
  template <int W>
  CALQUE_INLINE static void blank(lane<T, W>& v, const lane_bits<T>* mask) {
    lane<lane_bits<T>, W> out;
    lane<T, W> identity;
    lanes::load<lane_bits<T>, W>(out, mask);
    lanes::splat<T, W>(identity, Op::template identity<T>());
    using bits = lane<lane_bits<T>, W>;
    v = (lane<T, W>)(((bits)v & ~out) | ((bits)identity & out));
  }
  template <int W>
  CALQUE_INLINE static void fold(const lane<T, W>& v, T& result) {
    if constexpr (W == 2) {
      result = static_cast<T>(combine{}(lanes::at<T, W>(v, 0), lanes::at<T, W>(v, 1)));
    } else {
      lane<T, W / 2> half[2];
      std::memcpy(half, &v, sizeof(v));
      apply_lanes<combine, T, T, W / 2>(half[0], half[0], half[1]);
      fold<W / 2>(half[0], result);
    }
  }
};

template <class P, class Op, class T>
struct reduce_loops {
  using combine = typename Op::combine;
  using lanes_of = lane_fold<Op, T>;
  using body = typename reduce_body<P>::type;
  static constexpr int value = reduce_body<P>::value;
  static constexpr int operands = operands_of<body>.count;
  /// Short bodies run four at a time to hide the latency of combining; long ones do by themselves,
  /// and are compiled fewer times.
  static constexpr bool four_ways = body::size <= 6;
  /// Elements that one accumulator takes in a row before it joins the others: the rounding errors
  /// of a sum grow with it.
  static constexpr std::int64_t longest_chain = 32;
  /// Rows from this length on are long enough to ask for the pages of those after them.
  static constexpr std::int64_t long_line = 512;
  template <int VB>
  static constexpr int width() {
    constexpr int widest = program_traits<body>::widest();
    return lane_width(VB, widest > lane_bytes<T> ? widest : lane_bytes<T>);
  }

  template <int VB>
  CALQUE_INLINE static void rows(const panel& p, T* results) {
    constexpr int W = width<VB>();
    registers<W, body> r;
    evaluate_uniform<W, body>(r, p.data);
    void* data[operands];
    for (int k = 0; k < operands; ++k) data[k] = p.data[k];
    padding<W> room;
    for (std::int64_t row = 0; row < p.rows; ++row) {
      ask_ahead(p, data, row);
      one_row<W>(r, room, data, p.n, results[row]);
      advance(data, p.steps);
    }
  }

  template <int VB>
  CALQUE_INLINE static void columns(const panel& p, T* sums, bool first) {
    constexpr int W = width<VB>();
    const std::int64_t n = p.n;
    registers<W, body> r;
    evaluate_uniform<W, body>(r, p.data);
    padding<W> room;
    void* data[operands];
    for (int k = 0; k < operands; ++k) data[k] = p.data[k];
    // What is left of a line after whole lanes is its last W elements, some of them once more: they
    // have sums of their own, or those taken twice would count twice.
    alignas(64) T rest[W];
    const std::int64_t back = n < W ? 0 : n - W, left = n < W ? n : W;
    if (first)
      for (std::int64_t i = 0; i < n; ++i) sums[i] = Op::template identity<T>();
    for (std::int64_t i = 0; i < W; ++i) rest[i] = Op::template identity<T>();
    for (std::int64_t i = 0; i < left; ++i) rest[i] = sums[back + i];
    // Row by row, because the sums of a tile stay in the first-level cache, and rows that are read
    // as they lie come from memory at full speed.
    for (std::int64_t row = 0; row < p.rows; ++row) {
      std::int64_t i = 0;
      ask_ahead(p, data, row);
      if constexpr (four_ways)
        for (; i + 4 * W <= n; i += 4 * W) {
          step_at<W>(r, sums + i, data, i);
          step_at<W>(r, sums + i + W, data, i + W);
          step_at<W>(r, sums + i + 2 * W, data, i + 2 * W);
          step_at<W>(r, sums + i + 3 * W, data, i + 3 * W);
        }
      for (; i < n; i += W) {
        const bool whole = i + W <= n;
        step_at<W>(r, whole ? sums + i : rest, n < W ? room.filled(data, n) : data,
                   whole ? i : back);
      }
      advance(data, p.steps);
    }
    if (n % W != 0)
      for (std::int64_t i = 0; i < left; ++i) sums[back + i] = rest[i];
  }

 private:
  /// Room for lines shorter than W: so that they take the same code as whole lanes.
  template <int W>
  struct padding {
    alignas(64) std::byte bytes[operands][W * sizeof(std::int64_t)];
    void* data[operands];

    CALQUE_INLINE void* const* filled(void* const* from, std::int64_t n) {
      for (int k = 0; k < operands; ++k) {
        const operand_use& use = operands_of<body>.of[k];
        data[k] = use.uniform ? from[k] : bytes[k];
        if (!use.used || use.uniform) continue;
        std::memset(bytes[k], 0, sizeof(bytes[k]));
        take_elements<body>(bytes[k], from[k], n, use);
      }
      return data;
    }
  };
  /// Asks for the row after the next one.
  CALQUE_INLINE static void ask_ahead(const panel& p, void* const* data, std::int64_t row) {
    if (p.n < long_line || row + 2 >= p.rows) return;
    for (int k = 0; k < operands; ++k) {
      const operand_use& use = operands_of<body>.of[k];
      if (use.used && !use.uniform && use.counted == dtype::none)
        read_ahead(static_cast<const std::byte*>(data[k]) + 2 * p.steps[k], p.n * use.bytes);
    }
  }
  CALQUE_INLINE static void advance(void** data, const std::int64_t* steps) {
    for (int k = 0; k < operands; ++k) data[k] = static_cast<std::byte*>(data[k]) + steps[k];
  }
  template <int W>
  CALQUE_INLINE static void step(registers<W, body>& r, lane<T, W>& acc, void* const* data,
                                 std::int64_t i) {
    evaluate_window<W, true, body>(r, {data, i, W});
    apply_lanes<combine, T, T, W>(acc, acc, at_reg<value, T, W>(r));
  }
  template <int W>
  CALQUE_INLINE static void step_at(registers<W, body>& r, T* sums, void* const* data,
                                    std::int64_t i) {
    lane<T, W> acc;
    lanes::load<T, W>(acc, sums);
    step<W>(r, acc, data, i);
    lanes::store<T, W>(sums, acc);
  }
  template <int W>
  CALQUE_INLINE static void one_row(registers<W, body>& r, padding<W>& room, void* const* data,
                                    std::int64_t n, T& result) {
    lane<T, W> acc, none;
    lanes::splat<T, W>(none, Op::template identity<T>());
    acc = none;
    std::int64_t i = 0;
    constexpr int ways = four_ways ? 4 : 1;
    while (i + ways * W <= n) {
      const std::int64_t end = n - i < longest_chain * ways * W ? n : i + longest_chain * ways * W;
      lane<T, W> a = none, b = none, c = none, d = none;
      for (; i + ways * W <= end; i += ways * W) {
        step<W>(r, a, data, i);
        if constexpr (four_ways) {
          step<W>(r, b, data, i + W);
          step<W>(r, c, data, i + 2 * W);
          step<W>(r, d, data, i + 3 * W);
        }
      }
      if constexpr (four_ways) {
        apply_lanes<combine, T, T, W>(a, a, b);
        apply_lanes<combine, T, T, W>(c, c, d);
        apply_lanes<combine, T, T, W>(a, a, c);
      }
      apply_lanes<combine, T, T, W>(acc, acc, a);
    }
    for (; i < n; i += W) {
      const bool whole = i + W <= n;  // else the last W elements, without those of the lane before
      evaluate_window<W, true, body>(
          r, {n < W ? room.filled(data, n) : data, whole || n < W ? i : n - W, W});
      lane<T, W> v = at_reg<value, T, W>(r);
      if (n < W) lanes_of::template blank<W>(v, lane_masks<T, W>::from(n));
      else if (!whole) lanes_of::template blank<W>(v, lane_masks<T, W>::all_but_last(n - i));
      apply_lanes<combine, T, T, W>(acc, acc, v);
    }
    lanes_of::template fold<W>(acc, result);
  }
};

#define CALQUE_REDUCE_LOOPS(LEVEL, TARGET, BYTES)                                           \
  template <class P, class Op, class T>                                                     \
  CALQUE_HIDDEN TARGET [[gnu::noinline]] void rows_##LEVEL(const panel& p, void* results) { \
    reduce_loops<P, Op, T>::template rows<BYTES>(p, static_cast<T*>(results));              \
  }                                                                                         \
  template <class P, class Op, class T>                                                     \
  CALQUE_HIDDEN TARGET                                                                      \
      [[gnu::noinline]] void columns_##LEVEL(const panel& p, void* sums, bool first) {      \
    reduce_loops<P, Op, T>::template columns<BYTES>(p, static_cast<T*>(sums), first);       \
  }
CALQUE_REDUCE_LOOPS(baseline, , 16)
CALQUE_REDUCE_LOOPS(avx2, CALQUE_TARGET_AVX2, 32)
CALQUE_REDUCE_LOOPS(avx512, CALQUE_TARGET_AVX512, 64)
#undef CALQUE_REDUCE_LOOPS

/// Two tiles into one, element by element.
template <class Op, class T>
using combine_program =
    program<load<0, T>, load<1, T>, ins<typename Op::combine, T, T, 0, 1>, store<2, T, 2>>;

template <class Op, class T>
CALQUE_HIDDEN void fill_identity(void* to, std::int64_t n) {
  T* p = static_cast<T*>(to);
  for (std::int64_t i = 0; i < n; ++i) p[i] = Op::template identity<T>();
}

/// Two values into the first one.
template <class Op, class T>
CALQUE_HIDDEN void join_values(void* to, const void* from) {
  T* p = static_cast<T*>(to);
  *p = static_cast<T>(typename Op::combine{}(*p, *static_cast<const T*>(from)));
}

}  // namespace calque::detail
