// erf on lanes of float and double, within 2 ulp of the exact result.
//
// Separate because of its polynomials; they were computed for this file by Remez's algorithm in 60
// decimal digits, each for its interval and the form it is used in. No division. Called by lowered
// programs.
#pragma once

#include "calque/core/config.hpp"
#include "calque/core/lane_format.hpp"
#include "calque/core/lane_math.hpp"

namespace calque::lanes {

/// r = erf x. Below 1: x + x P(x^2). Above, float: 1 - Q(x) with Q near erfc; double: 1 - e^Q(x -
/// 1) with Q near ln erfc, as N. Juffa does for float. 1 from 3.92 (float) or 5.93 (double) on.
template <class T, int W>
CALQUE_INLINE void erf(lane<T, W>& r, const lane<T, W>& x) {
  using S = detail::mask_of<T>;
  lane<detail::bits_of<T>, W> negative;
  lane<T, W> a, p, q, one;
  detail::take_sign<T, W>(a, negative, x);
  const lane<T, W> z = a * a;
  T end;
  if constexpr (sizeof(T) == sizeof(float)) {
    end = 3.92f;
    detail::polynomial<T, W>(p, z, 0x1.496a3p-14f, -0x1.a3f7p-11f, 0x1.5405b2p-8f, -0x1.b7f90ep-6f,
                             0x1.ce2cf8p-4f, -0x1.81273ep-2f, 0x1.06eba8p-3f);
    detail::polynomial<T, W>(q, a - 2.46875f, 0x1.31bc42p-17f, -0x1.9a735cp-16f, -0x1.c4e692p-15f,
                             0x1.377decp-12f, -0x1.819652p-12f, -0x1.003e18p-11f, 0x1.80a31ep-9f,
                             -0x1.b357cep-8f, 0x1.3aeccap-7f, -0x1.370476p-7f, 0x1.9bb538p-8f,
                             -0x1.4d742p-9f, 0x1.f7ec5ap-12f);
  } else {
    end = 5.93;
    detail::polynomial<T, W>(p, z, 0x1.0579b4df66246p-34, -0x1.386ac4ca4337ap-30,
                             0x1.f7a41391f2137p-27, -0x1.5f1d36e57e9d3p-23, 0x1.b9def1a25d43cp-20,
                             -0x1.f4d1df39a88e3p-17, 0x1.f9a321a122eaep-14, -0x1.c02db3d8ed52fp-11,
                             0x1.565bcd0db02f5p-8, -0x1.b82ce3128499dp-6, 0x1.ce2f21a042b20p-4,
                             -0x1.812746b0379e6p-2, 0x1.06eba8214db69p-3);
    detail::polynomial<T, W>(q, a - 1., 0x1.2477fc2fa63b0p-40, -0x1.fae9700ad11b6p-36,
                             0x1.94e1ead0b19e3p-32, -0x1.899f81a2a7d91p-29, 0x1.002c5c5723d2bp-26,
                             -0x1.beff6d6b95dbap-25, 0x1.a2f5a75d33f0cp-24, 0x1.32d2e1d9b215ep-23,
                             -0x1.147537ecff8a6p-19, 0x1.426bd074aa511p-17, -0x1.c7a77df2fc3fdp-16,
                             0x1.b8de9c092e7dfp-16, 0x1.f1b3898c5c873p-13, -0x1.033f65b04fac7p-9,
                             0x1.48c9d3eb20e02p-7, -0x1.5477f09c037a3p-5, -0x1.afabc11a295f3p-1,
                             -0x1.51c9b0006c236p+1, -0x1.d97fbf27aa2a1p+0);
    detail::exp_near<T, W>(q, q);  // beyond `end` anything
  }
  detail::fill<T, W>(one, T(1));
  const lane<T, W> small = p * a + a;
  p = (lane<S, W>)(a < end) ? one - q : one;
  p = (lane<S, W>)(a < T(1)) ? small : p;
  p = (lane<T, W>)((lane<detail::bits_of<T>, W>)p | negative);
  r = (lane<S, W>)(x == x) ? p : x;
}

}  // namespace calque::lanes

namespace calque::detail {

CALQUE_LANE_TWIN(erf)

}  // namespace calque::detail
