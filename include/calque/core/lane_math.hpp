// exp, log and tanh on lanes of float and double, within 2 ulp of the exact result.
//
// Separate from core/lanes.hpp because these are algorithms, not single instructions. All are
// branch-free, leave the floating-point environment alone and give C's results for NaN, infinities,
// zeros, denormals and at the edges of overflow and underflow. Called by lowered programs.
#pragma once

#include <cstdint>

#include "calque/core/config.hpp"
#include "calque/core/lane.hpp"
#include "calque/core/lanes.hpp"

namespace calque::lanes {

namespace detail {

// Layout of a floating type, and the splitting of ln 2 into a part with few bits and the rest.
// `shifter` is 1.5 * 2^digits: adding it leaves the nearest integer in the low bits.
template <class T>
struct floating_format;

template <>
struct floating_format<float> {
  static constexpr int fraction_bits = 23;
  static constexpr std::uint32_t bias = 127, sign = 0x80000000u, fraction = 0x007fffffu;
  static constexpr std::uint32_t root_half = 0x3f3504f3u;  // sqrt(1/2)
  static constexpr std::uint32_t shifter_bits = 0x4b400000u;
  static constexpr float shifter = 0x1.8p23f, log2_e = 0x1.715476p0f;
  static constexpr float exp_overflow = 89.f, exp_underflow = -104.f;
  static constexpr float exp_ln2_high = 0.693359375f, exp_ln2_low = -2.12194440e-4f;
  static constexpr float log_ln2_high = 0x1.62e300p-1f, log_ln2_low = 0x1.2fefa2p-17f;
  static constexpr float least_normal = 0x1p-126f, normalise = 0x1p25f, shifted = 25.f;
};

template <>
struct floating_format<double> {
  static constexpr int fraction_bits = 52;
  static constexpr std::uint64_t bias = 1023, sign = std::uint64_t{1} << 63,
                                 fraction = 0x000fffffffffffffu;
  static constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcdu;
  static constexpr std::uint64_t shifter_bits = 0x4338000000000000u;
  static constexpr double shifter = 0x1.8p52, log2_e = 0x1.71547652b82fep0;
  static constexpr double exp_overflow = 710., exp_underflow = -746.;
  static constexpr double exp_ln2_high = 6.93145751953125e-1,
                          exp_ln2_low = 1.42860682030941723212e-6;
  static constexpr double log_ln2_high = 6.93147180369123816490e-1,
                          log_ln2_low = 1.90821492927058770002e-10;
  static constexpr double least_normal = 0x1p-1022, normalise = 0x1p54, shifted = 54.;
};

// A lane of one constant: arithmetic on constants folds in the compiler. nvcc 13 crashes on an
// initialiser that folds to 16 elements, not on an assignment.
#define CALQUE_CONSTANT(c) (lane<T, W>{} + (c))

// r = x * 2^n. Two factors, so that n may reach past both ends of the exponent; the last product
// alone rounds.
template <class T, int W>
CALQUE_INLINE void scale(lane<T, W>& r, const lane<T, W>& x,
                         const lane<calque::detail::unsigned_bits<T>, W>& n) {
  using format = floating_format<T>;
  using U = calque::detail::unsigned_bits<T>;
  using S = calque::detail::signed_bits<T>;
  const lane<U, W> half = (lane<U, W>)((lane<S, W>)n >> 1);
  const lane<U, W> first = (half + format::bias) << format::fraction_bits;
  const lane<U, W> second = (n - half + format::bias) << format::fraction_bits;
  r = x * (lane<T, W>)first * (lane<T, W>)second;
}

}  // namespace detail

/// r = e^x. Reduced by multiples of ln 2 (two constants, W. J. Cody and W. Waite); float: minimax
/// polynomial of the Cephes library (S. L. Moshier), double: Taylor series to the 13th power.
template <class T, int W>
CALQUE_INLINE void exp(lane<T, W>& r, const lane<T, W>& x) {
  using format = detail::floating_format<T>;
  using U = calque::detail::unsigned_bits<T>;
  using S = calque::detail::signed_bits<T>;
  lane<T, W> high, low;
  high = CALQUE_CONSTANT(format::exp_overflow);
  low = CALQUE_CONSTANT(format::exp_underflow);
  lane<T, W> y = (lane<S, W>)(x > high) ? high : x;  // NaN passes both
  y = (lane<S, W>)(y < low) ? low : y;
  // The multiple of ln 2 is read from the bits: (t - shifter) would not survive -ffast-math.
  const lane<T, W> t = y * format::log2_e + format::shifter;
  const lane<U, W> multiple = (lane<U, W>)t - format::shifter_bits;
  const lane<std::int32_t, W> narrow =
      __builtin_convertvector((lane<S, W>)multiple, lane<std::int32_t, W>);
  const lane<T, W> n = __builtin_convertvector(narrow, lane<T, W>);
  y = y - n * format::exp_ln2_high;
  y = y - n * format::exp_ln2_low;
  lane<T, W> p;
  if constexpr (sizeof(T) == sizeof(float)) {
    p = 1.9875691500e-4f * y + 1.3981999507e-3f;
    p = p * y + 8.3334519073e-3f;
    p = p * y + 4.1665795894e-2f;
    p = p * y + 1.6666665459e-1f;
    p = p * y + 5.0000001201e-1f;
  } else {
    p = (1. / 6227020800) * y + (1. / 479001600);
    p = p * y + (1. / 39916800);
    p = p * y + (1. / 3628800);
    p = p * y + (1. / 362880);
    p = p * y + (1. / 40320);
    p = p * y + (1. / 5040);
    p = p * y + (1. / 720);
    p = p * y + (1. / 120);
    p = p * y + (1. / 24);
    p = p * y + (1. / 6);
    p = p * y + 0.5;
  }
  p = p * (y * y) + y;
  p = p + T(1);
  detail::scale<T, W>(r, p, multiple);
}

/// r = ln x; -inf for zeros, NaN below. With x = 2^k (1 + f) near 1 and s = f / (2 + f):
/// ln x = k ln 2 + f - f^2/2 + s (f^2/2 + R(s^2)), polynomial R of FreeBSD's msun (e_log, e_logf).
template <class T, int W>
CALQUE_INLINE void log(lane<T, W>& r, const lane<T, W>& x) {
  using format = detail::floating_format<T>;
  using U = calque::detail::unsigned_bits<T>;
  using S = calque::detail::signed_bits<T>;
  const lane<S, W> tiny = (lane<S, W>)(x < format::least_normal);
  const lane<T, W> y = tiny ? x * format::normalise : x;

  // Exponent so that 1 + f lies in [sqrt(1/2), sqrt(2)).
  const lane<U, W> offset = (lane<U, W>)y - format::root_half;
  const lane<S, W> exponent = (lane<S, W>)offset >> format::fraction_bits;
  const lane<T, W> m = (lane<T, W>)((offset & format::fraction) + format::root_half);
  const lane<U, W> counted = (lane<U, W>)exponent + format::shifter_bits;
  lane<T, W> k = (lane<T, W>)counted - format::shifter;
  k = tiny ? k - format::shifted : k;

  const lane<T, W> f = m - T(1);
  const lane<T, W> s = f / (f + T(2));
  const lane<T, W> z = s * s;
  const lane<T, W> half_square = T(0.5) * f * f;
  lane<T, W> p;
  if constexpr (sizeof(T) == sizeof(float)) {
    p = 0xf89e26.0p-26f * z + 0x91e9ee.0p-25f;
    p = p * z + 0xccce13.0p-25f;
    p = p * z + 0xaaaaaa.0p-24f;
  } else {
    p = 1.479819860511658591e-01 * z + 1.531383769920937332e-01;
    p = p * z + 1.818357216161805012e-01;
    p = p * z + 2.222219843214978396e-01;
    p = p * z + 2.857142874366239149e-01;
    p = p * z + 3.999999999940941908e-01;
    p = p * z + 6.666666666666735130e-01;
  }
  p = s * (half_square + p * z);
  p = p + k * format::log_ln2_low;
  p = f - (half_square - p);
  p = k * format::log_ln2_high + p;

  lane<T, W> infinity;
  infinity = CALQUE_CONSTANT(static_cast<T>(__builtin_inf()));
  p = (lane<S, W>)(x == infinity) ? infinity : p;
  p = (lane<S, W>)(x == T(0)) ? -infinity : p;
  p = (lane<S, W>)(x < T(0)) ? CALQUE_CONSTANT(static_cast<T>(__builtin_nan(""))) : p;
  r = (lane<S, W>)(x == x) ? p : x;
}

/// r = tanh x: odd approximation of the Cephes library below 5/8 (float: polynomial, double:
/// rational), 1 - 2 / (e^(2|x|) + 1) above.
template <class T, int W>
CALQUE_INLINE void tanh(lane<T, W>& r, const lane<T, W>& x) {
  using format = detail::floating_format<T>;
  using U = calque::detail::unsigned_bits<T>;
  using S = calque::detail::signed_bits<T>;
  const lane<U, W> negative = (lane<U, W>)x & format::sign;
  const lane<T, W> a = (lane<T, W>)((lane<U, W>)x ^ negative);
  lane<T, W> e, p;
  lanes::exp<T, W>(e, a + a);
  const lane<T, W> large = T(1) - T(2) / (e + T(1));
  const lane<T, W> z = a * a;
  if constexpr (sizeof(T) == sizeof(float)) {
    p = -5.70498872745e-3f * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
  } else {
    p = -9.64399179425052238628e-1 * z - 9.92877231001918586564e1;
    p = p * z - 1.61468768441708447952e3;
    lane<T, W> q = z + 1.12811678491632931402e2;
    q = q * z + 2.23548839060100448583e3;
    q = q * z + 4.84406305325125486048e3;
    p = p / q;
  }
  const lane<T, W> small = p * z * a + a;
  p = (lane<S, W>)(a < T(0.625)) ? small : large;
  r = (lane<T, W>)((lane<U, W>)p | negative);
}

#undef CALQUE_CONSTANT
}  // namespace calque::lanes

namespace calque::detail {

// Scalar twins: one lane of the smallest width, so that they give the bits of the lane code.
#define CALQUE_SCALAR_TWIN(name, function)              \
  template <class T>                                    \
  [[nodiscard]] CALQUE_INLINE T name(T x) {             \
    constexpr int W = 16 / static_cast<int>(sizeof(T)); \
    lane<T, W> r;                                       \
    lanes::splat<T, W>(r, x);                           \
    lanes::function<T, W>(r, r);                        \
    return lanes::at<T, W>(r, 0);                       \
  }
CALQUE_SCALAR_TWIN(scalar_exp, exp)
CALQUE_SCALAR_TWIN(scalar_log, log)
CALQUE_SCALAR_TWIN(scalar_tanh, tanh)
#undef CALQUE_SCALAR_TWIN

}  // namespace calque::detail
