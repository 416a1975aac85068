// The matrix product of the CPU back end: c = a * b with any strides, on lanes, single thread.
//
// Walks the blocks and tiles that gemm_choice.hpp decides on. Memory for packing is planned by the
// caller; nothing is allocated here. Called by the matmul kernels.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "calque/backend/cpu/gemm_choice.hpp"
#include "calque/backend/cpu/gemm_moves.hpp"
#include "calque/backend/cpu/gemm_tile.hpp"
#include "calque/core/dtype.hpp"

namespace calque::detail {

template <isa Level, class T>
struct CALQUE_HIDDEN gemm_kernel : gemm_rules<Level, T> {
  using rules = gemm_rules<Level, T>;
  using problem = gemm_problem<T>;
  using rules::W, rules::tile_rows, rules::tile_columns, rules::dot_columns;

  // A tile of `rows` rows, at most Rows of them.
  template <int Rows, int Vectors>
  static void column_tile(const gemm_tile_args<T>& t, std::int64_t rows) {
    if constexpr (Rows > 1)
      if (rows < Rows) return column_tile<Rows - 1, Vectors>(t, rows);
    on<Level>::template run<gemm_column_tile<T, Rows, Vectors>>(t);
  }

  // Where c is not whole lanes, sums go aside first, those of a few tiles together.
  template <int Vectors>
  static void column_panel(gemm_tile_args<T> t, gemm_unload_args<T> u, std::int64_t rows) {
    constexpr int room = 2 * tile_rows, pitch = Vectors * W;
    // rows are read by fours: two elements beyond the last one where a lane has two
    alignas(64) T aside[room * pitch + (W < 4 ? 4 - W : 0)];
    const bool whole = u.c_col == 1 && u.columns == pitch;
    t.sums = whole ? u.c : aside;
    t.sums_row = whole ? u.c_row : pitch;
    t.accumulate = whole && u.accumulate;
    u.sums = aside;
    u.sums_row = pitch;
    const even_parts parts(rows, tile_rows);
    for (std::int64_t i = 0; i < parts.count; ++i) {
      const std::int64_t size = parts.size(i);
      column_tile<tile_rows, Vectors>(t, size);
      t.a += size * t.a_row;
      t.sums += size * t.sums_row;
      if (whole) continue;
      u.rows += static_cast<int>(size);
      if (i % 2 == 0 && i + 1 < parts.count) continue;
      on<Level>::template run<gemm_unload<T>>(u);
      u.c += u.rows * u.c_row;
      u.rows = 0;
      t.sums = aside;
    }
  }

  static gemm_tile_args<T> tile(const problem& g, std::int64_t p, std::int64_t depth,
                                std::int64_t j) {
    return {.k = depth,
            .a = g.a + p * g.a_col,
            .a_row = g.a_row,
            .a_col = g.a_col,
            .b = g.b + p * g.b_row + j * g.b_col,
            .b_step = g.b_row,
            .sums = nullptr,
            .sums_row = 0,
            .accumulate = p > 0};
  }
  static gemm_unload_args<T> target(const problem& g, std::int64_t p, std::int64_t j,
                                    std::int64_t width) {
    return {.rows = 0,
            .columns = static_cast<int>(width),
            .sums = nullptr,
            .sums_row = 0,
            .c = g.c + j * g.c_col,
            .c_row = g.c_row,
            .c_col = g.c_col,
            .accumulate = p > 0};
  }

  static void columns(const problem& g, T* scratch) {
    const std::int64_t wide = rules::in_wide_panels(g),
                       block = rules::block_of_k(g.k, rules::most_k);
    for (std::int64_t j = 0; j < wide; j += rules::wide_columns) {
      gemm_tile_args<T> t = tile(g, 0, g.k, j);
      t.sums = g.c + j;
      on<Level>::template run<gemm_column_tile<T, 1, 8>>(t);
    }
    const std::int64_t rows = rules::rows_of_a(block);
    for (std::int64_t p = 0; p < g.k; p += block)
      for (std::int64_t i = 0; i < g.m && wide < g.n; i += rows)
        column_block(g, p, std::min(block, g.k - p), i, std::min(rows, g.m - i), wide, scratch);
  }

  // Rows i... and k from p... of a meet all columns of b from `first` on, panel by panel.
  static void column_block(const problem& g, std::int64_t p, std::int64_t depth, std::int64_t i,
                           std::int64_t rows, std::int64_t first, T* scratch) {
    const T* a = g.a + p * g.a_col + i * g.a_row;
    std::int64_t a_row = g.a_row;
    if (rules::copies_a(g)) {
      T* copy = scratch + depth * tile_columns;
      a_row = rules::pitch_of_a(depth);
      on<Level>::template run<gemm_pack<T>>(
          gemm_pack_args<T>{rows, depth, a_row, a, g.a_row, 1, copy});
      a = copy;
    }
    for (std::int64_t j = first; j < g.n; j += tile_columns) {
      const std::int64_t width = std::min<std::int64_t>(tile_columns, g.n - j);
      const std::int64_t pitch = rules::whole_lanes(width);
      gemm_tile_args<T> t = tile(g, p, depth, j);
      t.a = a;
      t.a_row = a_row;
      gemm_unload_args<T> u = target(g, p, j, width);
      u.c += i * g.c_row;
      if (rules::packs(g, width)) {
        on<Level>::template run<gemm_pack<T>>(
            gemm_pack_args<T>{depth, width, pitch, t.b, g.b_row, g.b_col, scratch});
        t.b = scratch;
        t.b_step = pitch;
      }
      if (pitch > W) column_panel<2>(t, u, rows);
      else column_panel<1>(t, u, rows);
    }
  }

  // A tile of `columns` columns, at most Columns of them.
  template <int Rows, int Columns>
  static void dot_tile(const gemm_tile_args<T>& t, std::int64_t columns) {
    if constexpr (Columns > 1)
      if (columns < Columns) return dot_tile<Rows, Columns - 1>(t, columns);
    on<Level>::template run<gemm_dot_tile<T, Rows, Columns>>(t);
  }
  // Rows meet all columns of c, `Rows` at a time; they and `c` move on.
  template <int Rows>
  static void dot_rows(gemm_tile_args<T>& t, gemm_unload_args<T>& u, std::int64_t& rows,
                       std::int64_t n) {
    alignas(64) T sums[Rows * dot_columns * 4];
    const even_parts parts(n, dot_columns);
    for (; rows >= Rows; rows -= Rows) {
      gemm_tile_args<T> at = t;
      gemm_unload_args<T> to = u;
      at.sums = sums;
      to.sums = sums;
      to.rows = Rows;
      for (std::int64_t i = 0; i < parts.count; ++i) {
        to.columns = static_cast<int>(parts.size(i));
        // while the first tile waits for these rows themselves, asking for the next ones is in vain
        if (i > 0 && i + 1 == parts.count) at.ahead = Rows * t.a_row;
        dot_tile<Rows, dot_columns>(at, to.columns);
        on<Level>::template run<gemm_total<T>>(to);
        at.b += to.columns * at.b_step;
        to.c += to.columns * to.c_col;
      }
      t.a += Rows * t.a_row;
      u.c += Rows * u.c_row;
    }
  }

  static void dots(const problem& g, T* scratch) {
    const std::int64_t block = rules::block_of_k(g.k, rules::most_k_of_dots);
    for (std::int64_t p = 0; p < g.k; p += block) {
      const std::int64_t depth = std::min(block, g.k - p);
      gemm_tile_args<T> t = tile(g, p, depth, 0);
      gemm_unload_args<T> u = target(g, p, 0, g.n);
      t.b_step = g.b_col;
      if (g.b_row != 1) {
        t.b_step = rules::whole_lanes(depth);
        on<Level>::template run<gemm_pack<T>>(
            gemm_pack_args<T>{g.n, depth, t.b_step, t.b, g.b_col, g.b_row, scratch});
        t.b = scratch;
      }
      std::int64_t rows = g.m;
      dot_rows<4>(t, u, rows, g.n);
      dot_rows<1>(t, u, rows, g.n);
    }
  }

  static void run(const gemm_choice& choice, const problem& straight, T* scratch) {
    const problem g = choice.transposed ? straight.transposed() : straight;
    if (choice.walk == gemm_walk::dots) dots(g, scratch);
    else columns(g, scratch);
  }

  static constexpr std::int64_t scratch_elements(const problem& straight) {
    const gemm_choice choice = rules::choose(straight);
    return rules::scratch(choice.transposed ? straight.transposed() : straight, choice.walk);
  }
};

/// Calls `f` with the level in use as a type.
template <class F>
CALQUE_HIDDEN decltype(auto) with_isa(F&& f) {
  switch (best_isa()) {
#if CALQUE_X86()
    case isa::avx512: return f(std::integral_constant<isa, isa::avx512>{});
    case isa::avx2: return f(std::integral_constant<isa, isa::avx2>{});
#endif
    default: return f(std::integral_constant<isa, isa::baseline>{});
  }
}

template <class T>
concept gemm_element = element<T> && !std::same_as<T, bool>;

/// Bytes of scratch that `gemm` uses for these sizes and strides on this machine.
template <gemm_element T>
[[nodiscard]] CALQUE_HIDDEN std::int64_t gemm_scratch_bytes(std::int64_t m, std::int64_t n,
                                                            std::int64_t k, std::int64_t a_row,
                                                            std::int64_t a_col, std::int64_t b_row,
                                                            std::int64_t b_col,
                                                            std::int64_t c_row) {
  if (m == 0 || n == 0 || k == 0) return 0;
  const gemm_problem<T> g{m, n, k, nullptr, a_row, a_col, nullptr, b_row, b_col, nullptr, c_row, 1};
  return with_isa([&](auto level) {
    return gemm_kernel<level(), T>::scratch_elements(g) * static_cast<std::int64_t>(sizeof(T));
  });
}

/// c = a * b. Strides count elements and may be 0 or negative; columns of c are contiguous. c is
/// never read, k == 0 gives zeros, integers wrap. `scratch` holds `gemm_scratch_bytes` bytes, best
/// aligned to 64. The order of additions depends on sizes, strides and instruction set alone.
///
/// With `next`, many products of these sizes: `next(a, b, c)` moves the pointers to the next one
/// and says whether there is one.
template <gemm_element T, class Next>
CALQUE_HIDDEN void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* a,
                        std::int64_t a_row, std::int64_t a_col, const T* b, std::int64_t b_row,
                        std::int64_t b_col, T* c, std::int64_t c_row, void* scratch, Next next) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    do
      for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_row, n, T(0));
    while (next(a, b, c));
    return;
  }
  gemm_problem<T> g{m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row, 1};
  with_isa([&](auto level) {
    using kernel = gemm_kernel<level(), T>;
    const gemm_choice choice = kernel::choose(g);
    do kernel::run(choice, g, static_cast<T*>(scratch));
    while (next(g.a, g.b, g.c));
  });
}
template <gemm_element T>
CALQUE_HIDDEN void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* a,
                        std::int64_t a_row, std::int64_t a_col, const T* b, std::int64_t b_row,
                        std::int64_t b_col, T* c, std::int64_t c_row, void* scratch) {
  gemm<T>(m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row, scratch,
          [](const T*&, const T*&, T*&) { return false; });
}

}  // namespace calque::detail
