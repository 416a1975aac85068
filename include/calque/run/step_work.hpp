// How many threads a step of a plan is worth: by the work that its sizes tell.
//
// Waking a thread costs some microseconds, so a small step stays on the caller. Counted in reads,
// writes and operations of elements, roughly a nanosecond each without vectors. Called by
// step_layouts.hpp once a step.
#pragma once

#include <algorithm>
#include <cstdint>

#include "calque/backend/backend.hpp"
#include "calque/graph/graph.hpp"
#include "calque/plan/draft.hpp"

namespace calque::detail {

/// What a thread has to find in a step before it is woken for it.
inline constexpr std::int64_t work_of_a_thread = std::int64_t{1} << 18;

/// The work of a step whose geometry is known.
[[nodiscard]] inline std::int64_t work_of(const planning::step& s, const graph_view& g,
                                          const geometry& shape) {
  if (s.kind == planning::step_kind::check) return 0;
  const std::int64_t moved = std::max(shape.operand_count(), 2);
  if (s.kind == planning::step_kind::cluster) {
    const cluster& c = g.clusters[s.cluster];
    const std::int64_t elementwise = shape.size * (c.nodes + moved);
    if (c.kind == cluster_kind::reduce && g.kind(c.root) == op_kind::along_axis)
      return elementwise + shape.size * 6;
    return c.kind == cluster_kind::product ? elementwise + shape.size * shape.extents[2] / 8
                                           : elementwise;
  }
  if (s.kind != planning::step_kind::single) return shape.size * moved;  // copies
  switch (g.kind(s.node)) {
    case op_kind::matmul: {  // vectors and registers: eight multiplications count as one
      std::int64_t products = std::max<std::int64_t>(shape.kept_size, 1);
      for (int a = 3; a < shape.rank; ++a) products *= shape.extents[a];
      return products * shape.size / 8;
    }
    case op_kind::scatter_add:
    case op_kind::overlap_add: return 0;  // kernels of one thread
    case op_kind::along_axis: return shape.size * 8;
    case op_kind::random: return shape.size * 8;
    case op_kind::arg_reduce: return shape.size * 4;
    case op_kind::ordered_reduce: return shape.size * 4;
    default: return shape.size * (moved + 1);
  }
}
[[nodiscard]] inline int threads_for(std::int64_t work, int available) {
  return static_cast<int>(
      std::clamp<std::int64_t>(work / work_of_a_thread, 1, std::max(available, 1)));
}

}  // namespace calque::detail
