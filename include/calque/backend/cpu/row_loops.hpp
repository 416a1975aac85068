// The vector loops of a rows cluster's sweeps, for each instruction set.
//
// A sweep runs along each row of a panel (`along`), or, where rows are short or their elements far
// apart, across a line of rows (`across`): then it is an elementwise program over the line, with
// the reductions' values so far as operands. rows.hpp decides. Bits depend on sizes alone.
#pragma once

#include "calque/backend/cpu/reduce_loops.hpp"

namespace calque::detail {

/// When an instruction of a sweep is computed: once for all, once a row, for each element.
enum class sweep_level : std::uint8_t { once, row, element };

// Variables: the members of a class template below are asked while it is incomplete.
template <class I>
inline constexpr bool is_store = false;
template <int K, class T, int Src>
inline constexpr bool is_store<store<K, T, Src>> = true;
template <class I>
inline constexpr bool is_fold = false;
template <class Op, class T, int Src, int K>
inline constexpr bool is_fold<row_fold<Op, T, Src, K>> = true;

template <class P>
struct sweep_traits;
template <class... I>
struct sweep_traits<program<I...>> {
  struct level_list {
    sweep_level of[sizeof...(I) + 1]{};
  };
  static constexpr level_list levels() {
    level_list l;
    int d = 0;
    ((l.of[d] = level(l, I{}), ++d), ...);
    return l;
  }
  static constexpr int slots() {
    int n = 1;
    ((n = slot(I{}) + 1 > n ? slot(I{}) + 1 : n), ...);
    return n;
  }
  static constexpr bool stores = (is_store<I> || ...);
  static constexpr int instructions = (!is_store<I> + ... + 0);
  /// Bytes of the element that is loaded from, or stored to, each slot.
  struct slot_bytes {
    int loaded[max_operands + 2]{}, stored[max_operands + 2]{};
    dtype counted[max_operands + 2]{};
  };
  static constexpr slot_bytes bytes() {
    slot_bytes b;
    (note(b, I{}), ...);
    return b;
  }

 private:
  template <int K, class T>
  static constexpr sweep_level level(const level_list&, splat<K, T>) {
    return sweep_level::once;
  }
  template <int K, class T>
  static constexpr sweep_level level(const level_list&, per_row<K, T>) {
    return sweep_level::row;
  }
  template <class Op, class Out, class In, int... Src>
  static constexpr sweep_level level(const level_list& l, ins<Op, Out, In, Src...>) {
    sweep_level most = sweep_level::once;
    ((most = l.of[Src] > most ? l.of[Src] : most), ...);
    return most;
  }
  template <class Other>
  static constexpr sweep_level level(const level_list&, Other) {
    return sweep_level::element;
  }
  template <int K, class T>
  static constexpr int slot(load<K, T>) {
    return K;
  }
  template <int K, class T>
  static constexpr int slot(count_index<K, T>) {
    return K;
  }
  template <int K, class T>
  static constexpr int slot(splat<K, T>) {
    return K;
  }
  template <int K, class T>
  static constexpr int slot(per_row<K, T>) {
    return K;
  }
  template <int K, class T, int Src>
  static constexpr int slot(store<K, T, Src>) {
    return K;
  }
  template <class Op, class T, int Src, int K>
  static constexpr int slot(row_fold<Op, T, Src, K>) {
    return K;
  }
  template <class Other>
  static constexpr int slot(Other) {
    return 0;
  }
  template <int K, class T>
  static constexpr void note(slot_bytes& b, load<K, T>) {
    b.loaded[K] = sizeof(T);
  }
  template <int K, class T>
  static constexpr void note(slot_bytes& b, count_index<K, T>) {
    b.loaded[K] = sizeof(T);
    b.counted[K] = dtype_of<T>;
  }
  template <int K, class T, int Src>
  static constexpr void note(slot_bytes& b, store<K, T, Src>) {
    b.stored[K] = sizeof(T);
  }
  template <class Other>
  static constexpr void note(slot_bytes&, Other) {}
};

template <int D, int W, bool Full, int K, class T, class R>
CALQUE_INLINE void step(per_row<K, T>, R& r, const lane_window& w) {
  lanes::splat<T, W>(at_reg<D, T, W>(r), *static_cast<const T*>(w.data[K]));
}

/// The loops of sweep `P`.
template <class P>
struct sweep_loops;
template <class... I>
struct sweep_loops<program<I...>> {
  using P = program<I...>;
  using traits = sweep_traits<P>;
  using numbers = std::make_integer_sequence<int, P::size>;
  static constexpr auto levels = traits::levels();
  static constexpr auto bytes = traits::bytes();
  static constexpr int slots = traits::slots();
  /// Short programs keep four accumulators to hide the latency of combining.
  static constexpr int ways = traits::instructions <= 8 && !traits::stores ? 4 : 1;
  static constexpr std::int64_t longest_chain = 32;

  template <int VB>
  CALQUE_INLINE static void along(const panel& p) {
    constexpr int W = lane_width(VB, program_traits<P>::widest());
    registers<W, P> r, last;
    evaluate<sweep_level::once, false, W>(r, {p.data, 0, W}, numbers{});
    evaluate<sweep_level::once, false, W>(last, {p.data, 0, W}, numbers{});
    void* data[slots];
    std::int64_t ahead[slots];
    for (int k = 0; k < slots; ++k) {
      data[k] = p.data[k];
      ahead[k] = p.ahead != nullptr ? p.ahead[k] : 0;
    }
    for (std::int64_t row = 0; row < p.rows; ++row) {
      evaluate<sweep_level::row, false, W>(r, {data, 0, W}, numbers{});
      one_row<W>(r, last, data, ahead, p.n, numbers{});
      for (int k = 0; k < slots; ++k) data[k] = static_cast<std::byte*>(data[k]) + p.steps[k];
    }
  }

 private:
  template <sweep_level L, bool Stores, int W, class R, int... D>
  CALQUE_INLINE static void evaluate(R& r, const lane_window& w, std::integer_sequence<int, D...>) {
    (evaluate_one<L, Stores, D, W>(I{}, r, w), ...);
  }
  template <sweep_level L, bool Stores, int D, int W, class J, class R>
  CALQUE_INLINE static void evaluate_one(J j, R& r, const lane_window& w) {
    if constexpr (levels.of[D] == L && is_store<J> == Stores && !is_fold<J>)
      step<D, W, true>(j, r, w);
  }
  // accumulators lie in the folds' own registers of a register file
  template <int W, int D, class J>
  CALQUE_INLINE static void start(J, registers<W, P>&) {}
  template <int W, int D, class Op, class T, int Src, int K>
  CALQUE_INLINE static void start(row_fold<Op, T, Src, K>, registers<W, P>& a) {
    lanes::splat<T, W>(at_reg<D, T, W>(a), Op::template identity<T>());
  }
  template <int W, int D, class J>
  CALQUE_INLINE static void take(J, registers<W, P>&, const registers<W, P>&) {}
  template <int W, int D, class Op, class T, int Src, int K>
  CALQUE_INLINE static void take(row_fold<Op, T, Src, K>, registers<W, P>& a,
                                 const registers<W, P>& r) {
    apply_lanes<typename Op::combine, T, T, W>(at_reg<D, T, W>(a), at_reg<D, T, W>(a),
                                               at_reg<Src, T, W>(r));
  }
  template <int W, int D, class J>
  CALQUE_INLINE static void join(J, registers<W, P>&, const registers<W, P>&) {}
  template <int W, int D, class Op, class T, int Src, int K>
  CALQUE_INLINE static void join(row_fold<Op, T, Src, K>, registers<W, P>& a,
                                 const registers<W, P>& b) {
    apply_lanes<typename Op::combine, T, T, W>(at_reg<D, T, W>(a), at_reg<D, T, W>(a),
                                               at_reg<D, T, W>(b));
  }
  /// The last lane of a row: `rest` of its elements have not been taken yet, the last ones of W or,
  /// in a row of fewer, the first.
  template <int W, int D, class J>
  CALQUE_INLINE static void take_rest(J, registers<W, P>&, const registers<W, P>&, bool,
                                      std::int64_t) {}
  template <int W, int D, class Op, class T, int Src, int K>
  CALQUE_INLINE static void take_rest(row_fold<Op, T, Src, K>, registers<W, P>& a,
                                      const registers<W, P>& r, bool short_row, std::int64_t rest) {
    lane<T, W> v = at_reg<Src, T, W>(r);
    lane_fold<Op, T>::template blank<W>(
        v, short_row ? lane_masks<T, W>::from(rest) : lane_masks<T, W>::all_but_last(rest));
    apply_lanes<typename Op::combine, T, T, W>(at_reg<D, T, W>(a), at_reg<D, T, W>(a), v);
  }
  /// Asks for what a later sweep begins with, so that it arrives while this one computes. Not in
  /// light sweeps: they load as fast as they can, and the processor looks ahead itself.
  template <int W, class J>
  CALQUE_INLINE static void want(J, void* const*, const std::int64_t*, std::int64_t) {}
  template <int W, int K, class T>
  CALQUE_INLINE static void want(load<K, T>, void* const* data, const std::int64_t* ahead,
                                 std::int64_t i) {
    __builtin_prefetch(static_cast<const std::byte*>(data[K]) +
                           i * static_cast<std::int64_t>(sizeof(T)) + ahead[K],
                       0, 2);
  }
  template <int W, int D, class J>
  CALQUE_INLINE static void finish(J, const registers<W, P>&, void* const*) {}
  template <int W, int D, class Op, class T, int Src, int K>
  CALQUE_INLINE static void finish(row_fold<Op, T, Src, K>, const registers<W, P>& a,
                                   void* const* data) {
    lane_fold<Op, T>::template fold<W>(at_reg<D, T, W>(a), *static_cast<T*>(data[K]));
  }

  template <int W, int... D>
  CALQUE_INLINE static void one_row(registers<W, P>& r, registers<W, P>& last, void* const* data,
                                    const std::int64_t* ahead, std::int64_t n,
                                    std::integer_sequence<int, D...> all) {
    registers<W, P> total;
    (start<W, D>(I{}, total), ...);
    const bool short_row = n < W;
    const std::int64_t rest = n % W;
    // the last elements first, their results kept aside: a result may lie where an operand is
    alignas(64) std::byte room[slots][W * sizeof(std::int64_t)];
    if (rest != 0) {
      void* tail[slots];
      for (int k = 0; k < slots; ++k) {
        tail[k] = bytes.stored[k] != 0 || (short_row && bytes.loaded[k] != 0) ? room[k] : data[k];
        if (bytes.loaded[k] == 0) continue;
        if (short_row) {
          std::memset(room[k], 0, static_cast<std::size_t>(W * bytes.loaded[k]));
          take_elements<P>(room[k], data[k], n,
                           {true, false, false, bytes.loaded[k], true, bytes.counted[k]});
        } else {
          tail[k] = static_cast<std::byte*>(data[k]) + (n - W) * bytes.loaded[k];
        }
      }
      evaluate<sweep_level::row, false, W>(last, {data, 0, W}, all);
      evaluate<sweep_level::element, false, W>(last, {tail, 0, W}, all);
      evaluate<sweep_level::element, true, W>(last, {tail, 0, W}, all);
      (take_rest<W, D>(I{}, total, last, short_row, rest), ...);
    }
    std::int64_t i = 0;
    while (i + ways * W <= n) {
      const std::int64_t end = n - i < longest_chain * ways * W ? n : i + longest_chain * ways * W;
      registers<W, P> a, b, c, d;
      (start<W, D>(I{}, a), ...);
      if constexpr (ways == 4)
        (start<W, D>(I{}, b), ...), (start<W, D>(I{}, c), ...), (start<W, D>(I{}, d), ...);
      for (; i + ways * W <= end; i += ways * W) {
        one_window<W>(r, a, data, ahead, i, all);
        if constexpr (ways == 4) {
          one_window<W>(r, b, data, ahead, i + W, all);
          one_window<W>(r, c, data, ahead, i + 2 * W, all);
          one_window<W>(r, d, data, ahead, i + 3 * W, all);
        }
      }
      if constexpr (ways == 4)
        (join<W, D>(I{}, a, b), ...), (join<W, D>(I{}, c, d), ...), (join<W, D>(I{}, a, c), ...);
      (join<W, D>(I{}, total, a), ...);
    }
    if constexpr (ways > 1)
      for (; i + W <= n; i += W) one_window<W>(r, total, data, ahead, i, all);
    if (rest != 0)
      for (int k = 0; k < slots; ++k) {
        if (bytes.stored[k] == 0) continue;
        if (short_row) {
          std::memcpy(data[k], room[k], static_cast<std::size_t>(n * bytes.stored[k]));
        } else {
          const auto size = static_cast<std::size_t>(bytes.stored[k]);
          std::memcpy(static_cast<std::byte*>(data[k]) + (n - W) * bytes.stored[k], room[k],
                      W * size);
        }
      }
    (finish<W, D>(I{}, total, data), ...);
  }
  template <int W, int... D>
  CALQUE_INLINE static void one_window(registers<W, P>& r, registers<W, P>& a, void* const* data,
                                       const std::int64_t* ahead, std::int64_t i,
                                       std::integer_sequence<int, D...> all) {
    if constexpr (heavy_program<P>) (want<W>(I{}, data, ahead, i), ...);
    evaluate<sweep_level::element, false, W>(r, {data, i, W}, all);
    if constexpr (traits::stores) evaluate<sweep_level::element, true, W>(r, {data, i, W}, all);
    (take<W, D>(I{}, a, r), ...);
  }
};

template <class P>
CALQUE_HIDDEN [[gnu::noinline]] void sweep_baseline(const panel& p) {
  sweep_loops<P>::template along<16>(p);
}
template <class P>
CALQUE_HIDDEN CALQUE_TARGET_AVX2 [[gnu::noinline]] void sweep_avx2(const panel& p) {
  sweep_loops<P>::template along<32>(p);
}
template <class P>
CALQUE_HIDDEN CALQUE_TARGET_AVX512 [[gnu::noinline]] void sweep_avx512(const panel& p) {
  sweep_loops<P>::template along<64>(p);
}

/// A sweep across a line of rows, as an elementwise program; `OfLine` has a bit for each operand
/// that is the same in all rows.
template <class P, std::uint64_t OfLine>
struct sweep_across;
template <class... I, std::uint64_t OfLine>
struct sweep_across<program<I...>, OfLine> {
  static_assert(max_operands <= 64);
  template <class J>
  static constexpr auto body(J) {
    return program<J>{};
  }
  template <int K, class T>
  static constexpr auto body(load<K, T>) {
    if constexpr ((OfLine >> K & 1) != 0) return program<splat<K, T>>{};
    else return program<load<K, T>>{};
  }
  template <int K, class T>
  static constexpr auto body(count_index<K, T>) {
    if constexpr ((OfLine >> K & 1) != 0) return program<splat_index<K, T>>{};
    else return program<count_index<K, T>>{};
  }
  template <int K, class T>
  static constexpr auto body(per_row<K, T>) {
    return program<load<K, T>>{};
  }
  template <class Op, class T, int Src, int K>
  static constexpr auto body(row_fold<Op, T, Src, K>) {
    return program<>{};
  }
  /// Folds come last in a sweep, so the registers before them keep their numbers.
  template <class... Done>
  static constexpr auto folds(program<Done...> p) {
    return p;
  }
  template <class... Done, class J, class... Rest>
  static constexpr auto folds(program<Done...> p, J, Rest... rest) {
    return folds(p, rest...);
  }
  template <class... Done, class Op, class T, int Src, int K, class... Rest>
  static constexpr auto folds(program<Done...>, row_fold<Op, T, Src, K>, Rest... rest) {
    constexpr int d = sizeof...(Done);
    return folds(
        program<Done..., load<K, T>, ins<typename Op::combine, T, T, d, Src>, store<K, T, d + 1>>{},
        rest...);
  }
  template <class... A, class... B, class... Rest>
  static constexpr auto joined(program<A...>, program<B...>, Rest... rest) {
    return joined(program<A..., B...>{}, rest...);
  }
  template <class... A>
  static constexpr auto joined(program<A...> p) {
    return p;
  }
  using type = decltype(folds(joined(program<>{}, body(I{})...), I{}...));
};

}  // namespace calque::detail
