// How kernels cut their work for several threads.
//
// A step's `threads` is 1 unless the plan found work for more (run/step_work.hpp); then its scratch
// holds a part for each. Nothing here changes the order in which elements are combined: results
// have the same bits for every number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "calque/backend/backend.hpp"
#include "calque/core/parallel.hpp"

namespace calque::detail {

/// Blocks that a thread takes of a step, more or less: few enough that their ends cost nothing,
/// many enough that a thread which was held up leaves its share to the others.
inline constexpr std::int64_t blocks_a_thread = 8;

/// `count` elements in blocks of `each`, a multiple of `unit`; the last block may be shorter.
struct block_cut {
  std::int64_t count, each, blocks;

  block_cut(std::int64_t n, int threads, std::int64_t unit) : count(n) {
    const std::int64_t wanted = (n + threads * blocks_a_thread - 1) / (threads * blocks_a_thread);
    each = (wanted + unit - 1) / unit * unit;
    if (each < 1) each = 1;
    blocks = (n + each - 1) / each;
  }
  [[nodiscard]] std::int64_t first(std::int64_t b) const { return b * each; }
  [[nodiscard]] std::int64_t size(std::int64_t b) const {
    return count - b * each < each ? count - b * each : each;
  }
};

/// Bytes in whole lines of the cache.
[[nodiscard]] constexpr std::int64_t line_bytes(std::int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}
/// Bytes of one worker's scratch where several share: on lines of the cache of its own.
[[nodiscard]] constexpr std::int64_t worker_bytes(std::int64_t bytes) {
  return (bytes + 127) / 128 * 128;
}
/// Scratch of a step whose workers need `bytes` each.
[[nodiscard]] inline std::int64_t shared_bytes(const geometry& g, std::int64_t bytes) {
  return g.threads > 1 ? worker_bytes(bytes) * g.threads : bytes;
}

/// Axes of a geometry along which a kernel may be cut, and the least part of one.
struct axis_cut {
  int first = 0, last = 0;  // axes [first, last)
  std::int64_t unit = 1;
  bool lines = false;  // they are kept axes: `kept_size` counts them
};

/// Runs a kernel on parts along one axis, each as a step of one thread with `bytes` of scratch.
CALQUE_ONCE void share_axis(kernel_function run, const geometry& g, void* const* data,
                            void* scratch, std::int64_t bytes, const axis_cut& cut);

/// Lines of a kernel that treats each of its kept elements by itself.
CALQUE_HIDDEN inline void share_lines(kernel_function run, const geometry& g, void* const* data,
                                      void* scratch, std::int64_t bytes, std::int64_t unit = 1) {
  share_axis(run, g, data, scratch, bytes, {0, g.kept, unit, true});
}

#if CALQUE_DEFINES_ONCE()
CALQUE_ONCE void share_axis(kernel_function run, const geometry& g, void* const* data,
                            void* scratch, std::int64_t bytes, const axis_cut& cut) {
  int axis = -1;
  std::int64_t most = 1;
  for (int a = cut.first; a < cut.last && most < g.threads * blocks_a_thread / 2; ++a)
    if (g.extents[a] / cut.unit > most) most = g.extents[a] / cut.unit, axis = a;
  if (axis < 0) {
    geometry whole = g;
    whole.threads = 1;
    return run(whole, data, scratch);
  }
  const std::int64_t extent = g.extents[axis];
  const std::int64_t parts = std::min(most, g.threads * blocks_a_thread);
  for_each_block(g.threads, parts, [&](int worker, std::int64_t p) {
    const std::int64_t at = extent * p / parts, end = extent * (p + 1) / parts;
    geometry part = g;
    part.threads = 1;
    part.extents[axis] = end - at;
    part.size = g.size / extent * (end - at);
    if (cut.lines) part.kept_size = g.kept_size / extent * (end - at);
    void* moved[max_operands];
    for (int k = 0; k < g.operand_count(); ++k)
      moved[k] = static_cast<std::byte*>(data[k]) +
                 at * g.operands[k].strides[axis] * size_of(g.operands[k].type);
    run(part, moved, static_cast<std::byte*>(scratch) + worker * worker_bytes(bytes));
  });
}
#endif

}  // namespace calque::detail
