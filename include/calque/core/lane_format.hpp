// What the functions on lanes share: layouts of floating types, constants, polynomials, powers of
// two.
//
// Separate from the functions so that each group of them (core/lane_*.hpp) can be read by itself.
// Included by those headers alone.
#pragma once

#include <cstdint>
#include <cstring>

#include "calque/core/config.hpp"
#include "calque/core/lane.hpp"
#include "calque/core/lanes.hpp"

namespace calque::lanes::detail {

template <class T>
using bits_of = calque::detail::unsigned_bits<T>;
template <class T>
using mask_of = calque::detail::signed_bits<T>;

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

/// r = c in every element. An assignment: nvcc 13 crashes on an initialiser that folds to 16
/// elements.
template <class T, int W>
CALQUE_INLINE void fill(lane<T, W>& r, T c) {
  r = lane<T, W>{} + c;
}

/// r = (first z + second) z + ...: a polynomial, highest power first.
template <class T, int W, class... C>
CALQUE_INLINE void polynomial(lane<T, W>& r, const lane<T, W>& z, T first, T second, C... rest) {
  r = first * z + second;
  ((r = r * z + static_cast<T>(rest)), ...);
}

/// The same of an even number of coefficients, by pairs: as many operations, half of them waiting
/// for one another. `square` is z^2.
template <class T, int W>
CALQUE_INLINE void add_pairs(lane<T, W>&, const lane<T, W>&, const lane<T, W>&) {}
template <class T, int W, class... C>
CALQUE_INLINE void add_pairs(lane<T, W>& r, const lane<T, W>& z, const lane<T, W>& square, T first,
                             T second, C... rest) {
  r = r * square + (first * z + second);
  add_pairs<T, W>(r, z, square, rest...);
}
template <class T, int W, class... C>
CALQUE_INLINE void paired_polynomial(lane<T, W>& r, const lane<T, W>& z, const lane<T, W>& square,
                                     T first, T second, C... rest) {
  r = first * z + second;
  add_pairs<T, W>(r, z, square, rest...);
}

/// The sign bits of x; r = |x|.
template <class T, int W>
CALQUE_INLINE void take_sign(lane<T, W>& r, lane<bits_of<T>, W>& sign, const lane<T, W>& x) {
  sign = (lane<bits_of<T>, W>)x & floating_format<T>::sign;
  r = (lane<T, W>)((lane<bits_of<T>, W>)x ^ sign);
}

/// Whether a mask is set anywhere. By halves: no element is taken out before two words are left.
template <class S, int W>
CALQUE_INLINE bool any(const lane<S, W>& mask) {
  constexpr int bytes = W * static_cast<int>(sizeof(S));
  if constexpr (bytes == 8) {
    std::uint64_t all;
    std::memcpy(&all, &mask, 8);
    return all != 0;
  } else if constexpr (bytes == 16) {
    std::uint64_t all[2];
    std::memcpy(all, &mask, 16);
    return (all[0] | all[1]) != 0;
  } else {
    constexpr int half = bytes / 2 / 8;
    lane<std::uint64_t, half> a, b;
    std::memcpy(&a, &mask, sizeof(a));
    std::memcpy(&b, reinterpret_cast<const char*>(&mask) + sizeof(a), sizeof(b));
    a = a | b;
    return any<std::uint64_t, half>(a);
  }
}

/// r = x * 2^n, for n plus twice the bias in the low bits of `multiple`: its halves are exponents
/// at once. Two factors, so that n may reach past both ends of the exponent; the last product alone
/// rounds.
template <class T, int W>
CALQUE_INLINE void scale(lane<T, W>& r, const lane<T, W>& x, const lane<bits_of<T>, W>& multiple) {
  using format = floating_format<T>;
  using U = bits_of<T>;
  const lane<U, W> half = multiple >> 1, rest = multiple - half;
  r = x * (lane<T, W>)(half << format::fraction_bits) * (lane<T, W>)(rest << format::fraction_bits);
}

}  // namespace calque::lanes::detail

/// Defines `calque::detail::scalar_NAME`, the function on one element: one lane of the smallest
/// width, so that it gives the bits of the lane code.
#define CALQUE_LANE_TWIN(NAME)                          \
  template <class T>                                    \
  [[nodiscard]] CALQUE_INLINE T scalar_##NAME(T x) {    \
    constexpr int W = 16 / static_cast<int>(sizeof(T)); \
    lane<T, W> r;                                       \
    lanes::splat<T, W>(r, x);                           \
    lanes::NAME<T, W>(r, r);                            \
    return lanes::at<T, W>(r, 0);                       \
  }
/// The same of two operands.
#define CALQUE_LANE_TWIN_OF_TWO(NAME)                     \
  template <class T>                                      \
  [[nodiscard]] CALQUE_INLINE T scalar_##NAME(T x, T y) { \
    constexpr int W = 16 / static_cast<int>(sizeof(T));   \
    lane<T, W> r, s;                                      \
    lanes::splat<T, W>(r, x);                             \
    lanes::splat<T, W>(s, y);                             \
    lanes::NAME<T, W>(r, r, s);                           \
    return lanes::at<T, W>(r, 0);                         \
  }
