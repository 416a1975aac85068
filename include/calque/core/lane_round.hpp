// floor, ceil, round and fmod on lanes: exact, with C's signs of zero.
//
// Separate because none of them approximates. Baseline x86-64 has no instruction that rounds, so
// the nearest integer comes from the bits of a sum; this also survives -ffast-math. Called by
// lowered programs, and by pow for its tests of integers.
#pragma once

#include <cstdint>

#include "calque/core/config.hpp"
#include "calque/core/lane_format.hpp"

namespace calque::lanes {

namespace detail {

/// r = the integer nearest to a >= 0, ties to even; a itself where it has no fraction bits, NaN
/// too.
template <class T, int W>
CALQUE_INLINE void nearest(lane<T, W>& r, const lane<T, W>& a) {
  if constexpr (sizeof(T) == sizeof(float)) {
    constexpr float whole = 0x1p23f;
    const lane<std::int32_t, W> n = (lane<std::int32_t, W>)(a + whole) - 0x4b000000;
    const lane<T, W> rounded = __builtin_convertvector(n, lane<T, W>);
    r = (lane<std::int32_t, W>)(a < whole) ? rounded : a;
  } else {
    constexpr double whole = 0x1p52;
    using U = std::uint64_t;
    const lane<U, W> n = (lane<U, W>)(a + whole) - U{0x4330000000000000};
    // halves of 32 bits as fractions of 2^84 and 2^52: integers of 64 bits convert one by one
    const lane<T, W> high = (lane<T, W>)((n >> 32) | U{0x4530000000000000});
    const lane<T, W> low = (lane<T, W>)((n & U{0xffffffff}) | U{0x4330000000000000});
    const lane<T, W> rounded = CALQUE_AS_WRITTEN(high - (0x1p84 + 0x1p52)) + low;
    r = (lane<std::int64_t, W>)(a < whole) ? rounded : a;
  }
}

/// r = the integer nearest to x, ties to even, with the sign of x.
template <class T, int W>
CALQUE_INLINE void nearest_signed(lane<T, W>& r, lane<bits_of<T>, W>& sign, const lane<T, W>& x) {
  lane<T, W> a;
  take_sign<T, W>(a, sign, x);
  nearest<T, W>(a, a);
  r = (lane<T, W>)((lane<bits_of<T>, W>)a | sign);
}

template <class T>
CALQUE_HIDDEN [[gnu::noinline]] inline void fmod_each(T* r, const T* y, int n) {
  for (int k = 0; k < n; ++k)
    r[k] = sizeof(T) == sizeof(float)
               ? static_cast<T>(__builtin_fmodf(static_cast<float>(r[k]), static_cast<float>(y[k])))
               : static_cast<T>(__builtin_fmod(r[k], y[k]));
}

}  // namespace detail

/// r = the greatest integer not above x.
template <class T, int W>
CALQUE_INLINE void floor(lane<T, W>& r, const lane<T, W>& x) {
  lane<T, W> n;
  lane<detail::bits_of<T>, W> sign;
  detail::nearest_signed<T, W>(n, sign, x);
  r = (lane<detail::mask_of<T>, W>)(n > x) ? n - T(1) : n;
}

/// r = the least integer not below x; zeros from below are -0.
template <class T, int W>
CALQUE_INLINE void ceil(lane<T, W>& r, const lane<T, W>& x) {
  lane<T, W> n;
  lane<detail::bits_of<T>, W> sign;
  detail::nearest_signed<T, W>(n, sign, x);
  n = (lane<detail::mask_of<T>, W>)(n < x) ? n + T(1) : n;
  r = (lane<T, W>)((lane<detail::bits_of<T>, W>)n | sign);
}

/// r = the integer nearest to x; halves go to the even one, as in NumPy and C's nearbyint.
template <class T, int W>
CALQUE_INLINE void round(lane<T, W>& r, const lane<T, W>& x) {
  lane<detail::bits_of<T>, W> sign;
  detail::nearest_signed<T, W>(r, sign, x);
}

/// r = C's fmod(x, y), element by element through the C library: exact for every quotient.
template <class T, int W>
CALQUE_INLINE void fmod(lane<T, W>& r, const lane<T, W>& x, const lane<T, W>& y) {
  T a[W], b[W];
  store<T, W>(a, x);
  store<T, W>(b, y);
  detail::fmod_each<T>(a, b, W);
  load<T, W>(r, a);
}

}  // namespace calque::lanes

namespace calque::detail {

CALQUE_LANE_TWIN(floor)
CALQUE_LANE_TWIN(ceil)
CALQUE_LANE_TWIN(round)
CALQUE_LANE_TWIN_OF_TWO(fmod)

}  // namespace calque::detail
