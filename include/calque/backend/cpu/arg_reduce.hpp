// argmax and argmin along one axis: the first of equals, and the first NaN if there is one.
#pragma once

#include "calque/backend/cpu/share.hpp"

namespace calque::detail {

template <class Better, class T>
CALQUE_HIDDEN void launch_arg_reduce(const geometry& g, void* const* data, void*) {
  if (g.threads > 1) return share_lines(&launch_arg_reduce<Better, T>, g, data, nullptr, 0);
  const T* in = static_cast<const T*>(data[0]);
  std::int64_t* out = static_cast<std::int64_t*>(data[1]);
  const operand_layout& from = g.operands[0];
  const operand_layout& to = g.operands[1];
  // the reduced axis may have been split or dropped by collapsing; it is walked in row-major order
  const std::int64_t n = g.kept_size > 0 ? g.size / g.kept_size : 0;
  std::int64_t index[max_rank]{};
  for (std::int64_t k = 0; k < g.kept_size; ++k) {
    std::int64_t at = 0, put = 0;
    for (int a = 0; a < g.kept; ++a) {
      at += index[a] * from.strides[a];
      put += index[a] * to.strides[a];
    }
    std::int64_t best = 0, inner[max_rank]{}, offset = 0;
    T value = in[at];
    for (std::int64_t i = 1; i < n && value == value; ++i) {
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
