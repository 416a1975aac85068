// How a draft writes values that are put together: from parts that are each wanted at a place of
// one block, or by a step that adds to what is there; transfers; and the checks of indices.
//
// Part of schedule.hpp, which decides what comes when.
#pragma once

#include <vector>

#include "calque/plan/check.hpp"
#include "calque/plan/shadows.hpp"
#include "calque/plan/units.hpp"

namespace calque::detail::planning {

class assembly_writer : public shadow_writer {
 protected:
  assembly_writer(draft& d, const kernel_presence& kernels) : shadow_writer(d), kernels_(kernels) {}
  ~assembly_writer() = default;

  /// Makes the value of a node, unless it is there.
  virtual void emit(int id) = 0;

  /// A value put together from others: each is wanted at its place in one block.
  void emit_assembly(int id) {
    const node& n = g_.nodes[id];
    for (int k = 0; k < n.inputs; ++k) emit(g_.input(id, k));
    const int box = add_box(id, id, here());
    std::int64_t along = 0;  // concatenate: where the next part begins
    for (int k = 0; k < n.inputs; ++k) {
      const int in = g_.input(id, k);
      place to = row_major_place(box, id);
      if (n.op->kind == op_kind::concatenate) {
        to.offset = along * to.strides[n.index] * size_of(n.type);
        along += s_.extents(in)[n.index];
      } else if (k == 1) {
        for (int i = 0; i < n.rank; ++i) {
          const resolved_range r = s_.range_of(n.index + i, s_.extents(id)[i]);
          to.offset += r.count > 0 ? r.first * to.strides[i] * size_of(n.type) : 0;
          if (r.count > 1) to.strides[i] *= r.step;
        }
      }
      wish(in, n.region, to);
    }
    close(box, here() - 1);
    add_entity(id, row_major_place(box, id), here());
  }
  /// A copy of a value from another device.
  void emit_transfer(int id) {
    const int in = g_.input(id, 0);
    emit(in);
    add_copy(step_kind::transfer, in, id);
    finish(id);
  }
  void require_kernel(int id) const {
    const node& n = g_.nodes[id];
    if (!kernels_.of_node(kernels_.table, id))
      throw value_error("plan: no kernel computes " + std::string(n.op->name) + " of " +
                        s_.text(id) + where_text(g_, n) +
                        "; register the operation with CALQUE_REGISTER");
  }
  /// The check of node `id`'s indices, unless the same has come before.
  void emit_check(int id) {
    const int at = g_.input(id, 1), region = g_.nodes[id].region;
    const std::int64_t extent = s_.extents(g_.input(id, 0))[g_.nodes[id].index];
    for (const checked_indices& c : checked_)
      if (c.node == at && c.extent == extent && g_.encloses(c.region, region)) return;
    emit(at);
    checked_.push_back({at, region, extent});
    const int first = static_cast<int>(d_.ids.size());
    d_.ids.push_back(at);
    const int position = push({.kind = step_kind::check,
                               .node = id,
                               .region = region,
                               .first_input = first,
                               .inputs = 1});
    read_by(at, position, false);
  }
  /// A value whose step adds to what its first input left in its block.
  void emit_sum_into(int id) {
    const node& n = g_.nodes[id];
    require_kernel(id);
    for (int k = 0; k < n.inputs; ++k) emit(g_.input(id, k));
    const int box = add_box(id, id, here());
    const place to = row_major_place(box, id);
    wish(g_.input(id, 0), n.region, to);
    const int first = static_cast<int>(d_.ids.size());
    for (int k = 1; k < n.inputs; ++k) d_.ids.push_back(g_.input(id, k));
    const int at = push({.kind = step_kind::single,
                         .node = id,
                         .region = n.region,
                         .first_input = first,
                         .inputs = n.inputs - 1});
    for (int k = 1; k < n.inputs; ++k) read_by(g_.input(id, k), at, false);
    d_.stores.push_back(
        {.position = at, .node = id, .region = n.region, .to = to, .from = at, .kernel = true});
    close(box, at);
    add_entity(id, to, here());
  }

  const kernel_presence& kernels_;

 private:
  struct checked_indices {
    int node, region;
    std::int64_t extent;
  };
  std::vector<checked_indices> checked_{};
};

}  // namespace calque::detail::planning
