// The reduction kernel: an elementwise body, a reduction over some axes, an elementwise tail.
//
// Two ways, chosen by layout. By rows: each kept element's reduced elements are walked; fast where
// they are contiguous. By columns: a line of kept elements is accumulated while the reduced axes
// are walked; fast where the kept axes are contiguous. Both work on panels (reduce_loops.hpp),
// gather operands that are not contiguous along a panel's rows, and combine blocks pairwise, so
// that the error of a float sum grows with the logarithm of their number.
#pragma once

#include "calque/backend/cpu/reduce_loops.hpp"
#include "calque/backend/cpu/reduce_room.hpp"

namespace calque::detail {

/// One reduction's loops at one instruction set; those for short lines use vectors that a line
/// fills.
struct reduce_program {
  rows_function rows = nullptr, short_rows = nullptr;
  columns_function columns = nullptr, short_columns = nullptr;
  tile_function combine = nullptr;
  join_function join = nullptr;  // two values
  fill_function fill = nullptr;
  tile_function tail = nullptr;  // operand 0 is the reduced value
  const operand_use* body_operands = nullptr;
  const operand_use* tail_operands = nullptr;
  int bytes = 0;  // of a reduced value
};

class CALQUE_HIDDEN reduction {
 public:
  reduction(const reduce_program& p, const geometry& g, void* const* data, std::byte* scratch)
      : p_(p), g_(g), data_(data), scratch_(scratch), room_(g) {
    rows_ = room_.reduced < short_line ? p.short_rows : p.rows;
    columns_ = g.kept_size < short_line ? p.short_columns : p.columns;
    for (int k = 0; k < g.inputs; ++k) {
      gathers_[k] = !p.body_operands[k].uniform && room_.gathers(g, k);
      any_gathers_ = any_gathers_ || gathers_[k];
    }
  }

  void run() {
    for (std::int64_t at = 0; at < g_.kept_size; at += room_.tile)
      tile(at, g_.kept_size - at < room_.tile ? g_.kept_size - at : room_.tile);
  }
  /// The same by all threads of the step; the scratch has `reduce_scratch` bytes.
  static void share(const reduce_program& p, const geometry& g, void* const* data,
                    std::byte* scratch) {
    reduction whole(p, g, data, scratch);
    const reduce_cut cut(g, whole.room_);
    const std::int64_t each = worker_bytes(whole.room_.total(g));
    if (!cut.inside) {
      for_each_block(g.threads, (g.kept_size + cut.tile - 1) / cut.tile,
                     [&](int worker, std::int64_t b) {
                       const std::int64_t at = b * cut.tile, left = g.kept_size - at;
                       reduction(p, g, data, scratch + worker * each)
                           .tile(at, left < cut.tile ? left : cut.tile);
                     });
      return;
    }
    std::byte* const results = scratch + g.threads * each;
    for (std::int64_t at = 0; at < g.kept_size; at += cut.tile) {
      const std::int64_t n = g.kept_size - at < cut.tile ? g.kept_size - at : cut.tile;
      for_each_block(g.threads, cut.groups, [&](int worker, std::int64_t b) {
        const std::int64_t first = b * cut.group, left = whole.room_.reduced - first;
        reduction(p, g, data, scratch + worker * each)
            .part(at, n, first, first + (left < cut.group ? left : cut.group),
                  results + b * cut.step);
      });
      std::byte* of_level[64]{};
      pairwise stack;
      const auto joins = [&](int d) { whole.join(of_level[d - 1], of_level[d], n); };
      for (std::int64_t b = 0; b < cut.groups; ++b) {
        of_level[stack.depth] = results + b * cut.step;
        stack.push(joins);
      }
      stack.finish(joins);
      std::memcpy(scratch, results, static_cast<std::size_t>(n * p.bytes));
      whole.finish(at, n);
    }
  }

 private:
  void tile(std::int64_t at, std::int64_t n) {
    if (room_.reduced == 0) p_.fill(scratch_, n);
    else if (room_.columns) reduce_columns(at, n, 0, room_.reduced, scratch_);
    else reduce_rows(at, n);
    finish(at, n);
  }
  /// The reduced elements [first, last) of n kept ones, of one where rows are walked.
  void part(std::int64_t at, std::int64_t n, std::int64_t first, std::int64_t last,
            std::byte* results) {
    if (room_.columns) return reduce_columns(at, n, first, last, results);
    for_each_run(0, g_.kept, at, 1, [&](void** base, std::int64_t, std::int64_t) {
      long_row(base, first, last, results);
    });
  }
  /// Steps through `rank` axes from the element `first` in row-major order, as far as the last axis
  /// goes: calls f(base of each operand, elements of the run, elements done before).
  template <class F>
  void for_each_run(int axis, int rank, std::int64_t first, std::int64_t n, const F& f) {
    std::int64_t index[max_rank];
    const int last = axis + rank - 1;
    for (int a = last; a > axis; --a) {
      index[a] = first % g_.extents[a];
      first /= g_.extents[a];
    }
    if (rank > 0) index[axis] = first;
    void* base[max_operands + 2];
    for (std::int64_t done = 0; done < n;) {
      std::int64_t run = n - done;
      if (rank > 0 && g_.extents[last] - index[last] < run) run = g_.extents[last] - index[last];
      for (int k = 0; k < g_.inputs; ++k) {
        std::int64_t offset = 0;
        if (!p_.body_operands[k].uniform)
          for (int a = axis; a <= last; ++a) offset += index[a] * g_.operands[k].strides[a];
        base[k] = moved(data_[k], offset * size_of(g_.operands[k].type));
      }
      f(base, run, done);
      done += run;
      if (rank == 0) return;
      index[last] += run;
      for (int a = last; a > axis && index[a] == g_.extents[a]; --a) index[a] = 0, ++index[a - 1];
    }
  }

  void reduce_rows(std::int64_t at, std::int64_t n) {
    for_each_run(0, g_.kept, at, n, [&](void** base, std::int64_t rows, std::int64_t done) {
      std::byte* results = scratch_ + done * p_.bytes;
      const std::int64_t each = room_.reduced < reduce_block ? room_.reduced : reduce_block;
      const std::int64_t most = any_gathers_ ? reduce_block / each : rows;
      std::int64_t steps[max_operands + 2];
      for (int k = 0; k < g_.inputs; ++k) steps[k] = step_along(k, g_.kept - 1);
      if (room_.reduced > reduce_block) {
        for (std::int64_t r = 0; r < rows; ++r) {
          long_row(base, 0, room_.reduced, results + r * p_.bytes);
          for (int k = 0; k < g_.inputs; ++k) base[k] = moved(base[k], steps[k]);
        }
        return;
      }
      for (std::int64_t r = 0; r < rows; r += most) {
        const std::int64_t m = rows - r < most ? rows - r : most;
        rows_of(base, steps, 0, m, each, results + r * p_.bytes);
        for (int k = 0; k < g_.inputs; ++k) base[k] = moved(base[k], steps[k] * m);
      }
    });
  }
  /// The elements [first, last) of one row, in blocks; whole ones by many, as if they were rows.
  void long_row(void* const* base, std::int64_t first, std::int64_t last, std::byte* result) {
    constexpr std::int64_t most = 32;
    alignas(8) std::byte results[8 * most];
    std::byte* levels = scratch_ + room_.levels;
    std::int64_t steps[max_operands + 2];
    for (int k = 0; k < g_.inputs; ++k)
      steps[k] = p_.body_operands[k].uniform ? 0 : reduce_block * size_of(g_.operands[k].type);
    pairwise stack;
    for (std::int64_t at = first; at < last;) {
      const std::int64_t left = last - at, whole = any_gathers_ ? 1 : left / reduce_block;
      const std::int64_t blocks = whole < 1 ? 1 : whole < most ? whole : most;
      const std::int64_t n = left < reduce_block ? left : reduce_block;
      rows_of(base, steps, at, blocks, n, results);
      for (std::int64_t b = 0; b < blocks; ++b) {
        std::memcpy(levels + 8 * stack.depth, results + b * p_.bytes,
                    static_cast<std::size_t>(p_.bytes));
        stack.push([&](int d) { join(levels + 8 * (d - 1), levels + 8 * d, 1); });
      }
      at += blocks * n;
    }
    stack.finish([&](int d) { join(levels + 8 * (d - 1), levels + 8 * d, 1); });
    std::memcpy(result, levels, static_cast<std::size_t>(p_.bytes));
  }
  /// Reduces the elements [at, at + n) of each of some rows.
  void rows_of(void* const* base, const std::int64_t* steps, std::int64_t at, std::int64_t rows,
               std::int64_t n, std::byte* results) {
    if (!any_gathers_ && at == 0) {
      rows_({base, steps, rows, n}, results);
      return;
    }
    void* data[max_operands + 2];
    std::int64_t tile_steps[max_operands + 2];
    std::byte* tile = scratch_ + room_.tiles;
    const int outer = rows > 1 ? 1 : 0;  // the kept axis that the rows lie along
    for (int k = 0; k < g_.inputs; ++k) {
      const int bytes = size_of(g_.operands[k].type);
      data[k] = base[k];
      tile_steps[k] = steps[k];
      if (p_.body_operands[k].uniform) continue;
      if (!gathers_[k]) {
        data[k] = moved(base[k], at * bytes);
        continue;
      }
      const int axis = g_.kept - outer;
      gather_tile(tile, base[k], g_.operands[k].type, g_.extents + axis,
                  g_.operands[k].strides + axis, g_.rank - axis, at, rows * n);
      data[k] = tile;
      tile_steps[k] = n * bytes;
      tile += reduce_block * bytes;
    }
    rows_({data, tile_steps, rows, n}, results);
  }

  /// The reduced elements [from, to) of the kept ones [at, at + n).
  void reduce_columns(std::int64_t at, std::int64_t n, std::int64_t from, std::int64_t to,
                      std::byte* results) {
    std::byte* levels = scratch_ + room_.levels;
    const std::int64_t line = room_.line, most = any_gathers_ ? reduce_block / n : column_block;
    std::int64_t steps[max_operands + 2];
    for (int k = 0; k < g_.inputs; ++k) steps[k] = step_along(k, g_.rank - 1);
    pairwise stack;
    for (std::int64_t row = from; row < to; row += column_block) {
      const std::int64_t left = to - row;
      std::byte* sums = levels + line * stack.depth;
      bool first = true;
      for_each_run(g_.kept, g_.rank - g_.kept, row, left < column_block ? left : column_block,
                   [&](void** base, std::int64_t rows, std::int64_t) {
                     for (std::int64_t r = 0; r < rows; r += most, first = false) {
                       const std::int64_t m = rows - r < most ? rows - r : most;
                       columns_of(base, steps, at, m, n, sums, first);
                       for (int k = 0; k < g_.inputs; ++k) base[k] = moved(base[k], steps[k] * m);
                     }
                   });
      stack.push([&](int d) { join(levels + line * (d - 1), levels + line * d, n); });
    }
    stack.finish([&](int d) { join(levels + line * (d - 1), levels + line * d, n); });
    std::memcpy(results, levels, static_cast<std::size_t>(n * p_.bytes));
  }
  /// Adds up some rows of the kept elements [at, at + n).
  void columns_of(void* const* base, const std::int64_t* steps, std::int64_t at, std::int64_t rows,
                  std::int64_t n, std::byte* sums, bool first) {
    void* data[max_operands + 2];
    std::int64_t tile_steps[max_operands + 2];
    std::byte* tile = scratch_ + room_.tiles;
    for (int k = 0; k < g_.inputs; ++k) {
      const int bytes = size_of(g_.operands[k].type);
      data[k] = p_.body_operands[k].uniform ? base[k] : moved(base[k], at * bytes);
      tile_steps[k] = steps[k];
      if (!gathers_[k]) continue;
      for (std::int64_t r = 0; r < rows; ++r)
        gather_tile(tile + r * n * bytes, moved(base[k], r * steps[k]), g_.operands[k].type,
                    g_.extents, g_.operands[k].strides, g_.kept, at, n);
      data[k] = tile;
      tile_steps[k] = n * bytes;
      tile += reduce_block * bytes;
    }
    columns_({data, tile_steps, rows, n}, sums, first);
  }

  /// The tail, from the reduced values of a tile to the outputs.
  void finish(std::int64_t at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += kept_tile)
      finish_some(at + i, n - i < kept_tile ? n - i : kept_tile, scratch_ + i * p_.bytes);
  }
  void finish_some(std::int64_t at, std::int64_t n, std::byte* results) {
    const operand_layout* operands = g_.operands + g_.inputs;
    void* const* base = data_ + g_.inputs;
    void* data[max_operands + 2];
    data[0] = results;
    std::byte* tile = scratch_ + room_.tiles;
    for (int k = 0; k < g_.tail_inputs + g_.outputs; ++k) {
      const int bytes = size_of(operands[k].type);
      if (p_.tail_operands[1 + k].uniform) {
        data[1 + k] = base[k];
      } else if (operands[k].linear) {
        data[1 + k] = moved(base[k], at * bytes);
      } else {
        data[1 + k] = tile;
        tile += tile_size * bytes;
        if (k < g_.tail_inputs)
          gather_tile(data[1 + k], base[k], operands[k].type, g_.extents, operands[k].strides,
                      g_.kept, at, n);
      }
    }
    p_.tail(data, n);
    for (int k = g_.tail_inputs; k < g_.tail_inputs + g_.outputs; ++k)
      if (!operands[k].linear)
        scatter_tile(data[1 + k], base[k], size_of(operands[k].type), g_.extents,
                     operands[k].strides, g_.kept, at, n);
  }

  /// Combines partial results in pairs of equally many blocks, as they come.
  struct pairwise {
    int depth = 0;
    std::int64_t count = 0;
    template <class Join>
    void push(const Join& joins) {
      ++depth;
      for (std::int64_t c = count++; c & 1; c >>= 1) joins(--depth);
    }
    template <class Join>
    void finish(const Join& joins) {
      while (depth > 1) joins(--depth);
    }
  };
  void join(std::byte* to, std::byte* from, std::int64_t n) {
    void* data[] = {to, from, to};
    if (n == 1) p_.join(to, from);
    else p_.combine(data, n);
  }
  static void* moved(void* p, std::int64_t bytes) { return static_cast<std::byte*>(p) + bytes; }
  /// Bytes from an operand's element to the next along an axis; 0 where there is no such axis.
  [[nodiscard]] std::int64_t step_along(int k, int axis) const {
    if (axis < 0 || p_.body_operands[k].uniform) return 0;
    return g_.operands[k].strides[axis] * size_of(g_.operands[k].type);
  }

  const reduce_program& p_;
  const geometry& g_;
  void* const* data_;
  std::byte* scratch_;
  reduce_room room_;
  rows_function rows_;
  columns_function columns_;
  bool any_gathers_ = false;
  bool gathers_[max_operands + 2];  // by input of the body
};

CALQUE_HIDDEN inline std::int64_t reduce_scratch(const geometry& g) {
  const reduce_room room(g);
  if (g.threads <= 1) return room.total(g);
  const reduce_cut cut(g, room);
  return shared_bytes(g, room.total(g)) + (cut.inside ? cut.groups * cut.step : 0);
}

#if CALQUE_X86()
/// The columns' loop for AVX-512. Light bodies wait for memory, where rows that start anywhere are
/// read faster by 32 bytes: fewer of those lie across two lines.
template <class P, class Op, class T>
constexpr columns_function widest_columns() {
  if constexpr (reduce_loops<P, Op, T>::four_ways) return &columns_avx2<P, Op, T>;
  else return &columns_avx512<P, Op, T>;
}
#endif

/// Body `P` reduced by `Op` in type T, then `Tail` on the results.
template <class P, class Op, class T, class Tail>
CALQUE_HIDDEN void launch_reduce(const geometry& g, void* const* data, void* scratch) {
  using combine = combine_program<Op, T>;
  constexpr const operand_use *body = operands_of<P>.of, *tail = operands_of<Tail>.of;
  constexpr int bytes = static_cast<int>(sizeof(T));
  constexpr auto fill = &fill_identity<Op, T>;
  constexpr auto join = &join_values<Op, T>;
  static constexpr reduce_program at_level[] = {
      {&rows_baseline<P, Op, T>, &rows_baseline<P, Op, T>, &columns_baseline<P, Op, T>,
       &columns_baseline<P, Op, T>, &map_baseline<combine>, join, fill, &map_baseline<Tail>, body,
       tail, bytes},
#if CALQUE_X86()
      {&rows_avx2<P, Op, T>, &rows_avx2<P, Op, T>, &columns_avx2<P, Op, T>, &columns_avx2<P, Op, T>,
       &map_avx2<combine>, join, fill, &map_avx2<Tail>, body, tail, bytes},
      {&rows_avx512<P, Op, T>, &rows_avx2<P, Op, T>, widest_columns<P, Op, T>(),
       &columns_avx2<P, Op, T>, &map_avx512<combine>, join, fill, &map_avx512<Tail>, body, tail,
       bytes},
#endif
  };
  const int level = CALQUE_X86() ? static_cast<int>(best_isa()) : 0;
  std::byte* const room = static_cast<std::byte*>(scratch);
  if (g.threads > 1) reduction::share(at_level[level], g, data, room);
  else reduction(at_level[level], g, data, room).run();
}

}  // namespace calque::detail
