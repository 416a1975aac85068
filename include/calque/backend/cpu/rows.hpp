// The kernel of a rows cluster: walks its rows a tile at a time, so that every sweep after the
// first finds them in the cache.
//
// A tile is some rows next to each other. Sweeps run along the rows, or across them in lines where
// rows are short or where the kept axis is the contiguous one; operands that are not contiguous
// that way are gathered. Long rows are swept in blocks whose partial results are combined pairwise.
// The programs and their loops are lower/rows.hpp's and row_loops.hpp's, sizes and rooms
// row_room.hpp's; this part is compiled once.
#pragma once

#include <algorithm>

#include "calque/backend/cpu/row_room.hpp"

namespace calque::detail {

/// Bytes of scratch that `run_rows` needs.
[[nodiscard]] CALQUE_ONCE std::int64_t row_scratch(const row_kernel& k, const geometry& g);
CALQUE_ONCE void run_rows(const row_kernel& k, const geometry& g, void* const* data,
                          std::byte* scratch);

#if CALQUE_DEFINES_ONCE()
class CALQUE_HIDDEN row_walk {
 public:
  row_walk(const row_kernel& k, const geometry& g, void* const* data, std::byte* scratch)
      : k_(k), g_(g), data_(data), scratch_(scratch), room_(k, g) {
    set_steps();
  }

  /// All tiles, by all threads of the step; the scratch has `row_room::bytes`.
  void run() {
    if (g_.kept_size == 0) return;
    if (g_.threads <= 1 || room_.inside) return run(0, room_.tiles);
    const block_cut cut(room_.tiles, g_.threads, 1);
    for_each_block(g_.threads, cut.blocks, [&](int worker, std::int64_t b) {
      row_walk own(*this);
      own.scratch_ += worker * worker_bytes(room_.total);
      own.set_rooms();
      own.run(cut.first(b), cut.first(b) + cut.size(b));
    });
  }
  /// The tiles [first, last).
  void run(std::int64_t first, std::int64_t last) {
    const std::int64_t of_run = (room_.run + room_.rows - 1) / room_.rows;
    std::int64_t index[max_rank]{};  // of the kept axes but the last
    std::int64_t outer = first / of_run, at = first % of_run * room_.rows;
    for (int a = g_.kept - 2; a >= 0; --a) index[a] = outer % g_.extents[a], outer /= g_.extents[a];
    start_run(index);
    for (std::int64_t t = first; t < last; ++t) {
      rows_ = std::min(room_.rows, room_.run - at);
      one_tile(at);
      if ((at += room_.rows) < room_.run) continue;
      at = 0;
      for (int a = g_.kept - 2; a >= 0 && ++index[a] == g_.extents[a]; --a) index[a] = 0;
      start_run(index);
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

  /// What is the same in every tile: bytes between rows, and what a sweep asks for.
  void set_steps() {
    whole_ = !room_.lines && room_.elements > 0 && room_.elements <= room_.block;
    for (int s = 0; s < k_.slot_count; ++s) {
      const row_slot& slot = k_.slots[s];
      const bool in_place = slot.is_full() && !slot.uniform && room_.direct[s];
      between_[s] = slot.uniform || !is_operand(s) ? 0 : stride(s, g_.kept - 1) * bytes_of(s);
      steps_[s] = slot.uniform || (room_.lines && (in_place || !has_elements(slot))) ? 0
                  : in_place                                                         ? between_[s]
                  : has_elements(slot) ? room_.step(k_, s)
                                       : bytes_of(s);
      if (is_operand(s) && !room_.direct[s]) {
        if (slot.is_full()) whole_ = false;
        if (slot.kind == slot_kind::kept_output) scatters_ = true;
      }
      if (is_operand(s) && !slot.uniform) moving_[moving_count_++] = s;
      if (slot.kind == slot_kind::saved && room_.at_home(k_, s)) {
        guests_[guest_count_++] = s;
        steps_[s] = steps_[slot.home];
      }
      // the tile's rows are in the cache after the first sweep: time for those of the next
      bool asked = !in_place;
      for (int p = 1, sweep = 0; p < k_.phase_count && sweep < most_sweeps; p += 2, ++sweep) {
        const bool asks = !asked && p > 1 && k_.phases[p].along != nullptr && k_.phases[p].used[s];
        ahead_[sweep][s] = asks ? room_.rows * steps_[s] : 0;
        asked = asked || asks;
      }
    }
    set_rooms();
  }
  [[nodiscard]] static bool has_elements(const row_slot& s) {
    return s.is_full() || s.kind == slot_kind::saved;
  }
  void set_rooms() {
    for (int s = 0; s < k_.slot_count; ++s) {
      slot_[s] = scratch_ + room_.offset[s];
      if (is_operand(s) && k_.slots[s].uniform) slot_[s] = base_[s] = data_[s];
    }
  }
  /// The rows along the last kept axis from here on.
  void start_run(const std::int64_t* index) {
    for (int m = 0; m < moving_count_; ++m) {
      const int s = moving_[m];
      std::int64_t from = 0;
      for (int a = 0; a + 1 < g_.kept; ++a) from += index[a] * stride(s, a);
      start_[s] = moved(data_[s], from * bytes_of(s));
    }
  }
  void one_tile(std::int64_t at) {
    const int moving = moving_count_;
    for (int m = 0; m < moving; ++m) {
      const int s = moving_[m];
      base_[s] = moved(start_[s], at * between_[s]);
      if (room_.direct[s]) {
        slot_[s] = base_[s];
        continue;
      }
      gathered_[s] = false;
      if (k_.slots[s].kind == slot_kind::kept_input) move_rows<true>(s);
    }
    for (int i = 0; i < guest_count_; ++i) slot_[guests_[i]] = base_[k_.slots[guests_[i]].home];
    for (int p = 0; p < k_.phase_count; ++p) {
      const row_phase_entry& phase = k_.phases[p];
      if (phase.once != nullptr) phase.once(slot_, rows_);
      if (phase.along == nullptr) continue;
      if (whole_) phase.along({slot_, steps_, rows_, room_.elements, ahead_of(phase)});
      else sweep(phase);
    }
    if (scatters_)
      for (int s = 0; s < g_.operand_count(); ++s)
        if (k_.slots[s].kind == slot_kind::kept_output && !room_.direct[s]) move_rows<false>(s);
  }
  [[nodiscard]] const std::int64_t* ahead_of(const row_phase_entry& phase) const {
    const auto sweep = (&phase - k_.phases) / 2;
    return sweep < most_sweeps ? ahead_[sweep] : nullptr;
  }
  /// A value of each row between an operand and its tile.
  template <bool In>
  void move_rows(int s) {
    const std::int64_t n = rows_, step = stride(s, g_.kept - 1);
    const int bytes = static_cast<int>(bytes_of(s));
    if constexpr (In) gather_tile(slot_[s], base_[s], k_.slots[s].type, &n, &step, 1, 0, n);
    else scatter_tile(slot_[s], base_[s], bytes, &n, &step, 1, 0, n);
  }

  void sweep(const row_phase_entry& phase) {
    if (room_.elements == 0) {
      for (int f = 0; f < phase.fold_count; ++f)
        phase.folds[f].fill(slot_[phase.folds[f].slot], rows_);
      return;
    }
    void* results[max_operands];
    for (int f = 0; f < phase.fold_count; ++f) results[f] = slot_[phase.folds[f].slot];
    if (room_.elements <= room_.block) block(phase, 0, room_.elements, nullptr);
    else if (room_.inside) sweep_by_all(phase, results);
    else sweep(phase, 0, room_.elements, results);
  }
  /// Combines partial results in pairs of equally many blocks, as they come: in `at(fold, depth)`.
  template <class At>
  struct pairwise {
    const row_walk& walk;
    const row_phase_entry& phase;
    const At& at;
    int depth = 0;
    std::int64_t count = 0;

    void push() {
      ++depth;
      for (std::int64_t c = count++; c & 1; c >>= 1) join();
    }
    void finish(void* const* results) {
      while (depth > 1) join();
      for (int f = 0; f < phase.fold_count; ++f)
        std::memcpy(results[f], at(f, 0),
                    static_cast<std::size_t>(walk.row_values() * phase.folds[f].bytes));
    }
    void join() {
      --depth;
      for (int f = 0; f < phase.fold_count; ++f) {
        void* data[] = {at(f, depth - 1), at(f, depth), at(f, depth - 1)};
        phase.folds[f].combine(data, walk.row_values());
      }
    }
  };
  [[nodiscard]] std::int64_t row_values() const { return room_.lines ? rows_ : 1; }
  /// The elements [first, last) of the tile's rows, in blocks.
  void sweep(const row_phase_entry& phase, std::int64_t first, std::int64_t last,
             void* const* results) {
    const auto level = [&](int f, int depth) -> void* {
      return scratch_ + room_.levels + (f * room_.depth + depth) * room_.level_bytes;
    };
    pairwise<decltype(level)> stack{*this, phase, level};
    for (std::int64_t at = first; at < last; at += room_.block) {
      void* of_block[max_operands];
      for (int f = 0; f < phase.fold_count; ++f) of_block[f] = level(f, stack.depth);
      block(phase, at, std::min(room_.block, last - at), of_block);
      stack.push();
    }
    stack.finish(results);
  }
  /// The whole rows by all threads: those see the tile's values of rows, and have their own rooms
  /// for what lives in one block.
  void sweep_by_all(const row_phase_entry& phase, void* const* results) {
    std::byte* const partial = scratch_ + room_.shared;
    const auto result = [&](int f, std::int64_t b) -> void* {
      return partial + (b * room_.folds + f) * room_.level_bytes;
    };
    std::byte* const own_rooms = partial + room_.groups * room_.folds * room_.level_bytes;
    for_each_block(g_.threads, room_.groups, [&](int worker, std::int64_t b) {
      row_walk own(*this);
      own.scratch_ = own_rooms + worker * worker_bytes(room_.passed);
      for (int s = 0; s < k_.slot_count; ++s)
        if (k_.slots[s].is_full() && !room_.direct[s])
          own.slot_[s] = own.scratch_ + room_.offset[s];
      void* of_group[max_operands];
      for (int f = 0; f < phase.fold_count; ++f) of_group[f] = result(f, b);
      own.sweep(phase, b * room_.group, std::min((b + 1) * room_.group, room_.elements), of_group);
      if (own.streams_) end_streaming();
    });
    std::int64_t of_level[64]{};
    const auto level = [&](int f, int depth) { return result(f, of_level[depth]); };
    pairwise<decltype(level)> stack{*this, phase, level};
    for (std::int64_t b = 0; b < room_.groups; ++b) {
      of_level[stack.depth] = b;
      stack.push();
    }
    stack.finish(results);
  }
  /// Sweeps the elements [at, at + n) of the tile's rows. The reductions' results go to `results`
  /// or, without them, to their slots.
  void block(const row_phase_entry& phase, std::int64_t at, std::int64_t n, void* const* results) {
    void* data[max_operands + 2];
    for (int s = 0; s < k_.slot_count; ++s) {
      const row_slot& slot = k_.slots[s];
      data[s] = slot_[s];
      if (slot.kind == slot_kind::saved) {
        data[s] = moved(slot_[s], at * (room_.lines ? steps_[s] : bytes_of(s)));
      } else if (slot.is_full() && !slot.uniform) {
        if (room_.direct[s]) {
          if (!room_.lines) data[s] = moved(base_[s], at * bytes_of(s));
        } else if (phase.used[s] && slot.kind == slot_kind::full_input && !gathered_[s] &&
                   !room_.line_by_line()) {
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
      int differ[max_operands];  // the slots of the sweep that differ from line to line
      int count = 0;
      for (int s = 0; s < k_.slot_count; ++s)
        if (phase.used[s] && has_elements(k_.slots[s]) && !k_.slots[s].uniform) differ[count++] = s;
      void* line[max_operands];
      std::copy(data, data + k_.slot_count, line);
      for (std::int64_t j = 0; j < n; ++j) {
        for (int i = 0; i < count; ++i) {
          const int s = differ[i];
          const bool in_place = k_.slots[s].is_full() && room_.direct[s];
          line[s] = in_place ? moved(base_[s], element(s, at + j) * bytes_of(s))
                             : moved(data[s], j * steps_[s]);
        }
        if (room_.line_by_line()) move_all<true>(phase, at + j, 1);
        phase.across(line, rows_);
        if (room_.line_by_line()) move_all<false>(phase, at + j, 1);
      }
    } else {
      phase.along({data, steps_, rows_, n, n == room_.elements ? ahead_of(phase) : nullptr});
    }
    if (!room_.line_by_line()) move_all<false>(phase, at, n);
  }
  /// The operands of a sweep that are read (`In`), or written, through tiles.
  template <bool In>
  void move_all(const row_phase_entry& phase, std::int64_t at, std::int64_t n) {
    constexpr slot_kind kind = In ? slot_kind::full_input : slot_kind::full_output;
    for (int s = 0; s < g_.operand_count(); ++s)
      if (phase.used[s] && k_.slots[s].kind == kind && !room_.direct[s]) move_block<In>(s, at, n);
  }
  /// Where element `j` of a row lies, in elements from the row's start.
  [[nodiscard]] std::int64_t element(int s, std::int64_t j) const {
    if (g_.rank == g_.kept + 1) return j * g_.operands[s].strides[g_.kept];
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
      if constexpr (In) gather_tile(tile, base, o.type, extents, strides, rank, first, count);
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
  bool scatters_ = false;  // values of rows to where they do not lie together
  int moving_count_ = 0, guest_count_ = 0;
  static constexpr int most_sweeps = 8;  // that ask for what comes next
  bool whole_ = false;  // a sweep takes all elements of a tile's rows, and all where they lie
  // by slot
  // by slot; filled as far as there are slots
  int moving_[max_operands];                       // the operands that differ from row to row
  int guests_[max_operands];                       // saved values that lie where results go
  bool gathered_[max_operands];                    // the tile holds its rows
  std::int64_t between_[max_operands];             // bytes between an operand's rows
  std::int64_t steps_[max_operands];               // of the slot's rows, or lines
  std::int64_t ahead_[most_sweeps][max_operands];  // by sweep, to what is wanted next
  void* slot_[max_operands];
  void* start_[max_operands];  // of operands: at the first row of a run, and of the tile
  void* base_[max_operands];
};

CALQUE_ONCE std::int64_t row_scratch(const row_kernel& k, const geometry& g) {
  return row_room(k, g).bytes(g);
}
CALQUE_ONCE void run_rows(const row_kernel& k, const geometry& g, void* const* data,
                          std::byte* scratch) {
  row_walk(k, g, data, scratch).run();
}
#endif

}  // namespace calque::detail
