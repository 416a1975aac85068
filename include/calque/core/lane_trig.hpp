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
#include "calque/core/lane_wide.hpp"

namespace calque::lanes {

namespace detail {

enum class circular { sin, cos, tan };

/// x = q pi / 2 + y + rest, for |x| <= limit.
template <class T>
struct turns;

template <>
struct turns<double> {
  static constexpr double limit = 0x1p20, per_quarter = 0x1.45f306dc9c883p-1;
  static constexpr double first = 1.57079632673412561417e+00, second = 6.07710050630396597660e-11,
                          third = 2.02226624871116645580e-21, fourth = 8.47842766036889956997e-32;
};
template <>
struct turns<float> {  // in double: 25 bits, 25 bits, the rest
  static constexpr float limit = 0x1p28f;
  static constexpr double first = 0x1.921fb5p0, second = 0x1.110b46p-26,
                          third = 0x1.1a62633145c06p-54;
};

/// s = a - b with its rounding error e; b may be a product that is exact.
template <class T, int W>
CALQUE_INLINE void two_difference(lane<T, W>& s, lane<T, W>& e, const lane<T, W>& a,
                                  const lane<T, W>& b) {
  const lane<T, W> from = a;  // s may be a
  s = from - b;
  const lane<T, W> c = s - from;
  e = (from - (s - c)) - (b + c);
}

/// The multiple of pi / 2 nearest to a, as an integer and as a number.
template <int W>
CALQUE_INLINE void count_quarters(lane<std::uint64_t, W>& q, lane<double, W>& n,
                                  const lane<double, W>& a) {
  using format = floating_format<double>;
  const lane<double, W> t = a * turns<double>::per_quarter + format::shifter;
  q = (lane<std::uint64_t, W>)t - format::shifter_bits;
  const lane<std::int32_t, W> narrow =
      __builtin_convertvector((lane<std::int64_t, W>)q, lane<std::int32_t, W>);
  n = __builtin_convertvector(narrow, lane<double, W>);
}

template <bool Precise, int W>
CALQUE_INLINE void reduce_turns(lane<double, W>& y, lane<double, W>& rest,
                                lane<std::uint64_t, W>& q, const lane<double, W>& a) {
  using words = turns<double>;
  lane<double, W> n, e1, e2;
  count_quarters<W>(q, n, a);
  y = a - n * words::first;  // exact
  two_difference<double, W>(y, e1, y, n * words::second);
  two_difference<double, W>(y, e2, y, n * words::third);
  const lane<double, W> low = (e1 + e2) - n * words::fourth;
  const lane<double, W> sum = y + low;
  rest = (y - sum) + low;
  y = sum;
}

template <bool Precise, int W, int Part>
CALQUE_INLINE void reduce_turns_part(lane<float, W>& y, lane<float, W>& rest,
                                     lane<std::uint32_t, W>& q, const lane<float, W>& a) {
  using words = turns<float>;
  constexpr int H = part_width<W>;
  lane<double, H> x, n;
  lane<std::uint64_t, H> quarters;
  widen_part<W, Part>(x, a);
  count_quarters<H>(quarters, n, x);
  x = x - n * words::first;
  x = x - n * words::second;
  x = x - n * words::third;
  narrow_part<float, W, Part, double>(y, x);
  if constexpr (Precise) {  // what y lost
    widen_part<W, Part>(n, y);
    narrow_part<float, W, Part, double>(rest, x - n);
  }
  narrow_part<std::uint32_t, W, Part, std::uint64_t>(q, quarters);
}
template <bool Precise, int W>
CALQUE_INLINE void reduce_turns(lane<float, W>& y, lane<float, W>& rest, lane<std::uint32_t, W>& q,
                                const lane<float, W>& a) {
  reduce_turns_part<Precise, W, 0>(y, rest, q, a);
  if constexpr (part_width<W> != W) reduce_turns_part<Precise, W, 1>(y, rest, q, a);
}

/// Sine and cosine of y + rest (`Precise`: float too minds the rest), |y| <= pi / 4. Polynomials:
/// float of the Cephes library's sinf and cosf, double of FreeBSD's k_sin and k_cos.
template <bool Precise, class T, int W>
CALQUE_INLINE void sine_cosine(lane<T, W>& s, lane<T, W>& c, const lane<T, W>& y,
                               const lane<T, W>& rest) {
  const lane<T, W> z = y * y;
  if constexpr (sizeof(T) == sizeof(float)) {
    polynomial<T, W>(s, z, -1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f);
    if constexpr (Precise) s = (s * z * y + rest) + y;
    else s = s * z * y + y;
    polynomial<T, W>(c, z, 2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f);
    c = c * (z * z) - T(0.5) * z;
    if constexpr (Precise) c = c - y * rest;
    c = c + T(1);
  } else {
    const lane<T, W> cube = z * y;
    polynomial<T, W>(s, z, 1.58969099521155010221e-10, -2.50507602534068634195e-08,
                     2.75573137070700676789e-06, -1.98412698298579493134e-04,
                     8.33333333332248946124e-03);
    s = y - ((z * (T(0.5) * rest - cube * s) - rest) - cube * -1.66666666666666324348e-01);
    polynomial<T, W>(c, z, -1.13596475577881948265e-11, 2.08757232129817482790e-09,
                     -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                     -1.38888888888741095749e-03, 4.16666666666666019037e-02);
    const lane<T, W> half = T(0.5) * z;
    const lane<T, W> w = T(1) - half;
    c = w + (((T(1) - w) - half) + (z * (z * c) - y * rest));
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
  lane<T, W> a, y, rest{}, s, c;
  take_sign<T, W>(a, sign, x);
  constexpr bool precise = F == circular::tan;  // the quotient adds both errors
  reduce_turns<precise, W>(y, rest, q, a);
  sine_cosine<precise, T, W>(s, c, y, rest);
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
