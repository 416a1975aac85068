// pow on lanes of float and double, within 2 ulp of the exact result.
//
// x^y = e^(y ln |x|), with the logarithm to more bits than the result has: float takes it in
// double, double in two doubles (T. J. Dekker's products, in pieces of 26 bits so that they are
// exact with or without a fused multiply-add). Separate because of that arithmetic. Called by
// lowered programs.
#pragma once

#include <cstdint>

#include "calque/core/config.hpp"
#include "calque/core/lane_format.hpp"
#include "calque/core/lane_math.hpp"
#include "calque/core/lane_round.hpp"
#include "calque/core/lane_wide.hpp"

namespace calque::lanes {

namespace detail {

/// p + e = a b, exactly but for the last bit of e.
template <int W>
CALQUE_INLINE void two_product(lane<double, W>& p, lane<double, W>& e, const lane<double, W>& a,
                               const lane<double, W>& b) {
  using bits = lane<std::uint64_t, W>;
  constexpr std::uint64_t kept = ~((std::uint64_t{1} << 27) - 1);
  const lane<double, W> ah = (lane<double, W>)((bits)a & kept), al = a - ah;
  const lane<double, W> bh = (lane<double, W>)((bits)b & kept), bl = b - bh;
  p = CALQUE_AS_WRITTEN(a * b);
  e = CALQUE_AS_WRITTEN(CALQUE_AS_WRITTEN(CALQUE_AS_WRITTEN(ah * bh - p) + ah * bl) + al * bh) +
      al * bl;
}

/// h + l = ln x for x > 0 and finite, to some 2^-65 of itself. With s = (m - 1) / (m + 1):
/// ln m = 2 s + s z (2/3 + z (2/5 + ...)), z = s^2.
template <int W>
CALQUE_INLINE void long_log(lane<double, W>& h, lane<double, W>& l, const lane<double, W>& x) {
  using L = lane<double, W>;
  L k, m;
  split_any_exponent<double, W>(k, m, x);

  const L f = m - 1., t = CALQUE_AS_WRITTEN(m + 1.), t_rest = m - CALQUE_AS_WRITTEN(t - 1.);
  const L inverse = 1. / t;
  const L s = f * inverse;
  L p, e;
  two_product<W>(p, e, s, t);
  const L s_rest = (CALQUE_AS_WRITTEN(CALQUE_AS_WRITTEN(f - p) - e) - s * t_rest) * inverse;
  L z, z_rest;
  two_product<W>(z, z_rest, s, s);
  z_rest = z_rest + 2. * (s * s_rest);
  polynomial<double, W>(p, z, 2. / 25, 2. / 23, 2. / 21, 2. / 19, 2. / 17, 2. / 15, 2. / 13,
                        2. / 11, 2. / 9, 2. / 7, 2. / 5);
  p = z * p;
  constexpr double third = 0x1.5555555555555p-1, third_rest = 0x1.5555555555555p-55;
  const L a = CALQUE_AS_WRITTEN(p + third);
  const L a_rest = CALQUE_AS_WRITTEN(p - CALQUE_AS_WRITTEN(a - third)) + third_rest;
  L b, c;
  two_product<W>(b, e, z, a);
  const L b_rest = e + (z * a_rest + z_rest * a);
  two_product<W>(c, e, s, b);
  const L c_rest = e + (s * b_rest + s_rest * b);

  const L whole = k * 0x1.62e42fefp-1, twice = s + s;  // k times 33 bits of ln 2 is exact
  const L sum = CALQUE_AS_WRITTEN(whole + twice);
  const L part = CALQUE_AS_WRITTEN(sum - whole);
  const L lost =
      CALQUE_AS_WRITTEN(whole - CALQUE_AS_WRITTEN(sum - part)) + CALQUE_AS_WRITTEN(twice - part);
  const L total = CALQUE_AS_WRITTEN(sum + c);
  const L low = CALQUE_AS_WRITTEN(CALQUE_AS_WRITTEN(sum - total) + c) +
                (lost + (k * 0x1.473de6af278ecp-34 + ((s_rest + s_rest) + c_rest)));
  h = CALQUE_AS_WRITTEN(total + low);
  l = CALQUE_AS_WRITTEN(total - h) + low;
}

/// r = y, cut off where it is as good as infinite, so that 1 to an infinite power is 1.
template <int W>
CALQUE_INLINE void cut_exponent(lane<double, W>& r, const lane<double, W>& y) {
  using S = lane<std::int64_t, W>;
  lane<double, W> most;
  fill<double, W>(most, 1e300);
  r = (S)(y > most) ? most : y;
  r = (S)(r < -most) ? -most : r;
}

/// r = e^(y ln a) for a >= 0.
template <int W>
CALQUE_INLINE void power_of_magnitude(lane<double, W>& r, const lane<double, W>& a,
                                      const lane<double, W>& y) {
  using L = lane<double, W>;
  using S = lane<std::int64_t, W>;
  L h, l, infinity, p, e;
  long_log<W>(h, l, a);
  fill<double, W>(infinity, __builtin_inf());
  h = (S)(a == infinity) ? infinity : h;
  h = (S)(a == 0.) ? -infinity : h;
  h = (S)(a == a) ? h : a + a;
  L exponent;
  cut_exponent<W>(exponent, y);
  two_product<W>(p, e, exponent, h);
  e = e + exponent * l;
  L magnitude;
  lanes::abs<double, W>(magnitude, p);
  e = (S)(magnitude < 1000.) ? e : L{};  // beyond, nothing but overflow; there e may be NaN
  lane<std::uint64_t, W> n;
  exp_reduce<double, W>(p, n, p);
  exp_less_one<double, W>(r, p + e);
  scale<double, W>(r, r + 1., n);
}

template <int W, int Part>
CALQUE_INLINE void power_part(lane<float, W>& r, const lane<float, W>& a, const lane<float, W>& y) {
  lane<double, part_width<W>> x, exponent;
  widen_part<W, Part>(x, a);
  widen_part<W, Part>(exponent, y);
  lanes::log<double, part_width<W>>(x, x);
  cut_exponent<part_width<W>>(exponent, exponent);
  lanes::exp<double, part_width<W>>(x, x * exponent);
  narrow_part<float, W, Part, double>(r, x);
}
template <int W>
CALQUE_INLINE void power_of_magnitude(lane<float, W>& r, const lane<float, W>& a,
                                      const lane<float, W>& y) {
  power_part<W, 0>(r, a, y);
  if constexpr (part_width<W> != W) power_part<W, 1>(r, a, y);
}

}  // namespace detail

/// r = x^y with the special cases of C's pow: 1 for y = 0 and for x = 1, also beside NaN; NaN for
/// x < 0 and a fractional y; an odd y keeps the sign of x.
template <class T, int W>
CALQUE_INLINE void pow(lane<T, W>& r, const lane<T, W>& x, const lane<T, W>& y) {
  using U = detail::bits_of<T>;
  using S = lane<detail::mask_of<T>, W>;
  lane<U, W> sign, y_sign, plus{};
  lane<T, W> a, b, n, p, m, one, none;
  detail::fill<T, W>(one, T(1));
  detail::fill<T, W>(none, static_cast<T>(__builtin_nan("")));
  detail::take_sign<T, W>(a, sign, x);
  detail::power_of_magnitude<W>(m, a, y);

  // Arms of nested choices differ and conditions stay apart: g++ takes a joined mask to pieces.
  detail::take_sign<T, W>(b, y_sign, y);
  detail::nearest<T, W>(n, b);
  detail::nearest<T, W>(p, b * T(0.5));
  lane<T, W> odd = b - (p + p);  // 1 or -1 for odd integers alone
  lanes::abs<T, W>(odd, odd);
  const lane<T, W> fraction = (S)(n == b) ? lane<T, W>{} : none;
  constexpr U first = detail::floating_format<T>::sign + 1;  // the bits of negative numbers
  constexpr U count = (U{2} * detail::floating_format<T>::bias + 1)
                      << detail::floating_format<T>::fraction_bits;
  const lane<T, W> failed = m + fraction;
  m = (S)(((lane<U, W>)x - first) < count - 1) ? failed : m;
  const lane<U, W> given = (S)(odd == one) ? sign : plus;
  m = (lane<T, W>)((lane<U, W>)m | given);
  m = (S)(x == one) ? one : m;
  r = (S)(y == T(0)) ? y + T(1) : m;
}

}  // namespace calque::lanes

namespace calque::detail {

CALQUE_LANE_TWIN_OF_TWO(pow)

}  // namespace calque::detail
