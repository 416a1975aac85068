// What a matrix product moves around its tiles: operands that are packed first, sums on their way
// to c.
//
// Compiled for every instruction set and run through `on<level>` like the tiles of gemm_tile.hpp.
// Apart from these, so that a tile is no more than its loop: there are many tiles, of these one.
#pragma once

#include <cstdint>
#include <cstring>

#include "calque/core/config.hpp"
#include "calque/core/lane_shuffles.hpp"
#include "calque/core/lanes.hpp"
#include "calque/core/saturate.hpp"

namespace calque::detail {

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
