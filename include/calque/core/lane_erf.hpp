// erf on lanes of float and double, within 2 ulp of the exact result.
//
// Separate because of its polynomials; they were computed for this file by Remez's algorithm in 40
// decimal digits or more, each for its interval and the form it is used in. No division. Called by
// lowered programs.
#pragma once

#include "calque/core/config.hpp"
#include "calque/core/lane_format.hpp"
#include "calque/core/lane_math.hpp"

namespace calque::lanes {

namespace detail {

/// A coefficient where a mask is set, and another one elsewhere.
template <class T>
struct either {
  T first, second;
};

/// p = (p v + c) v + ...: two polynomials, chosen by `m`, by the multiplications of one.
template <class T, int W, class... C>
CALQUE_INLINE void either_polynomial(lane<T, W>& p, const lane<T, W>& v,
                                     const lane<mask_of<T>, W>& m, const C&... c) {
  lane<T, W> a, b;
  ((fill<T, W>(a, c.first), fill<T, W>(b, c.second), p = p * v + (m ? a : b)), ...);
}

/// r = erf a for a >= 0: a + a P(a^2) below 9/8, 1 - Q(a)^2 with Q^2 near erfc above.
template <int W>
CALQUE_INLINE void erf_of_magnitude(lane<float, W>& r, const lane<float, W>& a) {
  using L = lane<float, W>;
  using M = lane<std::int32_t, W>;
  using E = either<float>;
  L cut, one, p, q;
  fill<float, W>(cut, 0x1.f5a888p+1f);  // 1 past it
  fill<float, W>(one, 1.f);
  const M past = (M)(a > cut);
  cut = past ? cut : a;
  const M near = (M)(cut < 1.125f);
  const L w = cut - 0x1.428f5cp+1f, z = cut * cut;
  polynomial<float, W>(q, w, -0x1.e4b652p-15f, 0x1.9df34ap-14f, 0x1.39ba9ap-11f, -0x1.103d40p-9f);
  fill<float, W>(p, 0x1.268566p-14f);
  p = near ? p : q;
  either_polynomial<float, W>(
      p, near ? z : w, near, E{-0x1.963f32p-11f, 0x1.5840aep-11f},
      E{0x1.52008ap-8f, 0x1.7fea90p-7f}, E{-0x1.b7b2fcp-6f, -0x1.3861eep-5f},
      E{0x1.ce28b0p-4f, 0x1.eed5ecp-5f}, E{-0x1.812726p-2f, -0x1.a621fep-5f},
      E{0x1.06eba8p-3f, 0x1.393abap-6f});
  const L base = near ? a : one, factor = near ? a : -p;
  r = p * factor + base;
  r = past ? one : r;
}

/// r = erf a for a >= 0: a + a P(a^2) below 1, 1 - e^Q(a - 1) with Q near ln erfc above, as N.
/// Juffa does for float.
template <int W>
CALQUE_INLINE void erf_of_magnitude(lane<double, W>& r, const lane<double, W>& a) {
  using L = lane<double, W>;
  using M = lane<std::int64_t, W>;
  L cut, p, q;
  fill<double, W>(cut, 5.93);  // 1 from here on
  cut = (M)(a > cut) ? cut : a;
  const L z = cut * cut;
  polynomial<double, W>(p, z, 0x1.0579b4df66246p-34, -0x1.386ac4ca4337ap-30, 0x1.f7a41391f2137p-27,
                        -0x1.5f1d36e57e9d3p-23, 0x1.b9def1a25d43cp-20, -0x1.f4d1df39a88e3p-17,
                        0x1.f9a321a122eaep-14, -0x1.c02db3d8ed52fp-11, 0x1.565bcd0db02f5p-8,
                        -0x1.b82ce3128499dp-6, 0x1.ce2f21a042b20p-4, -0x1.812746b0379e6p-2,
                        0x1.06eba8214db69p-3);
  polynomial<double, W>(
      q, cut - 1., 0x1.2477fc2fa63b0p-40, -0x1.fae9700ad11b6p-36, 0x1.94e1ead0b19e3p-32,
      -0x1.899f81a2a7d91p-29, 0x1.002c5c5723d2bp-26, -0x1.beff6d6b95dbap-25, 0x1.a2f5a75d33f0cp-24,
      0x1.32d2e1d9b215ep-23, -0x1.147537ecff8a6p-19, 0x1.426bd074aa511p-17, -0x1.c7a77df2fc3fdp-16,
      0x1.b8de9c092e7dfp-16, 0x1.f1b3898c5c873p-13, -0x1.033f65b04fac7p-9, 0x1.48c9d3eb20e02p-7,
      -0x1.5477f09c037a3p-5, -0x1.afabc11a295f3p-1, -0x1.51c9b0006c236p+1, -0x1.d97fbf27aa2a1p+0);
  exp_near<double, W>(q, q);
  const L near = p * a + a, far = 1. - q;
  r = (M)(cut < 1.) ? near : far;
}

}  // namespace detail

/// r = erf x.
template <class T, int W>
CALQUE_INLINE void erf(lane<T, W>& r, const lane<T, W>& x) {
  lane<detail::bits_of<T>, W> negative;
  lane<T, W> a;
  detail::take_sign<T, W>(a, negative, x);
  detail::erf_of_magnitude<W>(a, a);
  r = (lane<T, W>)((lane<detail::bits_of<T>, W>)a | negative);
}

}  // namespace calque::lanes

namespace calque::detail {

CALQUE_LANE_TWIN(erf)

}  // namespace calque::detail
