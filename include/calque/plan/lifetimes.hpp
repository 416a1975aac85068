// From when to when each memory of the arena is needed, and which memories become one.
//
// A step's output takes over the bytes of an operand that dies there if an elementwise step reads
// it element for element: same extents, same type. Scratch lives for its step alone.
#pragma once

#include "calque/plan/arena_layout.hpp"
#include "calque/plan/draft.hpp"

namespace calque::detail::planning {

/// Assigns `memory::cell` and places the cells; `scratch` has the bytes that each step asks for.
class lifetimes {
 public:
  explicit lifetimes(draft& d) : d_(d) {}

  /// Bytes of each device's arena, where step `i` runs on `device_of(i)`. Afterwards
  /// `offset_of(memory)` and `scratch_offset(step)` are known.
  template <class DeviceOf>
  std::vector<std::int64_t> run(const std::vector<std::int64_t>& scratch, int devices,
                                DeviceOf&& device_of) {
    find_spans();
    make_cells();
    scratch_cell_.assign(d_.steps.size(), -1);
    for (std::size_t i = 0; i < scratch.size(); ++i)
      if (scratch[i] > 0) {
        scratch_cell_[i] = static_cast<int>(cells.size());
        const auto at = static_cast<std::int64_t>(i);
        add_cell({at, at, scratch[i], 0}, device_of(static_cast<int>(i)));
      }
    if (devices == 1) return {arena_layout::place(cells)};
    std::vector<std::int64_t> bytes;
    for (int d = 0; d < devices; ++d) {
      std::vector<block> own;
      for (std::size_t c = 0; c < cells.size(); ++c)
        if (device_of_cell_[c] == d) own.push_back(cells[c]);
      bytes.push_back(arena_layout::place(own));
      auto placed = own.begin();
      for (std::size_t c = 0; c < cells.size(); ++c)
        if (device_of_cell_[c] == d) cells[c].offset = (placed++)->offset;
    }
    return bytes;
  }
  [[nodiscard]] std::int64_t offset_of(int memory) const {
    return cells[static_cast<std::size_t>(at(memory).cell)].offset;
  }
  [[nodiscard]] std::int64_t scratch_offset(int step) const {
    const int c = scratch_cell_[static_cast<std::size_t>(step)];
    return c < 0 ? -1 : cells[static_cast<std::size_t>(c)].offset;
  }

  std::vector<block> cells;

 private:
  memory& at(int m) { return d_.memories[static_cast<std::size_t>(m)]; }
  const memory& at(int m) const { return d_.memories[static_cast<std::size_t>(m)]; }

  void find_spans() {
    used_.assign(d_.memories.size(), 0);
    for (std::size_t m = 0; m < d_.memories.size(); ++m)  // a moved box keeps its target alive
      if (d_.memories[m].box)
        widen(d_.root(static_cast<int>(m)), d_.memories[m].start, d_.memories[m].end);
    for (const entity& e : d_.entities) {
      const int m = d_.root(e.where.memory);
      if (e.computed) widen(m, e.defined, e.defined);
      else if (e.snapshot >= 0 && d_.steps[static_cast<std::size_t>(e.snapshot)].enabled)
        widen(m, e.snapshot, e.snapshot);
      for (const reading& r : e.readings) widen(m, r.position, r.position);
    }
    for (const store& w : d_.stores)
      if (!w.nothing) widen(d_.root(w.to.memory), w.from, w.position);
    for (int m : d_.control)
      if (m >= 0) widen(m, at(m).start, at(m).end);
  }
  void widen(int m, int from, int to) {
    memory& x = at(m);
    used_[static_cast<std::size_t>(m)] = 1;
    x.start = std::min(x.start, from);
    x.end = std::max(x.end, to);
  }

  void make_cells() {
    std::vector<std::vector<int>> ending(d_.steps.size());  // memories whose last reader is there
    for (std::size_t m = 0; m < d_.memories.size(); ++m) {
      const memory& x = d_.memories[m];
      if (x.kind == memory_kind::arena && used_[m] && x.home < 0 && x.bytes > 0)
        ending[static_cast<std::size_t>(x.end)].push_back(static_cast<int>(m));
    }
    std::vector<int> residents(d_.memories.size(), -1);  // the only entity in a memory; -2: several
    for (std::size_t e = 0; e < d_.entities.size(); ++e) {
      const auto m = static_cast<std::size_t>(d_.root(d_.entities[e].where.memory));
      residents[m] = residents[m] == -1 ? static_cast<int>(e) : -2;
    }
    // in order of start, so that a memory taken over already has its cell
    for (std::size_t i = 0; i < d_.steps.size(); ++i) {
      const step& s = d_.steps[i];
      for (int k = 0; k < s.outputs; ++k) {
        const entity& e = d_.of(d_.ids[static_cast<std::size_t>(s.first_output + k)]);
        const int m = d_.root(e.where.memory);
        if (at(m).kind != memory_kind::arena || at(m).cell >= 0 || at(m).bytes == 0 ||
            at(m).start != static_cast<int>(i) || residents[static_cast<std::size_t>(m)] < 0)
          continue;
        for (int& from : ending[i]) {
          if (from < 0 || from == m || !replaceable(from, residents, e, static_cast<int>(i)))
            continue;
          at(m).cell = at(from).cell;
          block& c = cells[static_cast<std::size_t>(at(m).cell)];
          c.end = std::max(c.end, static_cast<std::int64_t>(at(m).end));
          from = -1;
          break;
        }
      }
      give_cells(static_cast<int>(i));
    }
  }
  /// Cells for the memories that start at a step and took over nothing.
  void give_cells(int position) {
    if (by_start_.empty()) {
      by_start_.resize(d_.steps.size());
      for (std::size_t m = 0; m < d_.memories.size(); ++m) {
        const memory& x = d_.memories[m];
        if (x.kind == memory_kind::arena && used_[m] && x.home < 0 && x.bytes > 0)
          by_start_[static_cast<std::size_t>(x.start)].push_back(static_cast<int>(m));
      }
    }
    for (int m : by_start_[static_cast<std::size_t>(position)]) {
      if (at(m).cell >= 0) continue;
      at(m).cell = static_cast<int>(cells.size());
      add_cell({at(m).start, at(m).end, at(m).bytes, 0}, at(m).device);
    }
  }
  void add_cell(const block& b, int device) {
    cells.push_back(b);
    device_of_cell_.push_back(device);
  }
  bool replaceable(int from, const std::vector<int>& residents, const entity& out, int position) {
    const int r = residents[static_cast<std::size_t>(from)];
    if (r < 0 || at(from).cell < 0 || at(from).start >= position) return false;
    const entity& in = d_.entities[static_cast<std::size_t>(r)];
    const sized_graph& s = d_.sizes;
    if (at(from).device != at(d_.root(out.where.memory)).device) return false;
    if (!s.same(in.node, out.node) || d_.g.nodes[in.node].type != d_.g.nodes[out.node].type ||
        !same_strides(s.rank(in.node), s.extents(in.node), in.where.strides, out.where.strides))
      return false;
    for (const reading& x : in.readings)
      if (x.position == position && !x.indexwise) return false;
    return true;
  }

  draft& d_;
  std::vector<char> used_;
  std::vector<int> scratch_cell_;
  std::vector<int> device_of_cell_;  // by cell
  std::vector<std::vector<int>> by_start_;
};

}  // namespace calque::detail::planning
