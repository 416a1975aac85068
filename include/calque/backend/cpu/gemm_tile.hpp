// The innermost loops of the matrix product: register tiles on lanes, and packing.
//
// Generic in element type and lane width; each is run through `on<level>` by backend/cpu/gemm.hpp,
// which decides the blocking. Separate because these are compiled for every instruction set, the
// blocking is not.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "calque/core/config.hpp"
#include "calque/core/lanes.hpp"
#include "calque/core/saturate.hpp"

namespace calque::detail {

/// What a tile reads and writes. All strides count elements.
template <class T>
struct gemm_tile_args {
  std::int64_t k;
  const T* a;
  std::int64_t a_row, a_col;
  const T* b;
  std::int64_t b_step;  // column tile: between rows of b; dot tile: between columns of b
  T* c;
  std::int64_t c_row, c_col;
  int columns;      // how many of the tile's columns exist
  bool accumulate;  // add to what an earlier block of k left in c
};

template <class T>
CALQUE_INLINE void gemm_put(T& c, T value, bool accumulate) {
  c = accumulate ? wrap_add(c, value) : value;
}

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
  CALQUE_INLINE static void store_one(T* c, std::int64_t c_row, const lane<T, W>* sums,
                                      bool accumulate) {
    T* to = c + I / Vectors * c_row + I % Vectors * W;
    lane<T, W> sum = sums[I];
    if (accumulate) {
      lane<T, W> old;
      lanes::load<T, W>(old, to);
      lanes::add<T, W>(sum, old, sum);
    }
    lanes::store<T, W>(to, sum);
  }

  template <int W, int... I>
  CALQUE_INLINE static void store(const gemm_tile_args<T>& g, const lane<T, W>* sums,
                                  std::integer_sequence<int, I...>) {
    if (g.c_col == 1 && g.columns == Vectors * W) {
      (store_one<W, I>(g.c, g.c_row, sums, g.accumulate), ...);
      return;
    }
    T buffer[Rows * Vectors * W];
    (lanes::store<T, W>(buffer + I * W, sums[I]), ...);
    for (int j = 0; j < g.columns; ++j)
      for (int r = 0; r < Rows; ++r)
        gemm_put(g.c[r * g.c_row + j * g.c_col], buffer[r * Vectors * W + j], g.accumulate);
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

  template <int W, int... I>
  CALQUE_INLINE static void load_rest(lane<T, W>* x, const T* p, std::int64_t stride, int n,
                                      std::integer_sequence<int, I...>) {
    (lanes::load_partial<T, W>(x[I], p + I * stride, n, T(0)), ...);
  }

  // Halves are added until one element is left.
  template <int W>
  CALQUE_INLINE static T total(const lane<T, W>& v) {
    if constexpr (W == 2) {
      return wrap_add(lanes::at<T, 2>(v, 0), lanes::at<T, 2>(v, 1));
    } else {
      constexpr int half = W / 2;
      lane<T, half> low, high;
      std::memcpy(&low, &v, sizeof(low));
      std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof(low), sizeof(high));
      lanes::add<T, half>(low, low, high);
      return total<half>(low);
    }
  }

  template <int W, int... I>
  CALQUE_INLINE static void store(const gemm_tile_args<T>& g, const lane<T, W>* sums,
                                  std::integer_sequence<int, I...>) {
    (gemm_put(g.c[I / Columns * g.c_row + I % Columns * g.c_col], total<W>(sums[I]), g.accumulate),
     ...);
  }

  template <int Bytes>
  CALQUE_INLINE static void run(const gemm_tile_args<T>& g) {
    constexpr int W = lane_width(Bytes, sizeof(T));
    lane<T, W> sums[Rows * Columns] = {};
    lane<T, W> x[Rows], y[Columns];
    const T *a = g.a, *b = g.b;
    std::int64_t left = g.k;
    for (; left >= W; left -= W, a += W, b += W) {
      load_each<W>(x, a, g.a_row, std::make_integer_sequence<int, Rows>{});
      load_each<W>(y, b, g.b_step, std::make_integer_sequence<int, Columns>{});
      rows<W>(sums, x, y, std::make_integer_sequence<int, Rows>{});
    }
    if (left > 0) {
      load_rest<W>(x, a, g.a_row, static_cast<int>(left), std::make_integer_sequence<int, Rows>{});
      load_rest<W>(y, b, g.b_step, static_cast<int>(left),
                   std::make_integer_sequence<int, Columns>{});
      rows<W>(sums, x, y, std::make_integer_sequence<int, Rows>{});
    }
    store<W>(g, sums, std::make_integer_sequence<int, Rows * Columns>{});
  }
};

/// A strided `rows` x `columns` block to copy into rows of `pitch` contiguous elements, the rest of
/// each row zero.
template <class T>
struct gemm_pack_args {
  std::int64_t rows, columns, pitch;
  const T* from;
  std::int64_t row, col;
  T* to;
};

template <class T>
struct gemm_pack {
  template <int Bytes>
  CALQUE_INLINE static void run(const gemm_pack_args<T>& g) {
    constexpr int W = lane_width(Bytes, sizeof(T));
    if (g.col == 1) {
      for (std::int64_t i = 0; i < g.rows; ++i) {
        const T* from = g.from + i * g.row;
        T* to = g.to + i * g.pitch;
        lane<T, W> x;
        std::int64_t j = 0;
        for (; j + W <= g.columns; j += W) {
          lanes::load<T, W>(x, from + j);
          lanes::store<T, W>(to + j, x);
        }
        for (; j < g.columns; ++j) to[j] = from[j];
        for (; j < g.pitch; ++j) to[j] = T(0);
      }
      return;
    }
    const std::int64_t blocked_rows = g.row == 1 ? g.rows / 4 * 4 : 0;
    const std::int64_t blocked_columns = g.row == 1 ? g.columns / 4 * 4 : 0;
    for (std::int64_t j = 0; j < blocked_columns; j += 4)
      for (std::int64_t i = 0; i < blocked_rows; i += 4)
        transpose(g.to + i * g.pitch + j, g.pitch, g.from + i + j * g.col, g.col);
    for (std::int64_t i = 0; i < g.rows; ++i) {
      T* to = g.to + i * g.pitch;
      const T* from = g.from + i * g.row;
      std::int64_t j = i < blocked_rows ? blocked_columns : 0;
      for (; j < g.columns; ++j) to[j] = from[j * g.col];
      for (; j < g.pitch; ++j) to[j] = T(0);
    }
  }

 private:
  // Four elements of four rows become four elements of four columns.
  CALQUE_INLINE static void transpose(T* to, std::int64_t to_row, const T* from,
                                      std::int64_t from_row) {
    lane<T, 4> a, b, c, d;
    lanes::load<T, 4>(a, from);
    lanes::load<T, 4>(b, from + from_row);
    lanes::load<T, 4>(c, from + 2 * from_row);
    lanes::load<T, 4>(d, from + 3 * from_row);
    const lane<T, 4> ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const lane<T, 4> ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const lane<T, 4> cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const lane<T, 4> cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    lanes::store<T, 4>(to, a);
    lanes::store<T, 4>(to + to_row, b);
    lanes::store<T, 4>(to + 2 * to_row, c);
    lanes::store<T, 4>(to + 3 * to_row, d);
  }
};

}  // namespace calque::detail
