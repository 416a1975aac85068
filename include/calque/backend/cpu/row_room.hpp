// A rows cluster's kernel as tables, and how it walks a geometry: the size of a tile, where
// everything lies in the scratch, how threads share it.
//
// Decisions on sizes and strides alone, made when planning and again by the walk in rows.hpp.
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

/// How a geometry is walked, and where everything lies in the scratch.
struct CALQUE_HIDDEN row_room {
  static constexpr std::int64_t tile = 4096;            // elements of a tile, more or less
  static constexpr std::int64_t small_tile = 1024;      // where operands come from far away
  static constexpr std::int64_t near = 1 << 20;         // bytes of the second-level cache
  static constexpr std::int64_t widest_row = 16 << 10;  // bytes: half of the first-level cache
  static constexpr std::int64_t row_block = 2048;       // of a row that one call of a sweep takes
  static constexpr std::int64_t line_block = 32;        // lines that are taken one after another
  static constexpr std::int64_t shortest_row = 32;      // to be swept along
  static constexpr std::int64_t longest_line = 2048;

  bool lines = false;
  std::int64_t elements = 1;            // of a row
  std::int64_t run = 1;                 // rows along the last kept axis
  std::int64_t rows = 1;                // of a tile
  std::int64_t block = 1;               // elements of each row that a sweep takes at once
  std::int64_t offset[max_operands]{};  // by slot
  bool direct[max_operands]{};          // by slot: an operand read or written in place
  std::int64_t levels = 0, depth = 1, level_bytes = 8, total = 0;
  std::int64_t tiles = 1;   // of the domain
  std::int64_t passed = 0;  // bytes at the start: of what lives in one sweep's block only
  // Where there are too few tiles for the threads, they share the sweeps over each: groups of
  // `group` elements, a power of two of blocks, have room for their results in `shared` and on.
  bool inside = false;
  std::int64_t group = 0, groups = 0, shared = 0, folds = 0;

  row_room(const row_kernel& k, const geometry& g) {
    for (int a = g.kept; a < g.rank; ++a) elements *= g.extents[a];
    if (g.kept > 0) run = g.extents[g.kept - 1];
    lines = across(k, g);
    const std::int64_t n = elements > 0 ? elements : 1;
    if (lines) {
      // Where nothing is read again, or not before it has left the caches: long lines, which memory
      // hands out fastest. Those of a whole tile may be kept, and then they have to be few.
      bool saves = false;
      for (int s = 0; s < k.slot_count; ++s) saves |= k.slots[s].kind == slot_kind::saved;
      const bool once = k.phase_count <= 3 || (n > tile / 2 && !saves);
      rows = std::min(run, once ? longest_line
                                : std::clamp<std::int64_t>(4 * tile / n / 64 * 64, 64, tile_size));
      block = std::min(n, line_block);
    } else {
      // Rows from far away are taken one or a few at a time: loads and stores then spread evenly.
      // Not those that leave the first cache before the last of many sweeps: these are fetched from
      // the second one anyway, and values of rows are computed for several at once.
      std::int64_t of_row = 0;
      for (int s = 0; s < k.slot_count; ++s)
        if (k.slots[s].is_full() && !k.slots[s].uniform) of_row += n * size_of(k.slots[s].type);
      const bool far = g.kept_size * of_row > near;
      const bool wide = k.phase_count >= 7 && of_row > widest_row;
      rows = std::min(
          run, std::clamp<std::int64_t>((far && !wide ? small_tile : tile) / n, 1, tile_size));
      block = std::min(n, row_block);
    }
    for (std::int64_t left = n; left > block; left = (left + 1) / 2) ++depth;
    level_bytes = line_bytes(lines ? rows * 8 : 8);
    for (int p = 0; p < k.phase_count; ++p)
      folds = std::max<std::int64_t>(folds, k.phases[p].fold_count);
    total = levels + depth * level_bytes * folds;
    for (int s = 0; s < k.slot_count; ++s)
      if (k.slots[s].is_full()) place(k, g, s, n);
    passed = total;
    for (int s = 0; s < k.slot_count; ++s)
      if (!k.slots[s].is_full()) place(k, g, s, n);
    tiles = (run > 0 ? g.kept_size / run : 0) * ((run + rows - 1) / rows);
    share(g);
  }
  /// Bytes of all scratch.
  [[nodiscard]] std::int64_t bytes(const geometry& g) const {
    if (!inside) return shared_bytes(g, total);
    return shared + groups * level_bytes * folds + g.threads * worker_bytes(passed);
  }
  /// Whether the tile of an operand that is not read or written in place holds one line only.
  [[nodiscard]] bool line_by_line() const { return lines && elements > block; }
  /// Whether a saved value lies where a result goes.
  [[nodiscard]] bool at_home(const row_kernel& k, int s) const {
    return k.slots[s].home >= 0 && !lines && direct[k.slots[s].home];
  }
  /// Bytes between rows (`lines`: between lines) of a slot's tile.
  [[nodiscard]] std::int64_t step(const row_kernel& k, int s) const {
    if (line_by_line() && k.slots[s].is_full()) return 0;
    return (lines                                 ? rows
            : k.slots[s].kind == slot_kind::saved ? elements
                                                  : block) *
           size_of(k.slots[s].type);
  }

 private:
  void share(const geometry& g) {
    const std::int64_t blocks = (elements + block - 1) / block;
    inside = g.threads > 1 && tiles < 2 * g.threads && blocks >= 2 * g.threads;
    if (!inside) return;
    for (group = block; group * blocks_a_thread * g.threads < elements;) group *= 2;
    groups = (elements + group - 1) / group;
    shared = worker_bytes(total);
  }
  void place(const row_kernel& k, const geometry& g, int s, std::int64_t n) {
    const row_slot& slot = k.slots[s];
    const std::int64_t bytes = size_of(slot.type);
    std::int64_t room = rows * bytes;
    if (s < g.operand_count()) {
      const operand_layout& o = g.operands[s];
      if (slot.uniform) direct[s] = true;
      else if (!slot.is_full()) direct[s] = !o.counted && (rows == 1 || o.strides[g.kept - 1] == 1);
      else
        direct[s] = !o.streamed && (lines ? rows == 1 || o.strides[g.kept - 1] == 1 || slot.of_line
                                          : is_contiguous(g, o, g.kept, g.rank));
      if (direct[s]) return;
      if (slot.is_full() && !line_by_line()) room *= block;
    } else if (slot.kind == slot_kind::saved) {
      if (at_home(k, s)) return;
      room *= n;
    }
    offset[s] = total;
    total += line_bytes(room + 64);
  }
  [[nodiscard]] bool across(const row_kernel& k, const geometry& g) const {
    if (g.kept == 0 || run < shortest_line || elements == 0) return false;
    if (elements < shortest_row) return true;
    return mostly_columns(g, g.operand_count(), [&](int s) { return k.slots[s].is_full(); });
  }
};

}  // namespace calque::detail
