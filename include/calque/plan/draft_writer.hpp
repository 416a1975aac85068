// Writes a draft: steps, memories, values and who reads them. What schedule.hpp is written with.
#pragma once

#include <algorithm>
#include <vector>

#include "calque/plan/draft.hpp"

namespace calque::detail::planning {

class draft_writer {
 protected:
  explicit draft_writer(draft& d)
      : d_(d),
        s_(d.sizes),
        g_(d.g),
        done_(static_cast<std::size_t>(g_.node_count)),
        base_(static_cast<std::size_t>(g_.node_count)) {
    const auto n = static_cast<std::size_t>(g_.node_count);
    d_.entity_of.assign(n, -1);
    d_.is_view.assign(n, 0);
    d_.slice_of.assign(n, -1);
    d_.loop_end.assign(n, -1);
    d_.control.assign(n, -1);
    for (int i = 0; i < g_.argument_count; ++i) {
      const int id = g_.arguments[i].node;
      d_.add_memory({.kind = memory_kind::leaf, .index = i, .device = id < 0 ? 0 : d_.device(id)});
    }
    for (int k = 0; k < g_.result_count(); ++k)
      d_.add_memory({.kind = memory_kind::output, .index = k, .device = d_.result_device(k)});
    constants_ = d_.add_memory({.kind = memory_kind::constants});
    d_.add_memory({.kind = memory_kind::indices});  // `draft::index_memory()`
    push({.kind = step_kind::start});
  }

  int push(step s) {
    d_.steps.push_back(s);
    return static_cast<int>(d_.steps.size()) - 1;
  }
  int here() const { return static_cast<int>(d_.steps.size()); }
  place& base(int id) { return base_[static_cast<std::size_t>(id)]; }
  bool done(int id) const { return done_[static_cast<std::size_t>(id)] != 0; }
  void finish(int id) { done_[static_cast<std::size_t>(id)] = 1; }

  entity& add_entity(int id, const place& where, int defined) {
    entity e;
    e.node = id;
    e.region = g_.nodes[id].region;
    e.where = where;
    e.defined = defined;
    d_.entity_of[static_cast<std::size_t>(id)] = static_cast<int>(d_.entities.size());
    d_.entities.push_back(e);
    base(id) = where;
    finish(id);
    return d_.entities.back();
  }
  place row_major_place(int memory, int id) const {
    place p{.memory = memory};
    row_major(s_.rank(id), s_.extents(id), p.strides);
    return p;
  }
  /// A computed value in memory of its own.
  entity& add_computed(int id, int position) {
    const int m = d_.add_memory({.device = d_.device(id),
                                 .bytes = s_.byte_count(id),
                                 .region = g_.nodes[id].region,
                                 .start = position});
    entity& e = add_entity(id, row_major_place(m, id), position);
    e.computed = true;
    return e;
  }
  /// A step that makes `id` of the value of `in` alone.
  entity& add_copy(step_kind kind, int in, int id) {
    const int first = static_cast<int>(d_.ids.size());
    d_.ids.push_back(in), d_.ids.push_back(id);
    const int at = push({.kind = kind,
                         .node = id,
                         .region = g_.nodes[id].region,
                         .first_input = first,
                         .inputs = 1,
                         .first_output = first + 1,
                         .outputs = 1});
    read_by(in, at, false);
    return add_computed(id, at);
  }
  /// The owner of the outermost loop that contains `region` but not `outer`, or -1.
  int loop_between(int outer, int region) const {
    int found = -1;
    for (int r = region; r != outer && r > 0; r = g_.regions[r].parent)
      if (g_.kind(g_.regions[r].owner) == op_kind::loop) found = g_.regions[r].owner;
    return found;
  }
  void read(int id, int position, int region, bool indexwise) {
    entity& e = d_.of(id);
    e.readings.push_back({position, indexwise && !d_.is_view[static_cast<std::size_t>(id)],
                          loop_between(e.region, region)});
  }
  void read_by(int id, int position, bool indexwise) {
    const step& s = d_.steps[static_cast<std::size_t>(position)];
    read(id, position, s.region, indexwise);
  }
  /// Wishes the value of `id`, which is there, at `to`, as the next step.
  void wish(int id, int region, const place& to) {
    const int n = static_cast<int>(d_.stores.size()), position = here();
    d_.stores.push_back(
        {.position = position, .node = id, .region = region, .to = to, .from = position});
    push({.kind = step_kind::store, .node = id, .region = region, .store = n});
    read_by(id, position, true);
  }
  place variable_place(int handle) const {
    const int i = g_.nodes[handle].index;
    place p = row_major_place(d_.leaf_memory(i), handle);
    if (d_.request.leaves[i].strides != nullptr)
      std::copy_n(d_.request.leaves[i].strides, s_.rank(handle), p.strides);
    return p;
  }
  void add_snapshot(int id) {
    const int en = d_.entity_of[static_cast<std::size_t>(id)];
    d_.entities[static_cast<std::size_t>(en)].snapshot = push(
        {.kind = step_kind::snapshot, .node = id, .region = g_.nodes[id].region, .entity = en});
  }
  bool may_be_overwritten(int leaf_number) const {
    for (int k = 0; k < g_.result_count(); ++k)
      if (d_.overlaps.of(d_.output_memory(k), leaf_number) != overlap::none) return true;
    for (int w : d_.facts.written)
      if (d_.overlaps.of(w, leaf_number) != overlap::none) return true;
    return false;
  }
  int add_box(int id, int owner, int start) {
    return d_.add_memory({.device = d_.device(owner),
                          .bytes = s_.byte_count(id),
                          .region = g_.nodes[owner].region,
                          .box = true,
                          .start = start});
  }
  int close(int box, int end) {
    d_.memories[static_cast<std::size_t>(box)].end = end;
    return end;
  }
  /// Readings from inside a loop that their value lives outside of count as at the loop's end.
  void move_readings_to_loop_ends() {
    for (entity& e : d_.entities)
      for (reading& r : e.readings)
        if (r.loop >= 0) {
          r.position = d_.loop_end[static_cast<std::size_t>(r.loop)];
          r.indexwise = false;
        }
  }

  draft& d_;
  const sized_graph& s_;
  const graph_view& g_;
  int constants_ = -1;

 private:
  std::vector<char> done_;
  std::vector<place> base_;  // by node: where it lies before values move
};

}  // namespace calque::detail::planning
