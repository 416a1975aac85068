// expm1, log1p, sigmoid and rsqrt on lanes: relatives of exp, log and sqrt, within 3 ulp.
//
// Separate from core/lane_math.hpp, whose reductions and polynomials they share. Called by lowered
// programs.
#pragma once

#include "calque/core/config.hpp"
#include "calque/core/lane_format.hpp"
#include "calque/core/lane_math.hpp"

namespace calque::lanes {

/// r = e^x - 1: with x = n ln 2 + y, it is 2^n (e^y - 1) + (2^n - 1), which cancels nowhere.
template <class T, int W>
CALQUE_INLINE void expm1(lane<T, W>& r, const lane<T, W>& x) {
  using format = detail::floating_format<T>;
  using U = detail::bits_of<T>;
  using S = detail::mask_of<T>;
  constexpr T least = sizeof(T) == sizeof(float) ? T(-18) : T(-38);  // -1 from here down
  lane<T, W> low, high, y, p;
  detail::fill<T, W>(low, least);
  detail::fill<T, W>(high, format::exp_overflow);
  low = (lane<S, W>)(x < least) ? low : x;
  low = (lane<S, W>)(low > high) ? high : low;
  lane<U, W> n;
  detail::exp_reduce_near<T, W>(y, n, low);
  detail::exp_less_one<T, W>(p, y);
  // half of 2^n: n = 128 is no exponent of a float
  const lane<T, W> power = (lane<T, W>)((n - U{1}) << format::fraction_bits);
  p = power * p + CALQUE_AS_WRITTEN(power - T(0.5));
  p = p + p;
  r = (lane<S, W>)(x == T(0)) ? x : p;
}

/// r = ln(1 + x): of the rounded sum 1 + x = 2^k (1 + f), f is mended by what the rounding lost
/// (as FreeBSD's s_log1p); -inf at -1, NaN below.
template <class T, int W>
CALQUE_INLINE void log1p(lane<T, W>& r, const lane<T, W>& x) {
  using format = detail::floating_format<T>;
  using U = detail::bits_of<T>;
  using S = detail::mask_of<T>;
  const lane<T, W> u = CALQUE_AS_WRITTEN(x + T(1));
  const lane<T, W> lost = x - CALQUE_AS_WRITTEN(u - T(1));
  const lane<U, W> offset = (lane<U, W>)u - format::root_half;
  const lane<S, W> exponent = (lane<S, W>)offset >> format::fraction_bits;
  lane<T, W> k, m, p;
  detail::split_exponent<T, W>(k, m, u);
  const lane<U, W> down = (format::bias - (lane<U, W>)exponent) << format::fraction_bits;  // 2^-k
  const lane<T, W> plain = m - T(1);
  lane<T, W> f = plain + lost * (lane<T, W>)down;
  f = (lane<S, W>)(x < format::shifter) ? f : plain;  // nothing is lost, 2^-k may not exist
  detail::log_of_parts<T, W>(p, k, f);

  lane<T, W> infinity, none;
  detail::fill<T, W>(infinity, static_cast<T>(__builtin_inf()));
  detail::fill<T, W>(none, static_cast<T>(__builtin_nan("")));
  p = (lane<S, W>)(x == infinity) ? infinity : p;
  p = (lane<S, W>)(u == T(0)) ? -infinity : p;
  p = (lane<S, W>)(x < T(-1)) ? none : p;
  p = (lane<S, W>)(x == T(0)) ? x : p;
  r = (lane<S, W>)(x == x) ? p : x + x;  // (x + x: g++ merges masks of selects with one arm)
}

/// r = 1 / (1 + e^-x), of e^-|x|: nothing overflows, and far below zero it is e^x.
template <class T, int W>
CALQUE_INLINE void sigmoid(lane<T, W>& r, const lane<T, W>& x) {
  using S = detail::mask_of<T>;
  const lane<T, W> below =
      (lane<T, W>)((lane<detail::bits_of<T>, W>)x | detail::floating_format<T>::sign);
  lane<T, W> e, one;
  lanes::exp_nonpositive<T, W>(e, below);
  detail::fill<T, W>(one, T(1));
  const lane<T, W> numerator = (lane<S, W>)(x < T(0)) ? e : one;
  r = numerator / (e + T(1));
}

/// r = 1 / sqrt x; infinity at zero with its sign, NaN below.
template <class T, int W>
CALQUE_INLINE void rsqrt(lane<T, W>& r, const lane<T, W>& x) {
  lane<T, W> root;
  lanes::sqrt<T, W>(root, x);
  r = T(1) / root;
}

}  // namespace calque::lanes

namespace calque::detail {

CALQUE_LANE_TWIN(expm1)
CALQUE_LANE_TWIN(log1p)
CALQUE_LANE_TWIN(sigmoid)
CALQUE_LANE_TWIN(rsqrt)

}  // namespace calque::detail
