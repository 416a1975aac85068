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
#include "calque/core/lane_shuffles.hpp"
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
inline constexpr gemm_keep_table gemm_keeps{};

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

/// How many columns are turned into rows at once, by fours: as many as fit a lane, and `most`.
constexpr int turned_at_once(int width, int most) {
  return width < 4 ? 4 : width > most ? most : width;
}

/// Sums that a tile left aside, on their way to c.
template <class T>
struct gemm_unload_args {
  int rows, columns;
  const T* sums;
  std::int64_t sums_row;
  T* c;
  std::int64_t c_row, c_col;
  bool accumulate;
};

template <class T>
CALQUE_INLINE void gemm_put(T& c, T value, bool accumulate) {
  c = accumulate ? wrap_add(c, value) : value;
}

/// Fewer than W elements: twice the largest half that fits, once from each end.
template <class T, int W>
CALQUE_INLINE void gemm_copy_fewer(T* to, const T* from, int n) {
  constexpr int H = W / 2;
  if (n >= H) {
    T low[H], high[H];
    std::memcpy(low, from, sizeof low);
    std::memcpy(high, from + n - H, sizeof high);
    std::memcpy(to, low, sizeof low);
    std::memcpy(to + n - H, high, sizeof high);
  } else if constexpr (H > 1) {
    gemm_copy_fewer<T, H>(to, from, n);
  }
}

/// Rows of sums to columns that are not whole lanes, or to rows of a transposed c.
template <class T>
struct gemm_unload {
  template <int Bytes>
  CALQUE_INLINE static void run(const gemm_unload_args<T>& g) {
    constexpr int W = lane_width(Bytes, sizeof(T)), most = turned_at_once(W, 16);
    int r = 0;
    if (g.c_col == 1) {
      for (; r < g.rows; ++r)
        for (int j = 0; j < g.columns; j += W)
          put<W>(g.c + r * g.c_row + j, g.sums + r * g.sums_row + j, g.columns - j, g.accumulate);
    } else if (g.c_row == 1 && g.accumulate) {
      for (; r + 4 <= g.rows; r += 4) turn<most, true>(g, r);
    } else if (g.c_row == 1 && g.rows >= 4) {
      for (; r < g.rows; r += 4) turn<most, false>(g, r + 4 <= g.rows ? r : g.rows - 4);
    }
    for (; r < g.rows; ++r)
      for (int j = 0; j < g.columns; ++j)
        gemm_put(g.c[r * g.c_row + j * g.c_col], g.sums[r * g.sums_row + j], g.accumulate);
  }

 private:
  template <int W>
  CALQUE_INLINE static void put(T* to, const T* from, int n, bool accumulate) {
    if (n < W && !accumulate) return gemm_copy_fewer<T, W>(to, from, n);
    lane<T, W> sum, old;
    lanes::load<T, W>(sum, from);
    if (accumulate) {
      if (n >= W) lanes::load<T, W>(old, to);
      else lanes::load_partial<T, W>(old, to, n, T(0));
      lanes::add<T, W>(sum, old, sum);
    }
    if (n >= W) lanes::store<T, W>(to, sum);
    else lanes::store_partial<T, W>(to, sum, n);
  }
  // Four rows of sums lie together in each row of c.
  template <int N, bool Accumulate>
  CALQUE_INLINE static void turn(const gemm_unload_args<T>& g, int r) {
    int j = 0;
    for (; j + N <= g.columns; j += N) turn_columns<N, Accumulate>(g, r, j, N);
    if (j < g.columns) turn_columns<N, Accumulate>(g, r, j, g.columns - j);
  }
  template <int N, bool Accumulate>
  CALQUE_INLINE static void turn_columns(const gemm_unload_args<T>& g, int r, int j, int n) {
    const T* const from = g.sums + r * g.sums_row + j;
    T* const to = g.c + r + j * g.c_col;
    lane<T, N> x[4];
    for (int q = 0; q < 4; ++q) lanes::load<T, N>(x[q], from + q * g.sums_row);
    lanes::transpose_fours<T, N>(x[0], x[1], x[2], x[3]);
    put_fours<N, Accumulate>(to, x[0], g.c_col, n);
    put_fours<N, Accumulate>(to + g.c_col, x[1], g.c_col, n - 1);
    put_fours<N, Accumulate>(to + 2 * g.c_col, x[2], g.c_col, n - 2);
    put_fours<N, Accumulate>(to + 3 * g.c_col, x[3], g.c_col, n - 3);
  }
  // Every fourth of the next n rows of c.
  template <int N, bool Accumulate>
  CALQUE_INLINE static void put_fours(T* to, const lane<T, N>& x, std::int64_t c_col, int n) {
    if constexpr (N > 4) {
      lane<T, N / 2> part;
      lanes::half<T, N, 0>(part, x);
      put_fours<N / 2, Accumulate>(to, part, c_col, n);
      lanes::half<T, N, 1>(part, x);
      put_fours<N / 2, Accumulate>(to + N / 2 * c_col, part, c_col, n - N / 2);
    } else if (n > 0) {
      lane<T, 4> sum = x, old;
      if constexpr (Accumulate) {
        lanes::load<T, 4>(old, to);
        lanes::add<T, 4>(sum, old, sum);
      }
      lanes::store<T, 4>(to, sum);
    }
  }
};

/// Adds up the lanes that a dot tile left; the order is the same for all tiles.
template <class T>
struct gemm_total {
  template <int Bytes>
  CALQUE_INLINE static void run(const gemm_unload_args<T>& g) {
    constexpr int W = lane_width(Bytes, sizeof(T));
    for (int r = 0; r < g.rows; ++r)
      for (int j = 0; j < g.columns; ++j) {
        const T* x = g.sums + 4 * (r * g.columns + j);
        T sum;
        if constexpr (W < 4) sum = wrap_add(x[0], x[1]);
        else sum = wrap_add(wrap_add(x[0], x[2]), wrap_add(x[1], x[3]));
        gemm_put(g.c[r * g.c_row + j * g.c_col], sum, g.accumulate);
      }
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
    constexpr int W = lane_width(Bytes, sizeof(T)), most = turned_at_once(W, 8);
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
        if (j < g.pitch) {
          const lane<T, W> zero{};
          lanes::store<T, W>(to + j, zero);
          gemm_copy_fewer<T, W>(to + j, from + j, static_cast<int>(g.columns - j));
        }
      }
      return;
    }
    std::int64_t done = 0;  // columns that are moved by fours
    if (g.row == 1 && g.rows >= 4) {
      strips<most>(g, done);
      if constexpr (most > 4) strips<4>(g, done);
    }
    for (std::int64_t i = done < g.pitch ? 0 : g.rows; i < g.rows; ++i) {
      T* to = g.to + i * g.pitch;
      const T* from = g.from + i * g.row;
      std::int64_t j = done;
      for (; j < g.columns; ++j) to[j] = from[j * g.col];
      for (; j < g.pitch; ++j) to[j] = T(0);
    }
  }

 private:
  // Rows by fours; the last four may be some of those before.
  template <int N>
  CALQUE_INLINE static void strips(const gemm_pack_args<T>& g, std::int64_t& done) {
    const std::int64_t column = g.col, pitch = g.pitch;
    for (; done + N <= g.columns; done += N) {
      const T* from = g.from + done * column;
      T* to = g.to + done;
      std::int64_t rows = g.rows;
      for (; rows >= 4; rows -= 4, from += 4, to += 4 * pitch) turn<N>(to, pitch, from, column);
      if (rows > 0) turn<N>(to + (rows - 4) * pitch, pitch, from + (rows - 4), column);
    }
  }
  // Four elements of each of N columns become N elements of four rows.
  template <int N>
  CALQUE_INLINE static void turn(T* to, std::int64_t pitch, const T* from, std::int64_t column) {
    lane<T, N> a, b, c, d;
    every_fourth<N>(a, from, column);
    every_fourth<N>(b, from + column, column);
    every_fourth<N>(c, from + 2 * column, column);
    every_fourth<N>(d, from + 3 * column, column);
    lanes::transpose_fours<T, N>(a, b, c, d);
    lanes::store<T, N>(to, a);
    lanes::store<T, N>(to + pitch, b);
    lanes::store<T, N>(to + 2 * pitch, c);
    lanes::store<T, N>(to + 3 * pitch, d);
  }
  // Four elements of every fourth column.
  template <int N>
  CALQUE_INLINE static void every_fourth(lane<T, N>& x, const T* from, std::int64_t column) {
    if constexpr (N == 4) {
      lanes::load<T, 4>(x, from);
    } else {
      lane<T, N / 2> low, high;
      every_fourth<N / 2>(low, from, column);
      every_fourth<N / 2>(high, from + N / 2 * column, column);
      lanes::join<T, N / 2>(x, low, high);
    }
  }
};

}  // namespace calque::detail
