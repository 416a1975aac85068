// Half a lane of floats as a lane of doubles, and back.
//
// Some float functions take one step in double: it costs less than two floats for each number
// would. A lane is taken by halves, so that the doubles' lane is as wide as the floats' was and
// nothing is wider than a register. Called by sin, cos, tan and pow.
#pragma once

#include <cstring>

#include "calque/core/config.hpp"
#include "calque/core/lane.hpp"
#include "calque/core/lanes.hpp"

namespace calque::lanes::detail {

/// Elements of a part, of which `lane<float, W>` has W / part_width<W>.
template <int W>
inline constexpr int part_width = W >= 4 ? W / 2 : W;

/// r = part `Part` of x.
template <int W, int Part>
CALQUE_INLINE void widen_part(lane<double, part_width<W>>& r, const lane<float, W>& x) {
  constexpr int H = part_width<W>;
  lane<float, H> half;
  std::memcpy(&half, reinterpret_cast<const char*>(&x) + Part * sizeof(half), sizeof(half));
  lanes::convert<double, float, H>(r, half);
}

/// Part `Part` of r = x, rounded (or narrowed, for integers) to `T`.
template <class T, int W, int Part, class From>
CALQUE_INLINE void narrow_part(lane<T, W>& r, const lane<From, part_width<W>>& x) {
  constexpr int H = part_width<W>;
  const lane<T, H> half = __builtin_convertvector(x, lane<T, H>);
  std::memcpy(reinterpret_cast<char*>(&r) + Part * sizeof(half), &half, sizeof(half));
}

}  // namespace calque::lanes::detail
