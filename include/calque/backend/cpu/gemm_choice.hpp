// How the CPU back end walks a matrix product: a choice among four ways by a small cost model.
//
// Lanes lie along the columns of c or along k, and the same for the transposed product; that is
// what makes skinny shapes fast without a library. Decisions on sizes and strides alone, made when
// planning and again by the walk in backend/cpu/gemm.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "calque/backend/cpu/isa.hpp"
#include "calque/core/lane.hpp"

namespace calque::detail {

/// c (m x n) = a (m x k) * b (k x n); every stride counts elements.
template <class T>
struct CALQUE_HIDDEN gemm_problem {
  std::int64_t m, n, k;
  const T* a;
  std::int64_t a_row, a_col;
  const T* b;
  std::int64_t b_row, b_col;
  T* c;
  std::int64_t c_row, c_col;

  /// The same product written as c^T = b^T * a^T.
  [[nodiscard]] constexpr gemm_problem transposed() const {
    return {n, m, k, b, b_col, b_row, a, a_col, a_row, c, c_col, c_row};
  }
};

/// Lanes along the columns of c, or along k.
enum class gemm_walk { columns, dots };

struct gemm_choice {
  gemm_walk walk = gemm_walk::columns;
  bool transposed = false;
  double cost = 0;
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// n in as few parts of at most `most` as there are, of almost the same size.
struct even_parts {
  std::int64_t count, each, more;

  constexpr even_parts(std::int64_t n, std::int64_t most)
      : count(ceil_div(n, most)), each(count > 0 ? n / count : 0), more(n - each * count) {}
  [[nodiscard]] constexpr std::int64_t size(std::int64_t i) const { return each + (i < more); }
};

/// Sizes of blocks and tiles, what is copied first, and the choice of a way.
template <isa Level, class T>
struct CALQUE_HIDDEN gemm_rules {
  static constexpr int W = lane_width(vector_bytes(Level), sizeof(T));
  // Sums fill half of the registers (AVX-512) or three quarters of them.
  static constexpr int tile_rows = Level == isa::avx512 ? 8 : 6, tile_columns = 2 * W;
  // With four rows of a, and what they are multiplied with, the sums of dots fill the registers.
  static constexpr int dot_columns = Level == isa::avx512 ? 5 : 2;
  // A packed panel of b fills three quarters of a 32 KiB first-level cache.
  static constexpr std::int64_t most_k = 24 * 1024 / (tile_columns * static_cast<int>(sizeof(T)));
  // Elements of a that meet all of b before the next rows: half of a 512 KiB second-level cache.
  static constexpr std::int64_t most_of_a = 256 * 1024 / static_cast<int>(sizeof(T));
  // Dots are for few columns and take longer runs of k.
  static constexpr std::int64_t most_columns_of_dots = 32, most_k_of_dots = 2048;
  // Up to this many rows b is read where it lies: packing would not pay.
  static constexpr std::int64_t few_rows = 16;
  // Bytes of b that stay in the first-level cache beside rows of a and c.
  static constexpr std::int64_t most_near = 20 * 1024;
  using problem = gemm_problem<T>;

  // Estimated lane operations; the constants only need to order the four ways.
  static constexpr double cost(const problem& g, gemm_walk walk) {
    const auto m = static_cast<double>(g.m), n = static_cast<double>(g.n),
               k = static_cast<double>(g.k);
    // A processor starts one operation on its widest lanes a cycle, two on others.
    constexpr double cycle = Level == isa::avx512 ? 1 : 2;
    constexpr double turned = 0.25 * cycle, moved = 1.2 * cycle;  // an element by fours, by itself
    if (walk == gemm_walk::columns) {
      const auto vectors = static_cast<double>(ceil_div(g.n, W));
      const auto tiles =
          static_cast<double>(ceil_div(g.m, tile_rows) * ceil_div(g.n, tile_columns));
      const auto blocks = static_cast<double>(ceil_div(g.k, most_k));
      const double packing = g.b_col != 1 ? k * n * (g.b_row == 1 && g.k >= 4 ? turned : moved)
                             : is_near(g) && g.n % W == 0 ? 0
                                                          : 2 * k * vectors;
      const double storing = g.c_col == 1 ? m * (vectors + (g.n % W != 0 ? 5 * cycle : 0))
                                          : m * n * (g.m < 4 ? 2.5 : 0.5) * cycle;
      // each sum takes 4 cycles for a product, however few sums there are
      return k * std::max(m * vectors, 4 * cycle * tiles) + packing +
             blocks * (storing + 25 * cycle * tiles);
    }
    if (g.a_col != 1 || g.n > most_columns_of_dots) return std::numeric_limits<double>::max();
    const auto vectors = static_cast<double>(ceil_div(g.k, W));
    const double packing = g.b_row == 1 ? 0 : k * n * (g.b_col == 1 ? turned : moved);
    const double each = Level != isa::avx512 ? 1.5 : g.n < 4 ? 1.4 : 1.05;
    const auto tiles = static_cast<double>(ceil_div(g.m, 4) * ceil_div(g.n, dot_columns));
    return m * n * (vectors * each + 3) + 60 * tiles + packing;
  }

  static constexpr gemm_choice choose(const problem& g) {
    gemm_choice best{gemm_walk::columns, false, cost(g, gemm_walk::columns)};
    const auto consider = [&best](const problem& p, gemm_walk walk, bool transposed) {
      const double price = cost(p, walk);
      if (price < best.cost) best = {walk, transposed, price};
    };
    consider(g, gemm_walk::dots, false);
    consider(g.transposed(), gemm_walk::columns, true);
    consider(g.transposed(), gemm_walk::dots, true);
    return best;
  }

  static constexpr std::int64_t whole_lanes(std::int64_t n) { return ceil_div(n, W) * W; }

  // Blocks of k: equal ones, at most `most` long.
  static constexpr std::int64_t block_of_k(std::int64_t k, std::int64_t most) {
    return ceil_div(k, ceil_div(k, most));
  }

  // Whether b is read where it lies: for few rows, or as it fits the first-level cache anyway.
  static constexpr bool is_near(const problem& g) {
    const bool small = g.b_row >= 0 && g.b_row <= most_near && g.k <= most_near;
    return g.m <= few_rows ||
           (small && g.b_row * g.k * static_cast<std::int64_t>(sizeof(T)) <= most_near);
  }
  // Whether `width` columns of b are copied into whole lanes before use.
  static constexpr bool packs(const problem& g, std::int64_t width) {
    return g.b_col != 1 || width % W != 0 || !is_near(g);
  }

  // Whether rows of a are copied first: at a stride of whole pages they evict each other from the
  // first-level cache.
  static constexpr bool copies_a(const problem& g) {
    return g.a_col == 1 && g.m > few_rows && g.n > 2 * tile_columns &&
           g.a_row * static_cast<std::int64_t>(sizeof(T)) % 4096 == 0;
  }
  static constexpr std::int64_t pitch_of_a(std::int64_t depth) {
    return whole_lanes(depth) + 64 / static_cast<std::int64_t>(sizeof(T));
  }
  static constexpr std::int64_t rows_of_a(std::int64_t block) {
    return std::max(most_of_a / block, std::int64_t{tile_rows});
  }

  // One row meets panels of this many columns, for long runs through the rows of b.
  static constexpr std::int64_t wide_columns = 8 * W;
  static constexpr std::int64_t in_wide_panels(const problem& g) {
    return g.m == 1 && g.b_col == 1 && g.c_col == 1 ? g.n / wide_columns * wide_columns : 0;
  }

  // Elements of scratch for a problem in its chosen orientation.
  static constexpr std::int64_t scratch(const problem& g, gemm_walk walk) {
    if (walk == gemm_walk::dots)
      return g.b_row == 1 ? 0 : g.n * whole_lanes(block_of_k(g.k, most_k_of_dots));
    const std::int64_t left = g.n - in_wide_panels(g);
    const std::int64_t last = left % tile_columns;
    const bool whole = copies_a(g) || (left >= tile_columns && packs(g, tile_columns));
    const std::int64_t width = whole ? tile_columns : packs(g, last) ? last : 0;
    const std::int64_t block = block_of_k(g.k, most_k);
    const std::int64_t copy = copies_a(g) ? std::min(rows_of_a(block), g.m) * pitch_of_a(block) : 0;
    return block * whole_lanes(width) + copy;
  }
};

}  // namespace calque::detail
