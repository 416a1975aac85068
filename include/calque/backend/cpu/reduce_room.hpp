// How a reduction walks a geometry, where its intermediate values lie, and how threads share it.
//
// Plain decisions on sizes and strides, made when planning and again by the kernel. Called by
// reduce.hpp and, for the choice of a walk, rows.hpp.
#pragma once

#include <cstdint>

#include "calque/backend/cpu/tile.hpp"

namespace calque::detail {

/// Elements that one block of a row holds, and one gathered panel.
inline constexpr std::int64_t reduce_block = 2048;
/// Kept elements whose reduced values are held at once: where rows are walked as many as a tail
/// takes, where columns are, long runs of each row whose sums fit the first-level cache.
inline constexpr std::int64_t kept_tile = tile_size, column_tile = 2048;
/// Rows that one block of a column walk adds up one after another.
inline constexpr std::int64_t column_block = 64;

/// Lines shorter than the first are not worth a vector loop along them; those shorter than the
/// second take the narrower vectors.
inline constexpr std::int64_t shortest_line = 8, short_line = 16;

/// Whether more of the first `count` operands that `counts(k)` takes are contiguous along the last
/// kept axis than along the last axis. What is repeated along one of the two is cheap either way.
template <class F>
CALQUE_HIDDEN bool mostly_columns(const geometry& g, int count, F&& counts) {
  int rows = 0, columns = 0;
  for (int k = 0; k < count; ++k) {
    if (!counts(k)) continue;
    const std::int64_t kept = g.operands[k].strides[g.kept - 1];
    const std::int64_t inner = g.operands[k].strides[g.rank - 1];
    if (kept == 0 || inner == 0) continue;
    rows += inner == 1 && kept != 1;
    columns += kept == 1 && inner != 1;
  }
  return columns > rows;
}
/// Whether a reduction of `reduced` elements for each kept one walks its kept axes inside: where
/// its rows are short, else where the kept axes, and not the reduced ones, are contiguous.
CALQUE_HIDDEN inline bool by_columns(const geometry& g, std::int64_t reduced) {
  if (g.kept == 0 || g.kept_size == 1) return false;
  if (reduced < shortest_line) return g.kept_size >= reduced;
  if (g.kept_size < shortest_line) return false;
  return mostly_columns(g, g.inputs, [](int) { return true; });
}
/// Where a reduction keeps its intermediate values, in bytes from the start of its scratch.
struct CALQUE_HIDDEN reduce_room {
  bool columns = false;
  std::int64_t reduced = 1;  // elements for each kept one
  std::int64_t tile = 0;     // kept elements at once
  std::int64_t line = 0;     // a value for each kept element of a tile
  std::int64_t levels = 0;   // partial results, one for each level of the pairwise combination
  std::int64_t tiles = 0;    // gathered operands

  explicit reduce_room(const geometry& g) {
    for (int a = g.kept; a < g.rank; ++a) reduced *= g.extents[a];
    columns = by_columns(g, reduced);
    tile = columns ? column_tile : kept_tile;
    line = line_bytes((g.kept_size < tile ? g.kept_size : tile) * 8);
    levels = line;
    int depth = 1;
    for (std::int64_t n = reduced; n > (columns ? column_block : reduce_block); n = (n + 1) / 2)
      ++depth;
    tiles = levels + line_bytes((columns ? line : 8) * depth);
  }
  [[nodiscard]] bool gathers(const geometry& g, int k) const {
    return columns ? !is_contiguous(g, g.operands[k], 0, g.kept)
                   : !is_contiguous(g, g.operands[k], g.kept, g.rank);
  }
  /// Bytes of all scratch; called when planning.
  [[nodiscard]] std::int64_t total(const geometry& g) const {
    std::int64_t body = 0;
    for (int k = 0; k < g.inputs; ++k)
      if (gathers(g, k)) body += size_of(g.operands[k].type) * reduce_block;
    const std::int64_t tail = tile_bytes(g.operands + g.inputs, g.tail_inputs + g.outputs);
    return tiles + (body > tail ? body : tail);
  }
};

/// How threads share a reduction: kept elements by tiles, or, where those are few, the reduced
/// elements of each tile by groups of blocks. A group is a power of two of blocks, so that its
/// result is one that the pairwise combination of all blocks meets anyway.
struct CALQUE_HIDDEN reduce_cut {
  bool inside = false;
  std::int64_t tile = 0;               // kept elements
  std::int64_t group = 0;              // reduced elements
  std::int64_t groups = 0, step = 64;  // their number, and bytes of a group's results

  reduce_cut(const geometry& g, const reduce_room& room) : tile(room.tile) {
    const std::int64_t block = room.columns ? column_block : reduce_block;
    const std::int64_t blocks = (room.reduced + block - 1) / block, most = 8 * g.threads;
    const std::int64_t units = room.columns ? (g.kept_size + tile - 1) / tile : g.kept_size;
    inside = units < 4 * g.threads && blocks >= 2 * g.threads;
    if (!inside) {
      const std::int64_t least = room.columns ? 64 : 1;
      const std::int64_t each = ((g.kept_size + most - 1) / most + least - 1) / least * least;
      if (each < tile) tile = each;
      return;
    }
    if (!room.columns) tile = 1;
    else step = room.line;
    for (group = block; group * most < room.reduced;) group *= 2;
    groups = (room.reduced + group - 1) / group;
  }
};

}  // namespace calque::detail
