// The reduction kernel: an elementwise body, a reduction over some axes, an elementwise tail.
//
// Two ways, chosen by layout. By rows: the reduced axes are walked for each kept element; fast where
// they are contiguous. By columns: a tile of kept elements is accumulated while the reduced axes are
// walked; fast where the kept axes are contiguous. Both combine blocks pairwise.
#pragma once

#include "calque/backend/cpu/reduce_loops.hpp"

namespace calque::detail {

/// One reduction's loops for the processor at hand.
struct reduce_program {
  row_function row = nullptr;
  tile_program body;           // stores the value to reduce as its output
  tile_function combine = nullptr;
  fill_function fill = nullptr;
  tile_program tail;           // operand 0 is the reduced value
  dtype type = dtype::none;    // of the reduced value
};

/// Kept elements that are accumulated at once.
inline constexpr std::int64_t kept_tile = 256;
/// Rows that one block of a column walk adds up one after another.
inline constexpr std::int64_t column_block = 32;

/// Levels of the pairwise combination of `blocks` blocks.
constexpr int pairwise_levels(std::int64_t blocks) {
  int n = 1;
  while (blocks > 1) blocks = (blocks + 1) / 2, ++n;
  return n;
}

/// Whether a reduction walks its kept axes inside: they, and not the reduced ones, are contiguous.
inline bool by_columns(const geometry& g) {
  if (g.kept == 0 || g.kept == g.rank || g.extents[g.kept - 1] == 1) return false;
  int rows = 0, columns = 0;
  for (int k = 0; k < g.inputs; ++k) {
    const std::int64_t kept = g.operands[k].strides[g.kept - 1];
    const std::int64_t reduced = g.operands[k].strides[g.rank - 1];
    rows += reduced == 1 && kept != 1;
    columns += kept == 1 && reduced != 1;
  }
  return columns > rows;
}

/// Where a reduction keeps its intermediate values.
struct reduce_room {
  std::int64_t kept = 0;      // the reduced values of a tile of kept elements
  std::int64_t levels = 0;    // pairwise partial results
  std::int64_t value = 0;     // column walk: the body's value for a tile
  std::int64_t tiles = 0;     // gathered operands
  std::int64_t total = 0;

  explicit reduce_room(const geometry& g) {
    const std::int64_t reduced = g.kept_size > 0 ? g.size / g.kept_size : 0;
    const std::int64_t wide = g.kept_size < kept_tile ? g.kept_size : kept_tile;
    const std::int64_t line = (wide * 8 + 63) / 64 * 64;
    kept = 0;
    levels = line;
    if (by_columns(g)) {
      value = levels + line * pairwise_levels((reduced + column_block - 1) / column_block);
      tiles = value + line;
    } else {
      value = levels + 8 * pairwise_levels((reduced + reduce_block - 1) / reduce_block);
      tiles = (value + 63) / 64 * 64;
    }
    std::int64_t body = 0;
    for (int k = 0; k < g.inputs; ++k)  // a row walk may gather a block of each operand
      body += size_of(g.operands[k].type) * reduce_block;
    const std::int64_t after =
        tile_bytes(g.operands + g.inputs, g.tail_inputs + g.outputs);
    total = tiles + (body > after ? body : after);
  }
};

class reduction {
 public:
  reduction(const reduce_program& p, const geometry& g, void* const* data, std::byte* scratch)
      : p_(p), g_(g), data_(data), room_(g), scratch_(scratch), bytes_(size_of(p.type)) {
    reduced_ = g.kept_size > 0 ? g.size / g.kept_size : 0;
    inner_rank_ = g.rank - g.kept;
    columns_ = by_columns(g);
    for (int k = 0; k < g.inputs; ++k) {
      inner_linear_[k] = true;
      std::int64_t expected = 1;
      for (int a = g.rank - 1; a >= g.kept; --a) {
        if (g.extents[a] != 1 && g.operands[k].strides[a] != expected) inner_linear_[k] = false;
        expected *= g.extents[a];
      }
      kept_layout_[k] = g.operands[k];
      kept_layout_[k].linear = true;
      expected = 1;
      for (int a = g.kept - 1; a >= 0; --a) {
        if (g.extents[a] != 1 && g.operands[k].strides[a] != expected)
          kept_layout_[k].linear = false;
        expected *= g.extents[a];
      }
    }
    kept_layout_[g.inputs] = {p.type, true, {}};
  }

  void run() {
    std::byte* kept = scratch_ + room_.kept;
    for (std::int64_t at = 0; at < g_.kept_size; at += kept_tile) {
      const std::int64_t n = g_.kept_size - at < kept_tile ? g_.kept_size - at : kept_tile;
      if (reduced_ == 0) p_.fill(kept, n);
      else if (columns_) column_tile(at, n, kept);
      else row_tile(at, n, kept);
      finish(at, n, kept);
    }
  }

 private:
  void row_tile(std::int64_t at, std::int64_t n, std::byte* kept) {
    void* base[max_operands + 2];
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t rest = at + i, index[max_rank]{};
      for (int a = g_.kept - 1; a >= 0; --a) {
        index[a] = rest % g_.extents[a];
        rest /= g_.extents[a];
      }
      for (int k = 0; k < g_.inputs; ++k) {
        std::int64_t offset = 0;
        for (int a = 0; a < g_.kept; ++a) offset += index[a] * g_.operands[k].strides[a];
        base[k] = static_cast<std::byte*>(data_[k]) + offset * size_of(g_.operands[k].type);
      }
      row(base, kept + i * bytes_);
    }
  }
  /// Reduces one row: blocks of it, pairwise.
  void row(void* const* base, std::byte* result) {
    std::byte* level = scratch_ + room_.levels;
    int depth = 0;
    std::int64_t block = 0;
    void* data[max_operands + 2];
    for (std::int64_t at = 0; at < reduced_; at += reduce_block, ++block) {
      const std::int64_t m = reduced_ - at < reduce_block ? reduced_ - at : reduce_block;
      std::byte* tile = scratch_ + room_.tiles;
      for (int k = 0; k < g_.inputs; ++k) {
        const int b = size_of(g_.operands[k].type);
        if (p_.body.uniform[k]) {
          data[k] = base[k];
        } else if (inner_linear_[k]) {
          data[k] = static_cast<std::byte*>(base[k]) + at * b;
        } else {
          data[k] = tile;
          move_tile<true>(tile, base[k], b, g_.extents + g_.kept, g_.operands[k].strides + g_.kept,
                          inner_rank_, at, m);
          tile += reduce_block * b;
        }
      }
      p_.row(data, m, depth == 0 && at + m == reduced_ ? result : level + 8 * depth);
      ++depth;
      for (std::int64_t b = block; (b & 1) && depth > 1; b >>= 1) {
        join(level + 8 * (depth - 2), level + 8 * (depth - 1), 1);
        --depth;
      }
    }
    if (block == 1) return;
    for (; depth > 1; --depth) join(level + 8 * (depth - 2), level + 8 * (depth - 1), 1);
    std::memcpy(result, level, static_cast<std::size_t>(bytes_));
  }

  void column_tile(std::int64_t at, std::int64_t n, std::byte* kept) {
    const std::int64_t line = (room_.tiles - room_.value);
    std::byte* level = scratch_ + room_.levels;
    std::byte* value = scratch_ + room_.value;
    void* base[max_operands + 2];
    std::int64_t index[max_rank]{};
    int depth = 0;
    std::int64_t block = 0;
    for (std::int64_t r = 0; r < reduced_;) {
      const std::int64_t end = r + column_block < reduced_ ? r + column_block : reduced_;
      std::byte* sum = level + line * depth;
      for (bool first = true; r < end; ++r, first = false) {
        for (int k = 0; k < g_.inputs; ++k) {
          std::int64_t offset = 0;
          for (int a = g_.kept; a < g_.rank; ++a) offset += index[a] * g_.operands[k].strides[a];
          base[k] = static_cast<std::byte*>(data_[k]) + offset * size_of(g_.operands[k].type);
        }
        // the output is addressed as the whole kept domain's: step back to where it starts
        base[g_.inputs] = (first ? sum : value) - at * bytes_;
        run_tiles(p_.body, {g_.extents, g_.kept, g_.inputs, 1, kept_layout_}, base, at, n,
                  scratch_ + room_.tiles);
        if (!first) join(sum, value, n);
        for (int a = g_.rank - 1; a >= g_.kept; --a) {
          if (++index[a] < g_.extents[a]) break;
          index[a] = 0;
        }
      }
      ++depth;
      for (std::int64_t b = block; (b & 1) && depth > 1; b >>= 1) {
        join(level + line * (depth - 2), level + line * (depth - 1), n);
        --depth;
      }
      ++block;
    }
    for (; depth > 1; --depth) join(level + line * (depth - 2), level + line * (depth - 1), n);
    std::memcpy(kept, level, static_cast<std::size_t>(n * bytes_));
  }

  void join(std::byte* to, std::byte* from, std::int64_t n) {
    void* data[] = {to, from, to};
    p_.combine(data, n);
  }

  void finish(std::int64_t at, std::int64_t n, std::byte* kept) {
    const int others = g_.tail_inputs + g_.outputs;
    operand_layout layout[max_operands + 2];
    void* base[max_operands + 2];
    layout[0] = {p_.type, true, {}};
    base[0] = kept - at * bytes_;
    for (int k = 0; k < others; ++k) {
      layout[1 + k] = g_.operands[g_.inputs + k];
      base[1 + k] = data_[g_.inputs + k];
    }
    run_tiles(p_.tail, {g_.extents, g_.kept, 1 + g_.tail_inputs, g_.outputs, layout}, base, at, n,
              scratch_ + room_.tiles);
  }

  const reduce_program& p_;
  const geometry& g_;
  void* const* data_;
  reduce_room room_;
  std::byte* scratch_;
  int bytes_, inner_rank_ = 0;
  std::int64_t reduced_ = 0;
  bool columns_ = false;
  bool inner_linear_[max_operands + 2]{};
  operand_layout kept_layout_[max_operands + 2];
};

inline std::int64_t reduce_scratch(const geometry& g) { return reduce_room(g).total; }

/// Body `P` reduced by `Op` in type T, then `Tail` on the results.
template <class P, class Op, class T, class Tail>
CALQUE_HIDDEN void launch_reduce(const geometry& g, void* const* data, void* scratch) {
  reduce_program p;
  p.row = &row_baseline<P, Op, T>;
#if CALQUE_X86()
  const isa level = best_isa();
  if (level == isa::avx512) p.row = &row_avx512<P, Op, T>;
  else if (level == isa::avx2) p.row = &row_avx2<P, Op, T>;
#endif
  p.body = map_tile<P>();
  p.combine = map_tile<combine_program<Op, T>>().run;
  p.fill = &fill_identity<Op, T>;
  p.tail = map_tile<Tail>();
  p.type = dtype_of<T>;
  reduction(p, g, data, static_cast<std::byte*>(scratch)).run();
}

}  // namespace calque::detail
