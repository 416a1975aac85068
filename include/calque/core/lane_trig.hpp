// sin, cos and tan on lanes of float and double: sin and cos within 2 ulp, tan within 3.
//
// Separate because they share one reduction: x = q pi / 2 + y with |y| <= pi / 4. It is exact to
// working precision up to `limit`, by words of pi / 2 with so few bits that their products with q
// are exact (W. J. Cody and W. Waite; words of FreeBSD's e_rem_pio2). Arguments beyond it go to the
// C library, one by one: a branch that is not taken otherwise. Called by lowered programs.
#pragma once

#include <cstdint>

#include "calque/core/config.hpp"
#include "calque/core/lane_format.hpp"

namespace calque::lanes {

namespace detail {

enum class circular { sin, cos, tan };

/// pi / 2 in words, first the ones whose products with q are exact while |x| <= limit.
template <class T>
struct turns;

template <>
struct turns<double> {
  static constexpr double limit = 0x1p20, per_quarter = 0x1.45f306dc9c883p-1;
  static constexpr double first = 1.57079632673412561417e+00, second = 6.07710050630396597660e-11,
                          third = 2.02226624871116645580e-21, last = 8.47842766036889956997e-32;
};
template <>
struct turns<float> {
  static constexpr float limit = 12800, per_quarter = 0x1.45f306p-1f;
  static constexpr float first = 0x1.92p0f, second = 0x1.fb4p-12f, third = 0x1.444p-24f,
                         fourth = 0x1.68cp-39f, last = 0x1.1a6262p-54f;
};

/// s = a - b with its rounding error e; b may be a product that is exact.
template <class T, int W>
CALQUE_INLINE void two_difference(lane<T, W>& s, lane<T, W>& e, const lane<T, W>& a,
                                  const lane<T, W>& b) {
  const lane<T, W> from = a;  // s may be a
  s = CALQUE_AS_WRITTEN(from - b);
  const lane<T, W> c = CALQUE_AS_WRITTEN(s - from);
  e = CALQUE_AS_WRITTEN(from - CALQUE_AS_WRITTEN(s - c)) - CALQUE_AS_WRITTEN(b + c);
}

/// s = a - b with its rounding error e, where |a| >= |b| or the difference is exact.
template <class T, int W>
CALQUE_INLINE void quick_difference(lane<T, W>& s, lane<T, W>& e, const lane<T, W>& a,
                                    const lane<T, W>& b) {
  const lane<T, W> from = a;
  s = CALQUE_AS_WRITTEN(from - b);
  e = CALQUE_AS_WRITTEN(from - s) - b;
}

/// a = q pi / 2 + y + rest for 0 <= a <= limit.
template <class T, int W>
CALQUE_INLINE void reduce_turns(lane<T, W>& y, lane<T, W>& rest, lane<bits_of<T>, W>& q,
                                const lane<T, W>& a) {
  using format = floating_format<T>;
  using words = turns<T>;
  const lane<T, W> t = a * words::per_quarter + format::shifter;
  q = (lane<bits_of<T>, W>)t - format::shifter_bits;  // from the bits: see exp_reduce
  const lane<std::int32_t, W> narrow =
      __builtin_convertvector((lane<mask_of<T>, W>)q, lane<std::int32_t, W>);
  const lane<T, W> n = __builtin_convertvector(narrow, lane<T, W>);
  lane<T, W> e1, e2;
  y = CALQUE_AS_WRITTEN(a - n * words::first);  // exact
  if constexpr (sizeof(T) == sizeof(float)) {
    y = CALQUE_AS_WRITTEN(y - n * words::second);  // exact
    quick_difference<T, W>(y, e1, y, n * words::third);
    quick_difference<T, W>(y, e2, y, n * words::fourth);
  } else {
    two_difference<T, W>(y, e1, y, n * words::second);
    two_difference<T, W>(y, e2, y, n * words::third);
  }
  const lane<T, W> low = (e1 + e2) - n * words::last;
  const lane<T, W> sum = CALQUE_AS_WRITTEN(y + low);
  rest = CALQUE_AS_WRITTEN(y - sum) + low;
  y = sum;
}

/// Sine and cosine of y + rest, |y| <= pi / 4. Polynomials: float of the Cephes library's sinf and
/// cosf, double of FreeBSD's k_sin and k_cos.
template <class T, int W>
CALQUE_INLINE void sine_cosine(lane<T, W>& s, lane<T, W>& c, const lane<T, W>& y,
                               const lane<T, W>& rest) {
  const lane<T, W> z = y * y;
  if constexpr (sizeof(T) == sizeof(float)) {
    polynomial<T, W>(s, z, -1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f);
    s = (s * z * y + rest) + y;
    polynomial<T, W>(c, z, 2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f);
    c = c * (z * z) - T(0.5) * z + T(1);
  } else {
    const lane<T, W> cube = z * y;
    polynomial<T, W>(s, z, 1.58969099521155010221e-10, -2.50507602534068634195e-08,
                     2.75573137070700676789e-06, -1.98412698298579493134e-04,
                     8.33333333332248946124e-03);
    s = y - CALQUE_AS_WRITTEN((z * (T(0.5) * rest - cube * s) - rest) -
                              cube * -1.66666666666666324348e-01);
    polynomial<T, W>(c, z, -1.13596475577881948265e-11, 2.08757232129817482790e-09,
                     -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                     -1.38888888888741095749e-03, 4.16666666666666019037e-02);
    const lane<T, W> half = T(0.5) * z;
    const lane<T, W> w = CALQUE_AS_WRITTEN(T(1) - half);
    c = w + (CALQUE_AS_WRITTEN(CALQUE_AS_WRITTEN(T(1) - w) - half) + (z * (z * c) - y * rest));
  }
}

/// Two numbers whose quotient is the tangent of y + rest. Float: polynomial of the Cephes library's
/// tanf over 1; double: sine over cosine.
template <class T, int W>
CALQUE_INLINE void tangent_parts(lane<T, W>& s, lane<T, W>& c, const lane<T, W>& y,
                                 const lane<T, W>& rest) {
  if constexpr (sizeof(T) == sizeof(float)) {
    const lane<T, W> z = y * y;
    polynomial<T, W>(s, z, 9.38540185543e-3f, 3.11992232697e-3f, 2.44301354525e-2f,
                     5.34112807005e-2f, 1.33387994085e-1f, 3.33331568548e-1f);
    s = (s * z * y + (rest * z + rest)) + y;
    fill<T, W>(c, T(1));
  } else {
    sine_cosine<T, W>(s, c, y, rest);
  }
}

/// Puts the C library's result where an argument is out of the reduction's reach.
template <class T, circular F>
CALQUE_HIDDEN [[gnu::cold, gnu::noinline]] inline void mend_far(T* r, const T* x, int n) {
  for (int k = 0; k < n; ++k) {
    if (!(__builtin_fabs(static_cast<double>(x[k])) > static_cast<double>(turns<T>::limit)))
      continue;
    const auto v = static_cast<double>(x[k]);
    r[k] = static_cast<T>(F == circular::sin   ? __builtin_sin(v)
                          : F == circular::cos ? __builtin_cos(v)
                                               : __builtin_tan(v));
  }
}

template <class T, int W, circular F>
CALQUE_INLINE void turn(lane<T, W>& r, const lane<T, W>& x) {
  using U = bits_of<T>;
  using S = mask_of<T>;
  constexpr int to_sign = static_cast<int>(sizeof(T)) * 8 - 2;
  const lane<T, W> given = x;  // r may be x
  lane<U, W> sign, q;
  lane<T, W> a, y, rest, s, c;
  take_sign<T, W>(a, sign, x);
  reduce_turns<T, W>(y, rest, q, a);
  if constexpr (F == circular::tan) tangent_parts<T, W>(s, c, y, rest);
  else sine_cosine<T, W>(s, c, y, rest);
  const lane<S, W> even = (lane<S, W>)((q & U{1}) == U{0});
  if constexpr (F == circular::tan) {
    const lane<T, W> numerator = even ? s : c, denominator = even ? c : s;
    r = numerator / denominator;
    r = (lane<T, W>)((lane<U, W>)r ^ ((q << (to_sign + 1)) ^ sign));
  } else if constexpr (F == circular::sin) {
    r = even ? s : c;
    r = (lane<T, W>)((lane<U, W>)r ^ (((q & U{2}) << to_sign) ^ sign));
  } else {
    r = even ? c : s;
    r = (lane<T, W>)((lane<U, W>)r ^ (((q + U{1}) & U{2}) << to_sign));
  }
  const lane<S, W> far = (lane<S, W>)(a > turns<T>::limit);
  if (any<S, W>(far)) [[unlikely]] {
    T in[W], out[W];
    store<T, W>(in, given);
    store<T, W>(out, r);
    mend_far<T, F>(out, in, W);
    load<T, W>(r, out);
  }
}

}  // namespace detail

/// r = sin x; -0 stays -0, NaN for infinities.
template <class T, int W>
CALQUE_INLINE void sin(lane<T, W>& r, const lane<T, W>& x) {
  detail::turn<T, W, detail::circular::sin>(r, x);
}
/// r = cos x; NaN for infinities.
template <class T, int W>
CALQUE_INLINE void cos(lane<T, W>& r, const lane<T, W>& x) {
  detail::turn<T, W, detail::circular::cos>(r, x);
}
/// r = tan x, the quotient of sine and cosine; -0 stays -0, NaN for infinities.
template <class T, int W>
CALQUE_INLINE void tan(lane<T, W>& r, const lane<T, W>& x) {
  detail::turn<T, W, detail::circular::tan>(r, x);
}

}  // namespace calque::lanes

namespace calque::detail {

CALQUE_LANE_TWIN(sin)
CALQUE_LANE_TWIN(cos)
CALQUE_LANE_TWIN(tan)

}  // namespace calque::detail
