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

/// r = t - shifter, the integer in the low bits of t, above `Rest` bits that are zero. As a
/// difference of floating numbers it would not survive -ffast-math: g++ is kept from looking
/// through it, others take it from the bits.
template <class T, int W, int Rest = 0>
CALQUE_INLINE void count_of(lane<T, W>& r, const lane<T, W>& t, T shifter) {
#if CALQUE_X86() && !CALQUE_CLANG()
  r = t;
  __asm__("" : "+v"(r));
  r = r - shifter;
#else
  using U = bits_of<T>;
  const lane<mask_of<T>, W> n =
      (lane<mask_of<T>, W>)((lane<U, W>)t - __builtin_bit_cast(U, shifter));
  r = __builtin_convertvector(__builtin_convertvector(n >> Rest, lane<std::int32_t, W>),
                              lane<T, W>);
#endif
}

/// y = x - n ln 2 with |y| <= ln 2 / 2, and n plus the bias and `More`; for |x| below some
/// thousands.
template <class T, int W, int More = 0>
CALQUE_INLINE void exp_reduce_near(lane<T, W>& y, lane<bits_of<T>, W>& multiple,
                                   const lane<T, W>& x) {
  using format = floating_format<T>;
  constexpr T shifter = format::shifter + T(static_cast<int>(format::bias) + More);
  const lane<T, W> t = x * format::log2_e + shifter;
  lane<T, W> n;
  count_of<T, W>(n, t, shifter);
  multiple = (lane<bits_of<T>, W>)t;
  y = CALQUE_AS_WRITTEN(x - n * format::exp_ln2_high);
  y = y - n * format::exp_ln2_low;
}

/// The same for every x at which e^x does not vanish, and NaN. Far above, the multiple stays and y
/// grows instead: there p of `exp_less_one` is positive, and scaled by it infinite. `multiple`
/// carries twice the bias, for `scale`.
template <class T, int W>
CALQUE_INLINE void exp_reduce_above(lane<T, W>& y, lane<bits_of<T>, W>& multiple,
                                    const lane<T, W>& x) {
  using format = floating_format<T>;
  using S = mask_of<T>;
  constexpr T shifter = format::shifter + T(2 * format::bias);
  lane<T, W> n;
  lane<S, W> t, most;
  t = (lane<S, W>)(x * format::log2_e + shifter);
  most = lane<S, W>{} + static_cast<S>(format::shifter_bits + 4 * format::bias);
  t = t < most ? t : most;
  multiple = (lane<bits_of<T>, W>)t;
  count_of<T, W>(n, (lane<T, W>)multiple, shifter);
  y = CALQUE_AS_WRITTEN(x - n * format::exp_ln2_high);
  y = y - n * format::exp_ln2_low;
}
/// The same for every x, which is cut off where e^x vanishes.
template <class T, int W>
CALQUE_INLINE void exp_reduce(lane<T, W>& y, lane<bits_of<T>, W>& multiple, const lane<T, W>& x) {
  lane<T, W> c;
  c = CALQUE_CONSTANT(floating_format<T>::exp_underflow);
  c = (lane<mask_of<T>, W>)(x < c) ? c : x;
  exp_reduce_above<T, W>(y, multiple, c);
}
/// c = x, or a small number where e^x vanishes: computing that would take the processor long.
template <class T, int W>
CALQUE_INLINE void exp_vanishes(lane<mask_of<T>, W>& gone, lane<T, W>& c, const lane<T, W>& x) {
  c = CALQUE_CONSTANT(T(-1));
  gone = (lane<mask_of<T>, W>)(x < floating_format<T>::exp_underflow);
  c = gone ? c : x;
}

/// p = e^y - 1 for |y| <= ln 2 / 2.
template <class T, int W>
CALQUE_INLINE void exp_less_one(lane<T, W>& p, const lane<T, W>& y) {
  if constexpr (sizeof(T) == sizeof(float)) {
    paired_polynomial<T, W>(p, y, y * y, 0x1.6ac6b2p-10f, 0x1.123dep-7f, 0x1.555858p-5f,
                            0x1.55548cp-3f);
    p = p * y + 0x1.fffffcp-2f;
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
  r = (p + T(1)) * (lane<T, W>)(n << format::fraction_bits);
}

}  // namespace detail

/// r = e^x. Reduced by multiples of ln 2 (two constants, W. J. Cody and W. Waite); then float: a
/// minimax polynomial computed for this file by Remez's algorithm, double: Taylor series to the
/// 13th power.
template <class T, int W>
CALQUE_INLINE void exp(lane<T, W>& r, const lane<T, W>& x) {
  lane<T, W> c, y, p;
  lane<detail::mask_of<T>, W> gone;
  lane<detail::bits_of<T>, W> multiple;
  detail::exp_vanishes<T, W>(gone, c, x);
  detail::exp_reduce_above<T, W>(y, multiple, c);
  detail::exp_less_one<T, W>(p, y);
  p = p + T(1);
  detail::scale<T, W>(p, p, multiple);
  r = gone ? lane<T, W>{} : p;
}

/// r = e^x for x <= 0 or NaN, in fewer instructions: nothing overflows, so that one scale will do,
/// which keeps denormal results out until the last step.
template <class T, int W>
CALQUE_INLINE void exp_nonpositive(lane<T, W>& r, const lane<T, W>& x) {
  using format = detail::floating_format<T>;
  constexpr int half = (static_cast<int>(format::bias) + 1) / 2;
  constexpr T back = sizeof(T) == sizeof(float) ? T(0x1p-64) : T(0x1p-512);
  lane<T, W> c, y, p;
  lane<detail::mask_of<T>, W> gone;
  lane<detail::bits_of<T>, W> multiple;
  detail::exp_vanishes<T, W>(gone, c, x);
  detail::exp_reduce_near<T, W, half>(y, multiple, c);
  detail::exp_less_one<T, W>(p, y);
  const lane<T, W> power = (lane<T, W>)(multiple << format::fraction_bits);
  p = (p * power + power) * back;
  r = gone ? lane<T, W>{} : p;
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
  if constexpr (sizeof(T) == sizeof(float)) k = __builtin_convertvector(exponent, lane<T, W>);
  else
    count_of<T, W>(k, (lane<T, W>)((lane<U, W>)exponent + format::shifter_bits), format::shifter);
}

/// The same of any y > 0.
template <class T, int W>
CALQUE_INLINE void split_any_exponent(lane<T, W>& k, lane<T, W>& m, const lane<T, W>& y) {
  using format = floating_format<T>;
  using S = mask_of<T>;
  const lane<S, W> tiny = (lane<S, W>)(y < format::least_normal);
  split_exponent<T, W>(k, m, tiny ? y * format::normalise : y);
  k = tiny ? k - format::shifted : k;
}

/// r = k ln 2 + ln(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)). Float: f + f^2 P(f), P computed for
/// this file by Remez's algorithm. Double: with s = f / (2 + f), ln(1 + f) = f - f^2/2 + s (f^2/2 +
/// R(s^2)), polynomial R of FreeBSD's msun (e_log).
template <class T, int W>
CALQUE_INLINE void log_of_parts(lane<T, W>& r, const lane<T, W>& k, const lane<T, W>& f) {
  using format = floating_format<T>;
  lane<T, W> p;
  if constexpr (sizeof(T) == sizeof(float)) {
    const lane<T, W> z = f * f;
    paired_polynomial<T, W>(p, f, z, 0x1.65c78cp-4f, -0x1.2504b4p-3f, 0x1.31852ap-3f,
                            -0x1.535d2ep-3f, 0x1.98d2c0p-3f, -0x1.00049ap-2f, 0x1.5556f4p-2f,
                            -0x1.fffffap-2f);
    p = p * z + f;
    r = k * 0x1.62e43p-1f + p;  // one word: its error is small beside the result
  } else {
    const lane<T, W> s = f / (f + T(2));
    const lane<T, W> z = s * s;
    const lane<T, W> half_square = T(0.5) * f * f;
    polynomial<T, W>(p, z, 1.479819860511658591e-01, 1.531383769920937332e-01,
                     1.818357216161805012e-01, 2.222219843214978396e-01, 2.857142874366239149e-01,
                     3.999999999940941908e-01, 6.666666666666735130e-01);
    p = s * (half_square + p * z);
    p = p + k * format::log_ln2_low;
    p = f - (half_square - p);
    r = k * format::log_ln2_high + p;
  }
}

}  // namespace detail

/// r = ln x; -inf for zeros, NaN below: of x = 2^k (1 + f), see `log_of_parts`.
template <class T, int W>
CALQUE_INLINE void log(lane<T, W>& r, const lane<T, W>& x) {
  using S = detail::mask_of<T>;
  const lane<S, W> bits = (lane<S, W>)x;
  lane<T, W> k, m, p, infinity;
  detail::split_any_exponent<T, W>(k, m, x);
  detail::log_of_parts<T, W>(p, k, m - T(1));

  infinity = CALQUE_CONSTANT(static_cast<T>(__builtin_inf()));
  p = (lane<S, W>)(bits >= (lane<S, W>)infinity) ? x : p;           // NaN too
  p = (lane<T, W>)((lane<S, W>)p | (bits >> (8 * sizeof(T) - 1)));  // all bits: NaN
  r = (lane<S, W>)(x == T(0)) ? -infinity : p;
}

/// r = tanh x. With |x| = n ln 2 / 2 + v, s = 2^n / 2 and t = tanh v, the addition theorem gives
/// N / (N + 1 - t), N = (s + 1/2) t + (s - 1/2): that is t for n = 0, and beyond, errors of N
/// matter the less, the nearer the quotient comes to 1. Polynomials of t computed for this file by
/// Remez's algorithm.
template <class T, int W>
CALQUE_INLINE void tanh(lane<T, W>& r, const lane<T, W>& x) {
  using format = detail::floating_format<T>;
  using U = detail::bits_of<T>;
  using S = detail::mask_of<T>;
  constexpr T most = sizeof(T) == sizeof(float) ? T(9.5) : T(20);  // 1 from 9.02 or 19.1 on
  lane<U, W> sign;
  lane<T, W> a, cut, n, p, v, z;
  detail::take_sign<T, W>(a, sign, x);
  cut = CALQUE_CONSTANT(most);
  a = (lane<S, W>)(a > cut) ? cut : a;
  // To the nearest half and then down, so that v lies in [-ln 2 / 8, 3 ln 2 / 8): quotients just
  // below 1/4 are t itself. Twice the biased exponent of s comes along with the halves.
  constexpr T shifter = format::shifter / 2 + T(format::bias - 1);
  const lane<T, W> halves = a * (format::log2_e + format::log2_e) + shifter;
  const lane<U, W> whole = (lane<U, W>)halves & ~U{1};
  detail::count_of<T, W, 1>(n, (lane<T, W>)whole, shifter);
  const lane<T, W> s = (lane<T, W>)(whole << (format::fraction_bits - 1));
  if constexpr (sizeof(T) == sizeof(float)) {
    v = a - n * 0x1.62e43p-2f;  // one word: its error shrinks beside the result as n grows
    z = v * v;
    detail::polynomial<T, W>(p, z, -0x1.a3a33p-5f, 0x1.10d942p-3f, -0x1.555506p-2f);
  } else {
    v = a - n * (format::exp_ln2_high / 2);
    v = v - n * (format::exp_ln2_low / 2);
    z = v * v;
    detail::polynomial<T, W>(p, z, -0x1.56be2f5ce1be8p-10, 0x1.d4c2dd6e1e324p-9,
                             -0x1.2266d9064a7bfp-7, 0x1.664f2b901818ep-6, -0x1.ba1ba17d15f64p-5,
                             0x1.11111110f2886p-3, -0x1.55555555554b0p-2);
  }
  const lane<T, W> t = p * z * v + v;
  const lane<T, W> numerator = (s + T(0.5)) * t + (s - T(0.5));
  r = numerator / (numerator + (T(1) - t));
  r = (lane<T, W>)((lane<U, W>)r | sign);
}

#undef CALQUE_CONSTANT
}  // namespace calque::lanes

namespace calque::detail {

// Scalar twins: one lane of the smallest width, so that they give the bits of the lane code.
CALQUE_LANE_TWIN(exp)
CALQUE_LANE_TWIN(exp_nonpositive)
CALQUE_LANE_TWIN(log)
CALQUE_LANE_TWIN(tanh)

}  // namespace calque::detail
