// atan2 on lanes of float and double, within 3 ulp of the exact result.
//
// Separate because of its polynomial, computed for this file by Remez's algorithm in 60 decimal
// digits. Called by lowered programs.
#pragma once

#include "calque/core/config.hpp"
#include "calque/core/lane_format.hpp"

namespace calque::lanes {

/// r = atan2(y, x): the arc tangent of the smaller magnitude over the larger, turned into its
/// octant; zeros and infinities in both operands as in C.
template <class T, int W>
CALQUE_INLINE void atan2(lane<T, W>& r, const lane<T, W>& y, const lane<T, W>& x) {
  using U = detail::bits_of<T>;
  using S = detail::mask_of<T>;
  lane<U, W> sign, left;
  lane<T, W> a, b, p, infinity;
  detail::take_sign<T, W>(a, sign, y);
  detail::take_sign<T, W>(b, left, x);
  const lane<T, W> top = (lane<S, W>)(a > b) ? b : a;
  const lane<T, W> bottom = (lane<S, W>)(a > b) ? a : b;
  lane<T, W> t = top / bottom;
  t = (lane<S, W>)(bottom == T(0)) ? bottom : t;  // both zero
  detail::fill<T, W>(infinity, static_cast<T>(__builtin_inf()));
  t = (lane<S, W>)(top == infinity) ? lane<T, W>{} + T(1) : t;  // both infinite
  const lane<T, W> z = t * t;
  T half_turn, half_rest, turn, rest;  // pi / 2 and pi in two parts
  if constexpr (sizeof(T) == sizeof(float)) {
    half_turn = 0x1.921fb6p0f, half_rest = -0x1.777a5cp-25f;
    turn = 0x1.921fb6p1f, rest = -0x1.777a5cp-24f;
    detail::polynomial<T, W>(p, z, -0x1.d63048p-10f, 0x1.65a694p-7f, -0x1.fed19ap-6f,
                             0x1.daca04p-5f, -0x1.58349cp-4f, 0x1.c09a02p-4f, -0x1.2421b6p-3f,
                             0x1.9991fep-3f, -0x1.55553ep-2f);
  } else {
    half_turn = 0x1.921fb54442d18p0, half_rest = 0x1.1a62633145c07p-54;
    turn = 0x1.921fb54442d18p1, rest = 0x1.1a62633145c07p-53;
    detail::polynomial<T, W>(p, z, 0x1.bbc14be90b868p-17, -0x1.3f19ee7ec1898p-13,
                             0x1.b3d92518a7f33p-11, -0x1.7a2110b2b7b62p-9, 0x1.d7a088bdaa8dbp-8,
                             -0x1.c77dc90c91233p-7, 0x1.6832d712e30aep-6, -0x1.e9f198dd67412p-6,
                             0x1.2c2b903f9ff1ap-5, -0x1.59a28be9a9823p-5, 0x1.82da4122186e9p-5,
                             -0x1.ae5e434a1def8p-5, 0x1.e1bb9ae5046d3p-5, -0x1.110e5017996bap-4,
                             0x1.3b13667547487p-4, -0x1.745d11aae1852p-4, 0x1.c71c717f9372dp-4,
                             -0x1.249249237e1e2p-3, 0x1.9999999995546p-3, -0x1.5555555555526p-2);
  }
  p = p * z * t + t;
  const lane<T, W> turned = half_turn - (p - half_rest);
  p = (lane<S, W>)(a > b) ? turned : p;
  const lane<T, W> mirrored = turn - (p - rest);
  p = (lane<S, W>)((lane<S, W>)left < 0) ? mirrored : p;
  p = (lane<T, W>)((lane<U, W>)p | sign);
  p = (lane<S, W>)(y == y) ? p : y + y;  // (not one arm for both: g++ would merge the masks)
  r = (lane<S, W>)(x == x) ? p : x + x;
}

}  // namespace calque::lanes

namespace calque::detail {

CALQUE_LANE_TWIN_OF_TWO(atan2)

}  // namespace calque::detail
