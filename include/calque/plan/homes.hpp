// Which values are computed where they are wanted, and which must be copied away in time.
//
// A store (a result, an assign, a state of a loop, a result of a branch) becomes nothing if its
// value can be written to its target by the step that computes it: nobody may read what the target
// held before at a later step, nor write the target in between, nor may a later write come before
// the value's last reading. An elementwise step may write over what it reads, element for element.
// What is overwritten while somebody still reads it is copied away where it was last whole.
#pragma once

#include "calque/plan/draft.hpp"

namespace calque::detail::planning {

class home_finder {
 public:
  explicit home_finder(draft& d) : d_(d), s_(d.sizes), g_(d.g) {}

  void run() {
    for (store& w : d_.stores) w.nothing = !w.kernel && is_there(w);
    for (store& w : d_.stores)  // in order of position
      if (!w.nothing && !w.kernel) move(w);
    for (store& w : d_.stores)
      if (w.nothing || w.from < w.position)
        d_.steps[static_cast<std::size_t>(w.position)].enabled = false;
    for (entity& e : d_.entities)
      if (e.snapshot >= 0) take_snapshot(e);
  }

 private:
  bool exact(const entity& e, const place& to, int node) const {
    const place& p = e.where;
    return p.slice < 0 && to.slice < 0 && p.offset == to.offset &&
           d_.between(p.memory, to.memory) == overlap::exact &&
           g_.nodes[e.node].type == g_.nodes[node].type && s_.same(e.node, node) &&
           same_strides(s_.rank(node), s_.extents(node), p.strides, to.strides);
  }
  bool overlaps(int a, int b) const { return d_.between(a, b) != overlap::none; }
  /// Whether the value of `m` at `a` and that of `n` at `b` may share a byte: parts of one block
  /// need not.
  bool overlaps(const place& a, int m, const place& b, int n) const {
    if (!overlaps(a.memory, b.memory)) return false;
    if (d_.root(a.memory) != d_.root(b.memory) || a.slice >= 0 || b.slice >= 0) return true;
    const strided_block x = block_of(a, m), y = block_of(b, n);
    return may_meet(x, reach_of(x), y, reach_of(y));
  }
  strided_block block_of(const place& p, int n) const {
    constexpr std::uintptr_t origin = std::uintptr_t{1} << 62;  // strides may be negative
    return {reinterpret_cast<const void*>(origin + static_cast<std::uintptr_t>(p.offset)),
            size_of(g_.nodes[n].type), s_.rank(n), s_.extents(n), p.strides};
  }

  /// The value is what its target holds anyway: `v = read v`, a state that does not change.
  bool is_there(const store& w) const {
    int id = w.node;
    while (d_.is_view[static_cast<std::size_t>(id)]) {
      if (g_.kind(id) != op_kind::marker && g_.kind(id) != op_kind::stop_gradient) return false;
      id = g_.input(id, 0);
    }
    const entity& e = d_.of(id);
    if (e.computed || !exact(e, w.to, id)) return false;
    for (const store& o : d_.stores)
      if (&o != &w && o.position > e.defined && o.position < w.position &&
          overlaps(o.to, o.node, w.to, w.node))
        return false;
    // writes of the same memory that come later are no concern: what is there is there
    return true;
  }

  /// Where the entity under a chain of views must lie for the view to lie at `to`.
  bool through_views(int& id, place& to) const {
    while (d_.is_view[static_cast<std::size_t>(id)]) {
      if (d_.slice_of[static_cast<std::size_t>(id)] >= 0) return false;
      const node& n = g_.nodes[id];
      const int in = g_.input(id, 0), rank = s_.rank(in);
      place p = to;
      switch (n.op->kind) {
        case op_kind::windows:
        case op_kind::slice: return false;
        case op_kind::transpose:
          for (int i = 0; i < n.rank; ++i) p.strides[n.perm[i]] = to.strides[i];
          break;
        case op_kind::reshape:
          if (!is_row_major(n.rank, s_.extents(id), to.strides)) return false;
          row_major(rank, s_.extents(in), p.strides);
          break;
        case op_kind::broadcast_to:
        case op_kind::sum_to:
          if (s_.elements(in) != s_.elements(id)) return false;
          for (int i = 0; i < rank; ++i) {
            const int k = i + n.rank - rank;
            p.strides[i] = k < 0 ? 0 : to.strides[k];
          }
          break;
        default: break;
      }
      to = p;
      id = in;
    }
    return true;
  }

  void move(store& w) {
    int id = w.node;
    place to = w.to;
    if (!through_views(id, to)) return;
    entity& e = d_.of(id);
    memory& own = d_.memories[static_cast<std::size_t>(e.where.memory)];
    if (own.kind != memory_kind::arena || own.fixed || own.home >= 0 || own.region != w.region)
      return;
    const bool box = !e.computed;
    if (box != own.box || (box && e.where.slice >= 0)) return;  // moved already, or not movable
    if (d_.root(to.memory) == e.where.memory) return;
    if (d_.memories[static_cast<std::size_t>(d_.root(to.memory))].device != own.device) return;
    const bool dense = is_row_major(s_.rank(id), s_.extents(id), to.strides);
    if ((e.reshaped || box) && !dense) return;
    if (box && (to.slice >= 0 || to.offset != 0)) return;
    const int first = box ? first_write(e.where.memory, own.start) : e.defined;
    if (first < d_.last_check && is_external(to.memory)) return;  // what throws writes nothing
    if (!free_between(w, e, to, id, first)) return;
    if (box) w.box = e.where.memory, own.home = to.memory;
    else e.where = to;
    w.from = first;
  }
  /// Whether the caller would see it.
  bool is_external(int m) const {
    const int results = d_.request.outputs != nullptr ? g_.result_count() : 0;
    return d_.root(m) < g_.argument_count + results;
  }
  int first_write(int box, int start) const {
    for (const store& o : d_.stores)
      if (!o.nothing && o.to.memory == box && o.from < start) start = o.from;
    return start;
  }

  bool free_between(const store& w, const entity& moving, const place& to, int id,
                    int first) const {
    const int own = moving.where.memory;
    const bool kernel = moving.computed;
    for (const entity& e : d_.entities) {
      if (d_.root(e.where.memory) == own) continue;
      if (e.defined >= w.position || !overlaps(e.where, e.node, to, id)) continue;
      for (const reading& r : e.readings)
        if (r.position > first ||
            (r.position == first && !(kernel && r.indexwise && exact(e, to, id))))
          return false;
    }
    int next_write = INT_MAX;
    for (const store& o : d_.stores) {
      if (&o == &w || o.nothing || d_.root(o.to.memory) == own || !overlaps(o.to, o.node, to, id))
        continue;
      if (o.from <= w.position && o.position >= first) return false;
      if (o.from > w.position && o.from < next_write) next_write = o.from;
    }
    for (const entity& e : d_.entities) {
      if (&e != &moving && d_.root(e.where.memory) != own) continue;
      for (const reading& r : e.readings)
        if (r.position >= next_write) return false;
    }
    return true;
  }

  void take_snapshot(entity& e) {
    bool spoilt = false;
    for (const store& o : d_.stores) {
      if (o.nothing || o.position <= e.defined || d_.within(e.where.memory, o.box) ||
          !overlaps(o.to, o.node, e.where, e.node))
        continue;
      for (const reading& r : e.readings)
        spoilt |=
            r.position > o.from || (r.position == o.from && !(r.indexwise && reads_exactly(e, o)));
    }
    step& s = d_.steps[static_cast<std::size_t>(e.snapshot)];
    s.enabled = spoilt && s_.elements(e.node) > 0;
    if (!spoilt) return;
    const int m =
        d_.add_memory({.device = d_.memories[static_cast<std::size_t>(e.where.memory)].device,
                       .bytes = s_.byte_count(e.node),
                       .region = e.region,
                       .start = e.snapshot});
    place copy{.memory = m};
    row_major(s_.rank(e.node), s_.extents(e.node), copy.strides);
    original_.emplace_back(e.snapshot, e.where);
    e.where = copy;
  }
  /// The step that writes the store's value reads `e` element for element where it writes.
  bool reads_exactly(const entity& e, const store& o) const {
    if (o.from == o.position) return false;  // a copy of something that overlaps
    int id = o.node;
    place to = o.to;
    return through_views(id, to) && d_.of(id).computed && exact(e, to, id);
  }

 public:
  /// By snapshot step: the place that it copies from.
  [[nodiscard]] const std::vector<std::pair<int, place>>& snapshots() const { return original_; }

 private:
  draft& d_;
  const sized_graph& s_;
  const graph_view& g_;
  std::vector<std::pair<int, place>> original_;
};

}  // namespace calque::detail::planning
