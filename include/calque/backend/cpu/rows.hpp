// The kernel of a rows cluster: walks its rows a tile at a time, so that every sweep after the
// first finds them in the cache.
//
// A tile is some rows next to each other. Sweeps run along the rows, or across them in lines where
// rows are short or where the kept axis is the contiguous one; operands that are not contiguous
// that way are gathered. Long rows are swept in blocks whose partial results are combined pairwise.
// The programs and their loops are lower/rows.hpp's and row_loops.hpp's; this part is compiled
// once.
#pragma once

#include <algorithm>

#include "calque/backend/cpu/reduce.hpp"
#include "calque/backend/cpu/row_loops.hpp"
#include "calque/lower/rows.hpp"

namespace calque::detail {

/// One reduction of a sweep.
struct row_fold_entry {
  int slot = 0, bytes = 0;
  tile_function combine = nullptr;
  fill_function fill = nullptr;
};
/// A phase at one instruction set: `once` for values of a row, or the two forms of a sweep.
struct row_phase_entry {
  tile_function once = nullptr;
  void (*along)(const panel&) = nullptr;
  tile_function across = nullptr;
  const row_fold_entry* folds = nullptr;
  int fold_count = 0;
  const bool* used = nullptr;  // by slot
};
struct row_kernel {
  const row_slot* slots = nullptr;
  int slot_count = 0;
  const row_phase_entry* phases = nullptr;
  int phase_count = 0;
};

/// Bytes of scratch that `run_rows` needs.
[[nodiscard]] CALQUE_ONCE std::int64_t row_scratch(const row_kernel& k, const geometry& g);
CALQUE_ONCE void run_rows(const row_kernel& k, const geometry& g, void* const* data,
                          std::byte* scratch);

#if CALQUE_DEFINES_ONCE()
/// How a geometry is walked, and where everything lies in the scratch.
struct CALQUE_HIDDEN row_room {
  static constexpr std::int64_t tile = 4096;        // elements of a tile, more or less
  static constexpr std::int64_t row_block = 2048;   // of a row that one call of a sweep takes
  static constexpr std::int64_t line_block = 32;    // lines that are taken one after another
  static constexpr std::int64_t shortest_row = 32;  // to be swept along

  bool lines = false;
  std::int64_t elements = 1;            // of a row
  std::int64_t run = 1;                 // rows along the last kept axis
  std::int64_t rows = 1;                // of a tile
  std::int64_t block = 1;               // elements of each row that a sweep takes at once
  std::int64_t offset[max_operands]{};  // by slot
  bool direct[max_operands]{};          // by slot: an operand read or written in place
  std::int64_t levels = 0, depth = 1, level_bytes = 8, total = 0;

  row_room(const row_kernel& k, const geometry& g) {
    for (int a = g.kept; a < g.rank; ++a) elements *= g.extents[a];
    if (g.kept > 0) run = g.extents[g.kept - 1];
    lines = across(k, g);
    const std::int64_t n = elements > 0 ? elements : 1;
    if (lines) {
      rows = std::min(run, std::clamp<std::int64_t>(4 * tile / n / 64 * 64, 64, tile_size));
      block = std::min(n, line_block);
    } else {
      rows = std::min(run, std::clamp<std::int64_t>(tile / n, 1, tile_size));
      block = std::min(n, row_block);
    }
    for (std::int64_t left = n; left > block; left = (left + 1) / 2) ++depth;
    level_bytes = rounded(lines ? rows * 8 : 8);
    int folds = 0;
    for (int p = 0; p < k.phase_count; ++p) folds = std::max(folds, k.phases[p].fold_count);
    total = levels + depth * level_bytes * folds;
    for (int s = 0; s < k.slot_count; ++s) place(k, g, s, n);
  }
  /// Bytes between rows (`lines`: between lines) of a slot's tile.
  [[nodiscard]] std::int64_t step(const row_kernel& k, int s) const {
    return (lines                                 ? rows
            : k.slots[s].kind == slot_kind::saved ? elements
                                                  : block) *
           size_of(k.slots[s].type);
  }

 private:
  static std::int64_t rounded(std::int64_t n) { return (n + 63) / 64 * 64; }

  void place(const row_kernel& k, const geometry& g, int s, std::int64_t n) {
    const row_slot& slot = k.slots[s];
    const std::int64_t bytes = size_of(slot.type);
    std::int64_t room = rows * bytes;
    if (s < g.operand_count()) {
      const operand_layout& o = g.operands[s];
      if (slot.uniform) direct[s] = true;
      else if (slot.kind == slot_kind::kept_input || slot.kind == slot_kind::kept_output)
        direct[s] = rows == 1 || o.strides[g.kept - 1] == 1;
      else
        direct[s] = !o.streamed && (lines ? rows == 1 || o.strides[g.kept - 1] == 1
                                          : is_contiguous(g, o, g.kept, g.rank));
      if (direct[s]) return;
      if (slot.kind == slot_kind::full_input || slot.kind == slot_kind::full_output) room *= block;
    } else if (slot.kind == slot_kind::saved) {
      room *= n;
    }
    offset[s] = total;
    total += rounded(room + 64);
  }
  [[nodiscard]] bool across(const row_kernel& k, const geometry& g) const {
    if (g.kept == 0 || run < shortest_line || elements == 0) return false;
    if (elements < shortest_row) return true;
    int along = 0, lines_of = 0;
    for (int s = 0; s < g.operand_count(); ++s) {
      if (k.slots[s].kind != slot_kind::full_input && k.slots[s].kind != slot_kind::full_output)
        continue;
      const std::int64_t kept = g.operands[s].strides[g.kept - 1];
      const std::int64_t inner = g.operands[s].strides[g.rank - 1];
      along += inner == 1 && kept != 1;
      lines_of += kept == 1 && inner != 1;
    }
    return lines_of > along;
  }
};

class CALQUE_HIDDEN row_walk {
 public:
  row_walk(const row_kernel& k, const geometry& g, void* const* data, std::byte* scratch)
      : k_(k), g_(g), data_(data), scratch_(scratch), room_(k, g) {}

  void run() {
    if (g_.kept_size == 0) return;
    std::int64_t index[max_rank]{};  // of the kept axes but the last
    for (;;) {
      for (std::int64_t at = 0; at < room_.run; at += room_.rows) {
        rows_ = std::min(room_.rows, room_.run - at);
        one_tile(index, at);
      }
      int a = g_.kept - 2;
      while (a >= 0 && ++index[a] == g_.extents[a]) index[a--] = 0;
      if (a < 0) break;
    }
    if (streams_) end_streaming();
  }

 private:
  static std::byte* moved(void* p, std::int64_t bytes) {
    return static_cast<std::byte*>(p) + bytes;
  }
  [[nodiscard]] std::int64_t bytes_of(int s) const { return size_of(k_.slots[s].type); }
  [[nodiscard]] std::int64_t stride(int s, int axis) const {
    return axis < 0 ? 0 : g_.operands[s].strides[axis];
  }
  [[nodiscard]] bool is_operand(int s) const { return s < g_.operand_count(); }

  void one_tile(const std::int64_t* index, std::int64_t at) {
    for (int s = 0; s < k_.slot_count; ++s) {
      const row_slot& slot = k_.slots[s];
      slot_[s] = scratch_ + room_.offset[s];
      gathered_[s] = false;
      if (!is_operand(s)) continue;
      std::int64_t from = at * stride(s, g_.kept - 1);
      for (int a = 0; a + 1 < g_.kept; ++a) from += index[a] * stride(s, a);
      base_[s] = slot.uniform ? data_[s] : moved(data_[s], from * bytes_of(s));
      if (room_.direct[s]) slot_[s] = base_[s];
      else if (slot.kind == slot_kind::kept_input) move_rows<true>(s);
    }
    for (int p = 0; p < k_.phase_count; ++p) {
      const row_phase_entry& phase = k_.phases[p];
      if (phase.once != nullptr) phase.once(slot_, rows_);
      if (phase.along != nullptr) sweep(phase);
    }
    for (int s = 0; s < g_.operand_count(); ++s)
      if (k_.slots[s].kind == slot_kind::kept_output && !room_.direct[s]) move_rows<false>(s);
  }
  /// A value of each row between an operand and its tile.
  template <bool In>
  void move_rows(int s) {
    const std::int64_t n = rows_, step = stride(s, g_.kept - 1);
    const int bytes = static_cast<int>(bytes_of(s));
    if constexpr (In) gather_tile(slot_[s], base_[s], bytes, &n, &step, 1, 0, n);
    else scatter_tile(slot_[s], base_[s], bytes, &n, &step, 1, 0, n);
  }

  void sweep(const row_phase_entry& phase) {
    if (room_.elements == 0) {
      for (int f = 0; f < phase.fold_count; ++f)
        phase.folds[f].fill(slot_[phase.folds[f].slot], rows_);
      return;
    }
    if (room_.elements <= room_.block) {
      block(phase, 0, room_.elements, nullptr);
      return;
    }
    int depth = 0;
    std::int64_t count = 0;
    const auto join = [&] {
      --depth;
      for (int f = 0; f < phase.fold_count; ++f) {
        void* data[] = {level(f, depth - 1), level(f, depth), level(f, depth - 1)};
        phase.folds[f].combine(data, room_.lines ? rows_ : 1);
      }
    };
    for (std::int64_t at = 0; at < room_.elements; at += room_.block) {
      const std::int64_t n = std::min(room_.block, room_.elements - at);
      void* results[max_operands];
      for (int f = 0; f < phase.fold_count; ++f) results[f] = level(f, depth);
      block(phase, at, n, results);
      ++depth;
      for (std::int64_t c = count++; c & 1; c >>= 1) join();
    }
    while (depth > 1) join();
    for (int f = 0; f < phase.fold_count; ++f)
      std::memcpy(slot_[phase.folds[f].slot], level(f, 0),
                  static_cast<std::size_t>((room_.lines ? rows_ : 1) * phase.folds[f].bytes));
  }
  void* level(int fold, int depth) {
    return scratch_ + room_.levels + (fold * room_.depth + depth) * room_.level_bytes;
  }
  /// Sweeps the elements [at, at + n) of the tile's rows. The reductions' results go to `results`
  /// or, without them, to their slots.
  void block(const row_phase_entry& phase, std::int64_t at, std::int64_t n, void* const* results) {
    void* data[max_operands + 2];
    std::int64_t steps[max_operands + 2];
    for (int s = 0; s < k_.slot_count; ++s) {
      const row_slot& slot = k_.slots[s];
      data[s] = slot_[s];
      const bool full = slot.kind == slot_kind::full_input || slot.kind == slot_kind::full_output;
      steps[s] = slot.uniform || room_.lines ? 0 : bytes_of(s);
      if (slot.kind == slot_kind::saved) {
        steps[s] = room_.step(k_, s);
        data[s] = moved(slot_[s], at * (room_.lines ? steps[s] : bytes_of(s)));
      } else if (full && !slot.uniform) {
        steps[s] = room_.step(k_, s);
        if (room_.direct[s]) {
          steps[s] = room_.lines ? 0 : stride(s, g_.kept - 1) * bytes_of(s);
          if (!room_.lines) data[s] = moved(base_[s], at * bytes_of(s));
        } else if (phase.used[s] && slot.kind == slot_kind::full_input && !gathered_[s]) {
          move_block<true>(s, at, n);
          gathered_[s] = n == room_.elements;  // else the next block takes its place
        }
      }
    }
    for (int f = 0; f < phase.fold_count; ++f) {
      const int s = phase.folds[f].slot;
      if (results != nullptr) data[s] = results[f];
      if (room_.lines) phase.folds[f].fill(data[s], rows_);
    }
    if (room_.lines) {
      void* line[max_operands + 2];
      for (std::int64_t j = 0; j < n; ++j) {
        for (int s = 0; s < k_.slot_count; ++s) {
          const bool in_place = is_operand(s) && room_.direct[s] && !k_.slots[s].uniform &&
                                (k_.slots[s].kind == slot_kind::full_input ||
                                 k_.slots[s].kind == slot_kind::full_output);
          line[s] = in_place ? moved(base_[s], element(s, at + j) * bytes_of(s))
                             : moved(data[s], j * steps[s]);
        }
        phase.across(line, rows_);
      }
    } else {
      phase.along({data, steps, rows_, n});
    }
    for (int s = 0; s < g_.operand_count(); ++s)
      if (phase.used[s] && k_.slots[s].kind == slot_kind::full_output && !room_.direct[s])
        move_block<false>(s, at, n);
  }
  /// Where element `j` of a row lies, in elements from the row's start.
  [[nodiscard]] std::int64_t element(int s, std::int64_t j) const {
    std::int64_t offset = 0;
    for (int a = g_.rank - 1; a > g_.kept; --a) {
      offset += j % g_.extents[a] * g_.operands[s].strides[a];
      j /= g_.extents[a];
    }
    return offset + (g_.rank > g_.kept ? j * g_.operands[s].strides[g_.kept] : 0);
  }
  /// The elements [at, at + n) of the tile's rows between an operand and its tile.
  template <bool In>
  void move_block(int s, std::int64_t at, std::int64_t n) {
    const operand_layout& o = g_.operands[s];
    const int bytes = static_cast<int>(bytes_of(s));
    const std::int64_t step = stride(s, g_.kept - 1), between = room_.step(k_, s);
    const auto move = [&](void* tile, void* base, const std::int64_t* extents,
                          const std::int64_t* strides, int rank, std::int64_t first,
                          std::int64_t count) {
      if constexpr (In) gather_tile(tile, base, bytes, extents, strides, rank, first, count);
      else scatter_tile(tile, base, bytes, extents, strides, rank, first, count);
    };
    if (room_.lines) {
      for (std::int64_t j = 0; j < n; ++j)
        move(moved(slot_[s], j * between), moved(base_[s], element(s, at + j) * bytes), &rows_,
             &step, 1, 0, rows_);
      return;
    }
    for (std::int64_t r = 0; r < rows_; ++r) {
      std::byte *tile = moved(slot_[s], r * between), *base = moved(base_[s], r * step * bytes);
      if (!In && o.streamed) {
        stream_out(moved(base, at * bytes), tile, n * bytes);
        streams_ = true;
      } else {
        move(tile, base, g_.extents + g_.kept, o.strides + g_.kept, g_.rank - g_.kept, at, n);
      }
    }
  }

  const row_kernel& k_;
  const geometry& g_;
  void* const* data_;
  std::byte* scratch_;
  row_room room_;
  std::int64_t rows_ = 0;  // of the tile at hand
  bool streams_ = false;
  bool gathered_[max_operands + 2]{};  // by slot: the tile holds its rows
  void* slot_[max_operands + 2];
  void* base_[max_operands + 2];
};

CALQUE_ONCE std::int64_t row_scratch(const row_kernel& k, const geometry& g) {
  return row_room(k, g).total;
}
CALQUE_ONCE void run_rows(const row_kernel& k, const geometry& g, void* const* data,
                          std::byte* scratch) {
  row_walk(k, g, data, scratch).run();
}
#endif

}  // namespace calque::detail
