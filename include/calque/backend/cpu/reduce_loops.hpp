// The vector loops of a reduction: a program over contiguous elements reduced to one, and one tile
// combined into another. Which loop runs where is decided in backend/cpu/reduce.hpp.
//
// The order of combination depends on sizes alone: several accumulators inside a block, their lanes
// by halves, blocks pairwise. So the bits repeat, and the error of a float sum grows with the
// logarithm of the number of blocks.
#pragma once

#include "calque/backend/cpu/map.hpp"

namespace calque::detail {

/// Elements that one call of a row loop reduces.
inline constexpr std::int64_t reduce_block = 2048;

/// Reduces n >= 1 contiguous elements of a program's value; the result goes to `data[result]`.
using row_function = void (*)(void* const* data, std::int64_t n, void* result);
/// to[i] = combine(to[i], from[i]).
using combine_function = void (*)(void* to, const void* from, std::int64_t n);
using fill_function = void (*)(void* to, std::int64_t n);

template <class P>
struct last_source;
template <class... I>
struct last_source<program<I...>> {
  template <int K, class T, int Src>
  static constexpr int source(store<K, T, Src>) { return Src; }
  template <class Other>
  static constexpr int source(Other) { return -1; }
  static constexpr int pick() {
    int s = -1;
    ((s = source(I{}) >= 0 ? source(I{}) : s), ...);
    return s;
  }
  static constexpr int value = pick();  // the register that the program's only store reads
};

/// Drops the stores: a row loop keeps the value in registers.
template <class P>
struct without_store;
template <class... I>
struct without_store<program<I...>> {
  template <class... A, class B>
  static constexpr auto drop(program<A...>, B) { return program<A..., B>{}; }
  template <class... A, int K, class T, int Src>
  static constexpr auto drop(program<A...>, store<K, T, Src>) { return program<A...>{}; }
  template <class Done>
  static constexpr auto all(Done d) { return d; }
  template <class Done, class B, class... Rest>
  static constexpr auto all(Done d, B b, Rest... rest) { return all(drop(d, b), rest...); }
  using type = decltype(all(program<>{}, I{}...));
};

template <class P, class Op, class T>
struct row_body {
  using combine = typename Op::combine;
  using body = typename without_store<P>::type;
  static constexpr int value = last_source<P>::value;

  template <int VB>
  CALQUE_INLINE static void run(void* const* data, std::int64_t n, void* result) {
    constexpr int widest = program_traits<body>::widest();
    constexpr int W = lane_width(VB, widest > lane_bytes<T> ? widest : lane_bytes<T>);
    registers<W, body> r;
    evaluate_uniform<W, body>(r, data);
    lane<T, W> acc0, acc1, acc2, acc3;
    lanes::splat<T, W>(acc0, Op::template identity<T>());
    acc1 = acc0, acc2 = acc0, acc3 = acc0;
    std::int64_t i = 0;
    for (; i + 4 * W <= n; i += 4 * W) {
      step<VB, W>(r, acc0, data, i);
      step<VB, W>(r, acc1, data, i + W);
      step<VB, W>(r, acc2, data, i + 2 * W);
      step<VB, W>(r, acc3, data, i + 3 * W);
    }
    if (i + W <= n) step<VB, W>(r, acc0, data, i), i += W;
    if (i + W <= n) step<VB, W>(r, acc1, data, i), i += W;
    if (i + W <= n) step<VB, W>(r, acc2, data, i), i += W;
    if (i < n) {
      const int rest = static_cast<int>(n - i);
      evaluate_window<W, false, body>(r, {data, i, rest});
      lane<T, W> v = at_reg<value, T, W>(r);
      T kept[W];
      lanes::store<T, W>(kept, v);
      for (int k = rest; k < W; ++k) kept[k] = Op::template identity<T>();
      lanes::load<T, W>(v, kept);
      combine::template lanes<T, W>(acc3, acc3, v);
    }
    combine::template lanes<T, W>(acc0, acc0, acc1);
    combine::template lanes<T, W>(acc2, acc2, acc3);
    combine::template lanes<T, W>(acc0, acc0, acc2);
    T part[W];
    lanes::store<T, W>(part, acc0);
    for (int h = W / 2; h > 0; h /= 2)
      for (int k = 0; k < h; ++k) part[k] = combine{}(part[k], part[k + h]);
    *static_cast<T*>(result) = part[0];
  }

 private:
  template <int VB, int W>
  CALQUE_INLINE static void step(registers<W, body>& r, lane<T, W>& acc, void* const* data,
                                 std::int64_t i) {
    evaluate_window<W, true, body>(r, {data, i, W});
    combine::template lanes<T, W>(acc, acc, at_reg<value, T, W>(r));
  }
};

template <class P, class Op, class T>
CALQUE_HIDDEN [[gnu::noinline]] void row_baseline(void* const* data, std::int64_t n, void* result) {
  row_body<P, Op, T>::template run<16>(data, n, result);
}
template <class P, class Op, class T>
CALQUE_HIDDEN CALQUE_TARGET_AVX2 [[gnu::noinline]] void row_avx2(void* const* data, std::int64_t n,
                                                                 void* result) {
  row_body<P, Op, T>::template run<32>(data, n, result);
}
template <class P, class Op, class T>
CALQUE_HIDDEN CALQUE_TARGET_AVX512 [[gnu::noinline]] void row_avx512(void* const* data,
                                                                     std::int64_t n, void* result) {
  row_body<P, Op, T>::template run<64>(data, n, result);
}

/// Two tiles into one, element by element.
template <class Op, class T>
using combine_program =
    program<load<0, T>, load<1, T>, ins<typename Op::combine, T, T, 0, 1>, store<2, T, 2>>;

template <class Op, class T>
CALQUE_HIDDEN void fill_identity(void* to, std::int64_t n) {
  T* p = static_cast<T*>(to);
  for (std::int64_t i = 0; i < n; ++i) p[i] = Op::template identity<T>();
}

}  // namespace calque::detail
