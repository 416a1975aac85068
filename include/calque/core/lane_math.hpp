// exp, log and tanh on lanes of float and double, within 2 ulp of the exact result.
//
// Separate from core/lanes.hpp because these are algorithms, not single instructions. All are
// branch-free, leave the floating-point environment alone and give C's results for NaN, infinities,
// zeros, denormals and at the edges of overflow and underflow. Called by lowered programs.
#pragma once

#include <cstdint>

#include "calque/core/config.hpp"
#include "calque/core/lane_format.hpp"

namespace calque::lanes {

// A lane of one constant: arithmetic on constants folds in the compiler. nvcc 13 crashes on an
// initialiser that folds to 16 elements, not on an assignment.
#define CALQUE_CONSTANT(c) (lane<T, W>{} + (c))

namespace detail {

/// y = x - n ln 2 with |y| <= ln 2 / 2, and n; for |x| below some thousands.
template <class T, int W>
CALQUE_INLINE void exp_reduce_near(lane<T, W>& y, lane<bits_of<T>, W>& multiple,
                                   const lane<T, W>& x) {
  using format = floating_format<T>;
  using U = bits_of<T>;
  using S = mask_of<T>;
  // The multiple of ln 2 is read from the bits: (t - shifter) would not survive -ffast-math.
  const lane<T, W> t = x * format::log2_e + format::shifter;
  multiple = (lane<U, W>)t - format::shifter_bits;
  const lane<std::int32_t, W> narrow =
      __builtin_convertvector((lane<S, W>)multiple, lane<std::int32_t, W>);
  const lane<T, W> n = __builtin_convertvector(narrow, lane<T, W>);
  y = CALQUE_AS_WRITTEN(x - n * format::exp_ln2_high);
  y = y - n * format::exp_ln2_low;
}

/// The same for every x, which is cut off where e^x overflows or vanishes; NaN is kept.
template <class T, int W>
CALQUE_INLINE void exp_reduce(lane<T, W>& y, lane<bits_of<T>, W>& multiple, const lane<T, W>& x) {
  using format = floating_format<T>;
  using S = mask_of<T>;
  lane<T, W> high, low, near;
  high = CALQUE_CONSTANT(format::exp_overflow);
  low = CALQUE_CONSTANT(format::exp_underflow);
  near = (lane<S, W>)(x > high) ? high : x;  // NaN passes both
  near = (lane<S, W>)(near < low) ? low : near;
  exp_reduce_near<T, W>(y, multiple, near);
}

/// p = e^y - 1 for |y| <= ln 2 / 2.
template <class T, int W>
CALQUE_INLINE void exp_less_one(lane<T, W>& p, const lane<T, W>& y) {
  if constexpr (sizeof(T) == sizeof(float)) {
    polynomial<T, W>(p, y, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                     1.6666665459e-1f, 5.0000001201e-1f);
  } else {
    polynomial<T, W>(p, y, 1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800,
                     1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 0.5);
  }
  p = p * (y * y) + y;
}

/// r = e^x where that is normal and finite: NaN passes, no edge is minded.
template <class T, int W>
CALQUE_INLINE void exp_near(lane<T, W>& r, const lane<T, W>& x) {
  using format = floating_format<T>;
  lane<T, W> y, p;
  lane<bits_of<T>, W> n;
  exp_reduce_near<T, W>(y, n, x);
  exp_less_one<T, W>(p, y);
  r = (p + T(1)) * (lane<T, W>)((n + format::bias) << format::fraction_bits);
}

}  // namespace detail

/// r = e^x. Reduced by multiples of ln 2 (two constants, W. J. Cody and W. Waite); float: minimax
/// polynomial of the Cephes library (S. L. Moshier), double: Taylor series to the 13th power.
template <class T, int W>
CALQUE_INLINE void exp(lane<T, W>& r, const lane<T, W>& x) {
  lane<T, W> y, p;
  lane<detail::bits_of<T>, W> multiple;
  detail::exp_reduce<T, W>(y, multiple, x);
  detail::exp_less_one<T, W>(p, y);
  p = p + T(1);
  detail::scale<T, W>(r, p, multiple);
}

namespace detail {

/// k and m of y = 2^k m with m in [sqrt(1/2), sqrt(2)), y normal.
template <class T, int W>
CALQUE_INLINE void split_exponent(lane<T, W>& k, lane<T, W>& m, const lane<T, W>& y) {
  using format = floating_format<T>;
  using U = bits_of<T>;
  using S = mask_of<T>;
  const lane<U, W> offset = (lane<U, W>)y - format::root_half;
  const lane<S, W> exponent = (lane<S, W>)offset >> format::fraction_bits;
  m = (lane<T, W>)((offset & format::fraction) + format::root_half);
  const lane<U, W> counted = (lane<U, W>)exponent + format::shifter_bits;
  k = CALQUE_AS_WRITTEN((lane<T, W>)counted - format::shifter);
}

/// r = k ln 2 + ln(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)). With s = f / (2 + f):
/// ln(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)), polynomial R of FreeBSD's msun (e_log, e_logf).
template <class T, int W>
CALQUE_INLINE void log_of_parts(lane<T, W>& r, const lane<T, W>& k, const lane<T, W>& f) {
  using format = floating_format<T>;
  const lane<T, W> s = f / (f + T(2));
  const lane<T, W> z = s * s;
  const lane<T, W> half_square = T(0.5) * f * f;
  lane<T, W> p;
  if constexpr (sizeof(T) == sizeof(float)) {
    polynomial<T, W>(p, z, 0xf89e26.0p-26f, 0x91e9ee.0p-25f, 0xccce13.0p-25f, 0xaaaaaa.0p-24f);
  } else {
    polynomial<T, W>(p, z, 1.479819860511658591e-01, 1.531383769920937332e-01,
                     1.818357216161805012e-01, 2.222219843214978396e-01, 2.857142874366239149e-01,
                     3.999999999940941908e-01, 6.666666666666735130e-01);
  }
  p = s * (half_square + p * z);
  p = p + k * format::log_ln2_low;
  p = f - (half_square - p);
  r = k * format::log_ln2_high + p;
}

}  // namespace detail

/// r = ln x; -inf for zeros, NaN below: of x = 2^k (1 + f), see `log_of_parts`.
template <class T, int W>
CALQUE_INLINE void log(lane<T, W>& r, const lane<T, W>& x) {
  using format = detail::floating_format<T>;
  using S = detail::mask_of<T>;
  const lane<S, W> tiny = (lane<S, W>)(x < format::least_normal);
  const lane<T, W> y = tiny ? x * format::normalise : x;
  lane<T, W> k, m, p;
  detail::split_exponent<T, W>(k, m, y);
  k = tiny ? k - format::shifted : k;
  detail::log_of_parts<T, W>(p, k, m - T(1));

  lane<T, W> infinity;
  infinity = CALQUE_CONSTANT(static_cast<T>(__builtin_inf()));
  p = (lane<S, W>)(x == infinity) ? infinity : p;
  p = (lane<S, W>)(x == T(0)) ? -infinity : p;
  p = (lane<S, W>)(x < T(0)) ? CALQUE_CONSTANT(static_cast<T>(__builtin_nan(""))) : p;
  r = (lane<S, W>)(x == x) ? p : x;
}

/// r = tanh x: odd approximation of the Cephes library below 5/8 (float: polynomial, double:
/// rational), 1 - 2 / (e^(2|x|) + 1) above, which is 1 from 9.02 (float) or 19.1 (double) on.
template <class T, int W>
CALQUE_INLINE void tanh(lane<T, W>& r, const lane<T, W>& x) {
  using S = detail::mask_of<T>;
  lane<detail::bits_of<T>, W> negative;
  lane<T, W> a, e, p;
  detail::take_sign<T, W>(a, negative, x);
  constexpr T most = sizeof(T) == sizeof(float) ? T(9.02) : T(19.1);
  lane<T, W> cut;
  cut = CALQUE_CONSTANT(most);
  cut = (lane<S, W>)(a > cut) ? cut : a;
  detail::exp_near<T, W>(e, cut + cut);
  const lane<T, W> large = T(1) - T(2) / (e + T(1));
  const lane<T, W> z = a * a;
  if constexpr (sizeof(T) == sizeof(float)) {
    detail::polynomial<T, W>(p, z, -5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f,
                             1.33314422036e-1f, -3.33332819422e-1f);
  } else {
    lane<T, W> q;
    detail::polynomial<T, W>(p, z, -9.64399179425052238628e-1, -9.92877231001918586564e1,
                             -1.61468768441708447952e3);
    q = z + 1.12811678491632931402e2;
    q = q * z + 2.23548839060100448583e3;
    q = q * z + 4.84406305325125486048e3;
    p = p / q;
  }
  const lane<T, W> small = p * z * a + a;
  p = (lane<S, W>)(a < T(0.625)) ? small : large;
  r = (lane<T, W>)((lane<detail::bits_of<T>, W>)p | negative);
}

#undef CALQUE_CONSTANT
}  // namespace calque::lanes

namespace calque::detail {

// Scalar twins: one lane of the smallest width, so that they give the bits of the lane code.
CALQUE_LANE_TWIN(exp)
CALQUE_LANE_TWIN(log)
CALQUE_LANE_TWIN(tanh)

}  // namespace calque::detail
