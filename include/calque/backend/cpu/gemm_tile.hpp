// The innermost loops of the matrix product: register tiles on lanes.
//
// Generic in element type and lane width; each is run through `on<level>` by backend/cpu/gemm.hpp,
// which decides the blocking. Separate because these are compiled for every instruction set, the
// blocking is not.
#pragma once

#include <cstdint>
#include <utility>

#include "calque/core/config.hpp"
#include "calque/core/lane_shuffles.hpp"
#include "calque/core/lanes.hpp"

namespace calque::detail {

/// What a tile reads and writes. All strides count elements.
template <class T>
struct gemm_tile_args {
  std::int64_t k;
  const T* a;
  std::int64_t a_row, a_col;
  const T* b;
  std::int64_t b_step;  // column tile: between rows of b; dot tile: between columns of b
  T* sums;              // column tile: rows of whole lanes; dot tile: for each sum one lane of 4
  std::int64_t sums_row;
  bool accumulate;         // column tile: add to what an earlier block of k left there
  std::int64_t ahead = 0;  // dot tile: if not 0, elements of a to fetch that lie so far ahead
};

/// `Rows` x (`Vectors` lanes) of c: lanes run along the rows of b, contiguous and padded to whole
/// lanes; each element of a meets a row of b.
template <class T, int Rows, int Vectors>
struct gemm_column_tile {
  template <int W, int R, int... V>
  CALQUE_INLINE static void row(lane<T, W>* sums, T x, const lane<T, W>* b,
                                std::integer_sequence<int, V...>) {
    lane<T, W> a;
    lanes::splat<T, W>(a, x);
    (lanes::multiply_add<T, W>(sums[R * Vectors + V], a, b[V]), ...);
  }

  // Rows by groups of four: two pointers and three offsets address them all.
  template <int W, int... R>
  CALQUE_INLINE static void rows(lane<T, W>* sums, const T* low, const T* high, std::int64_t a_row,
                                 const lane<T, W>* b, std::integer_sequence<int, R...>) {
    (row<W, R>(sums, (R < 4 ? low : high)[(R % 4) * a_row], b,
               std::make_integer_sequence<int, Vectors>{}),
     ...);
  }

  template <int W, int... V>
  CALQUE_INLINE static void load_row(lane<T, W>* b, const T* p, std::integer_sequence<int, V...>) {
    (lanes::load<T, W>(b[V], p + V * W), ...);
  }

  template <int W, int I>
  CALQUE_INLINE static void store_one(const gemm_tile_args<T>& g, const lane<T, W>* sums) {
    T* to = g.sums + I / Vectors * g.sums_row + I % Vectors * W;
    lane<T, W> sum = sums[I];
    if (g.accumulate) {
      lane<T, W> old;
      lanes::load<T, W>(old, to);
      lanes::add<T, W>(sum, old, sum);
    }
    lanes::store<T, W>(to, sum);
  }

  template <int W, int... I>
  CALQUE_INLINE static void store(const gemm_tile_args<T>& g, const lane<T, W>* sums,
                                  std::integer_sequence<int, I...>) {
    (store_one<W, I>(g, sums), ...);
  }

  template <int Bytes>
  CALQUE_INLINE static void run(const gemm_tile_args<T>& g) {
    constexpr int W = lane_width(Bytes, sizeof(T));
    lane<T, W> sums[Rows * Vectors] = {};
    const T *low = g.a, *high = Rows > 4 ? g.a + 4 * g.a_row : g.a, *b = g.b;
    const std::int64_t a_row = g.a_row, a_col = g.a_col, b_step = g.b_step;
    for (std::int64_t p = g.k; p > 0; --p, low += a_col, high += a_col, b += b_step) {
      lane<T, W> x[Vectors];
      load_row<W>(x, b, std::make_integer_sequence<int, Vectors>{});
      rows<W>(sums, low, high, a_row, x, std::make_integer_sequence<int, Rows>{});
    }
    store<W>(g, sums, std::make_integer_sequence<int, Rows * Vectors>{});
  }
};

/// A mask of n lanes that keeps the last m begins at 64 - n + m.
struct gemm_keep_table {
  std::int32_t of[128]{};
  constexpr gemm_keep_table() {
    for (int i = 64; i < 128; ++i) of[i] = -1;
  }
};
CALQUE_HIDDEN inline constexpr gemm_keep_table gemm_keeps{};

/// `Rows` x `Columns` of c: lanes run along k, where rows of a and columns of b are contiguous.
template <class T, int Rows, int Columns>
struct gemm_dot_tile {
  template <int W, int R, int... J>
  CALQUE_INLINE static void row(lane<T, W>* sums, const lane<T, W>& a, const lane<T, W>* b,
                                std::integer_sequence<int, J...>) {
    (lanes::multiply_add<T, W>(sums[R * Columns + J], a, b[J]), ...);
  }

  template <int W, int... R>
  CALQUE_INLINE static void rows(lane<T, W>* sums, const lane<T, W>* a, const lane<T, W>* b,
                                 std::integer_sequence<int, R...>) {
    (row<W, R>(sums, a[R], b, std::make_integer_sequence<int, Columns>{}), ...);
  }

  template <int W, int... I>
  CALQUE_INLINE static void load_each(lane<T, W>* x, const T* p, std::int64_t stride,
                                      std::integer_sequence<int, I...>) {
    (lanes::load<T, W>(x[I], p + I * stride), ...);
  }

  // The last `left` of k elements, all others 0.
  template <int W>
  CALQUE_INLINE static void load_last(lane<T, W>& x, const T* p, const lane<bool, W>& keep,
                                      bool whole, int left) {
    if (whole) {  // a lane that ends where they do
      const lane<T, W> zero{};
      lanes::load<T, W>(x, p + left - W);
      lanes::select<T, W>(x, keep, x, zero);
    } else {
      lanes::load_partial<T, W>(x, p, left, T(0));
    }
  }
  template <int W, int... I>
  CALQUE_INLINE static void load_rest(lane<T, W>* x, const T* p, std::int64_t stride,
                                      const lane<bool, W>& keep, bool whole, int left,
                                      std::integer_sequence<int, I...>) {
    (load_last<W>(x[I], p + I * stride, keep, whole, left), ...);
  }

  // Halves are added until four elements are left, or fewer.
  template <int W>
  CALQUE_INLINE static void fold(lane<T, (W < 4 ? W : 4)>& r, const lane<T, W>& v) {
    if constexpr (W <= 4) {
      r = v;
    } else {
      lane<T, W / 2> low, high;
      lanes::half<T, W, 0>(low, v);
      lanes::half<T, W, 1>(high, v);
      lanes::add<T, W / 2>(low, low, high);
      fold<W / 2>(r, low);
    }
  }

  template <int W, int... I>
  CALQUE_INLINE static void store(T* to, const lane<T, W>* sums, std::integer_sequence<int, I...>) {
    lane<T, (W < 4 ? W : 4)> folded;
    ((fold<W>(folded, sums[I]), lanes::store<T, (W < 4 ? W : 4)>(to + 4 * I, folded)), ...);
  }

  template <int... R>
  CALQUE_INLINE static void fetch(const T* a, std::int64_t a_row,
                                  std::integer_sequence<int, R...>) {
    (__builtin_prefetch(a + R * a_row, 0, 2), ...);
  }

  template <int Bytes>
  CALQUE_INLINE static void run(const gemm_tile_args<T>& g) {
    constexpr int W = lane_width(Bytes, sizeof(T));
    lane<T, W> sums[Rows * Columns] = {};
    lane<T, W> x[Rows], y[Columns];
    const T *a = g.a, *b = g.b;
    std::int64_t left = g.k;
    for (; left >= W; left -= W, a += W, b += W) {
      if (g.ahead != 0) fetch(a + g.ahead, g.a_row, std::make_integer_sequence<int, Rows>{});
      load_each<W>(x, a, g.a_row, std::make_integer_sequence<int, Rows>{});
      load_each<W>(y, b, g.b_step, std::make_integer_sequence<int, Columns>{});
      rows<W>(sums, x, y, std::make_integer_sequence<int, Rows>{});
    }
    if (left > 0) {
      const int n = static_cast<int>(left);
      lane<bool, W> keep;
      lanes::load<std::int32_t, W>(keep, &gemm_keeps.of[64 - W + n]);
      load_rest<W>(x, a, g.a_row, keep, g.k >= W, n, std::make_integer_sequence<int, Rows>{});
      load_rest<W>(y, b, g.b_step, keep, g.k >= W, n, std::make_integer_sequence<int, Columns>{});
      rows<W>(sums, x, y, std::make_integer_sequence<int, Rows>{});
    }
    store<W>(g.sums, sums, std::make_integer_sequence<int, Rows * Columns>{});
  }
};

}  // namespace calque::detail
