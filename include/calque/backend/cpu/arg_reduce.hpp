// argmax and argmin along one axis: the first of equals, and the first NaN if there is one.
//
// Contiguous rows are searched for their extreme in blocks on lanes, then the block that has it for
// its place; others element by element.
#pragma once

#include <concepts>
#include <type_traits>

#include "calque/backend/cpu/reduce_loops.hpp"
#include "calque/backend/cpu/share.hpp"
#include "calque/ops/select.hpp"

namespace calque::detail {

/// The index of the best of n contiguous elements, as a loop of one instruction set.
template <class Better, class T>
struct arg_row {
  struct extreme {
    using combine = std::conditional_t<std::same_as<Better, op::greater>, op::maximum, op::minimum>;
  };
  /// Rows from this length on are worth it.
  static constexpr std::int64_t shortest = 64;

  template <int VB>
  CALQUE_INLINE static void run(const T* row, std::int64_t n, std::int64_t* result) {
    constexpr int W = lane_width(VB, sizeof(T));
    constexpr std::int64_t block = 16 * W;
    T value = row[0];
    std::int64_t best = 0, at = 0;
    for (; at + block <= n; at += block) {
      lane<T, W> acc[4], x;
      for (int k = 0; k < 4; ++k) lanes::load<T, W>(acc[k], row + at + k * W);
      for (int k = 4; k < 16; ++k) {
        lanes::load<T, W>(x, row + at + k * W);
        apply_lanes<typename extreme::combine, T, T, W>(acc[k % 4], acc[k % 4], x);
      }
      for (int k = 1; k < 4; ++k)
        apply_lanes<typename extreme::combine, T, T, W>(acc[0], acc[0], acc[k]);
      T most;
      lane_fold<extreme, T>::template fold<W>(acc[0], most);
      if (at > 0 && !Better{}(most, value) && most == most) continue;
      value = most;
      best = at;
      if (value != value) break;
    }
    if (at > 0 || value != value)
      while (row[best] != value && row[best] == row[best]) ++best;
    for (; at < n && value == value; ++at)
      if (Better{}(row[at], value) || row[at] != row[at]) value = row[at], best = at;
    *result = best;
  }
};

template <class Better, class T>
CALQUE_HIDDEN std::int64_t best_of_row(const T* row, std::int64_t n) {
  std::int64_t best = 0;
#if CALQUE_X86()
  const isa level = best_isa();
  if (level == isa::avx512) on<isa::avx512>::run<arg_row<Better, T>>(row, n, &best);
  else if (level == isa::avx2) on<isa::avx2>::run<arg_row<Better, T>>(row, n, &best);
  else
#endif
    on<isa::baseline>::run<arg_row<Better, T>>(row, n, &best);
  return best;
}

template <class Better, class T>
CALQUE_HIDDEN void launch_arg_reduce(const geometry& g, void* const* data, void*) {
  if (g.threads > 1) return share_lines(&launch_arg_reduce<Better, T>, g, data, nullptr, 0);
  const T* in = static_cast<const T*>(data[0]);
  std::int64_t* out = static_cast<std::int64_t*>(data[1]);
  const operand_layout& from = g.operands[0];
  const operand_layout& to = g.operands[1];
  // the reduced axis may have been split or dropped by collapsing; it is walked in row-major order
  const std::int64_t n = g.kept_size > 0 ? g.size / g.kept_size : 0;
  [[maybe_unused]] const bool rows = g.rank == g.kept + 1 && from.strides[g.kept] == 1;
  std::int64_t index[max_rank]{};
  for (std::int64_t k = 0; k < g.kept_size; ++k) {
    std::int64_t at = 0, put = 0;
    for (int a = 0; a < g.kept; ++a) {
      at += index[a] * from.strides[a];
      put += index[a] * to.strides[a];
    }
    std::int64_t best = 0, inner[max_rank]{}, offset = 0;
    T value = in[at];
    std::int64_t i = 1;
    if constexpr (!std::same_as<T, bool>)
      if (rows && n >= arg_row<Better, T>::shortest) best = best_of_row<Better>(in + at, n), i = n;
    for (; i < n && value == value; ++i) {
      for (int a = g.rank - 1; a >= g.kept; --a) {
        offset += from.strides[a];
        if (++inner[a] < g.extents[a]) break;
        offset -= g.extents[a] * from.strides[a];
        inner[a] = 0;
      }
      const T x = in[at + offset];
      if (Better{}(x, value) || x != x) value = x, best = i;
    }
    out[put] = best;
    for (int a = g.kept - 1; a >= 0; --a) {
      if (++index[a] < g.extents[a]) break;
      index[a] = 0;
    }
  }
}

}  // namespace calque::detail
