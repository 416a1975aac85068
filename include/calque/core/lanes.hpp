// Arithmetic, comparison, selection, conversion and square root on lanes.
//
// One generic body for every width and target, see core/lane.hpp. Each operation gives the bits of
// its scalar twin in core/saturate.hpp. Called by lowered programs and the CPU kernels; exp, log
// and tanh are in core/lane_math.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "calque/core/config.hpp"
#include "calque/core/lane.hpp"
#include "calque/core/saturate.hpp"

namespace calque::lanes {

/// r = m ? a : b, element by element.
template <class T, int W>
CALQUE_INLINE void select(lane<T, W>& r, const lane<bool, W>& m, const lane<T, W>& a,
                          const lane<T, W>& b) {
  if constexpr (std::is_same_v<T, bool>) {
    r = (m & a) | (~m & b);
  } else {
    using bits = calque::detail::signed_bits<T>;
    const lane<bits, W> wide = __builtin_convertvector(m, lane<bits, W>);
    r = wide ? a : b;
  }
}

// `name`: a op b as a mask; false for NaN but in not_equal. Masks compare as false < true.
#define CALQUE_COMPARE(name, op, mask_op)                                               \
  template <class T, int W>                                                             \
  CALQUE_INLINE void name(lane<bool, W>& r, const lane<T, W>& a, const lane<T, W>& b) { \
    if constexpr (std::is_same_v<T, bool>) {                                            \
      r = (lane<bool, W>)(a mask_op b);                                                 \
    } else {                                                                            \
      using bits = calque::detail::signed_bits<T>;                                      \
      r = __builtin_convertvector((lane<bits, W>)(a op b), lane<bool, W>);              \
    }                                                                                   \
  }
CALQUE_COMPARE(less, <, >)
CALQUE_COMPARE(less_equal, <=, >=)
CALQUE_COMPARE(equal, ==, ==)
CALQUE_COMPARE(not_equal, !=, !=)
#undef CALQUE_COMPARE

// `name`: r = a op b; integers wrap. Sums and differences are as they are written, also under
// -ffast-math: (x - high) - low takes away what rounding the mean has lost.
#define CALQUE_ARITHMETIC(name, op, AS_IS)                                           \
  template <class T, int W>                                                          \
  CALQUE_INLINE void name(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) { \
    if constexpr (std::is_floating_point_v<T>) {                                     \
      r = AS_IS(a op b);                                                             \
    } else {                                                                         \
      using bits = lane<calque::detail::unsigned_bits<T>, W>;                        \
      r = (lane<T, W>)((bits)a op(bits) b);                                          \
    }                                                                                \
  }
CALQUE_ARITHMETIC(add, +, CALQUE_AS_WRITTEN)
CALQUE_ARITHMETIC(sub, -, CALQUE_AS_WRITTEN)
CALQUE_ARITHMETIC(mul, *, )
#undef CALQUE_ARITHMETIC

/// r = a * b + r; floating types may round once (where the target has fma) or twice.
template <class T, int W>
CALQUE_INLINE void multiply_add(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  if constexpr (std::is_floating_point_v<T>) {
    r = a * b + r;
  } else {
    using bits = lane<calque::detail::unsigned_bits<T>, W>;
    r = (lane<T, W>)((bits)a * (bits)b + (bits)r);
  }
}

/// Quotient; integers truncate, by zero give 0, and wrap.
template <class T, int W>
CALQUE_INLINE void div(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  if constexpr (std::is_floating_point_v<T>) {
    r = a / b;
  } else {
    const auto quotient = [](T x, T y) { return calque::detail::wrap_div(x, y); };
    map_each<T, W, T, T>(quotient, r, a, b);
  }
}

template <class T, int W>
CALQUE_INLINE void neg(lane<T, W>& r, const lane<T, W>& a) {
  if constexpr (std::is_floating_point_v<T>) {
    r = -a;
  } else {
    using bits = lane<calque::detail::unsigned_bits<T>, W>;
    r = (lane<T, W>)(bits{} - (bits)a);
  }
}

/// The larger; NaN if either is NaN; the second of two zeros.
template <class T, int W>
CALQUE_INLINE void maximum(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  using bits = calque::detail::signed_bits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    r = a | b;
  } else if constexpr (std::is_floating_point_v<T>) {
    // (not a mask of both tests: g++ takes one of 64 bytes apart, as it would with `: a` below)
    const lane<T, W> larger = (lane<bits, W>)(a > b) ? a : b;
    r = (lane<bits, W>)(a == a) ? larger : a + a;
  } else {
    const lane<bits, W> first = (lane<bits, W>)(a > b);
    r = first ? a : b;
  }
}

/// The smaller; NaN if either is NaN; the second of two zeros.
template <class T, int W>
CALQUE_INLINE void minimum(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  using bits = calque::detail::signed_bits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    r = a & b;
  } else if constexpr (std::is_floating_point_v<T>) {
    // (not a mask of both tests: g++ takes one of 64 bytes apart, as it would with `: a` below)
    const lane<T, W> smaller = (lane<bits, W>)(a < b) ? a : b;
    r = (lane<bits, W>)(a == a) ? smaller : a + a;
  } else {
    const lane<bits, W> first = (lane<bits, W>)(a < b);
    r = first ? a : b;
  }
}

/// Magnitude; clears the sign of -0 and NaN; the least signed integer wraps to itself.
template <class T, int W>
CALQUE_INLINE void abs(lane<T, W>& r, const lane<T, W>& a) {
  using bits = calque::detail::unsigned_bits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    lane<bits, W> magnitude;
    lanes::splat<bits, W>(magnitude, static_cast<bits>(static_cast<bits>(~bits(0)) >> 1));
    r = (lane<T, W>)((lane<bits, W>)a & magnitude);
  } else if constexpr (std::is_signed_v<T>) {
    lane<T, W> negative;
    neg<T, W>(negative, a);
    const lane<T, W> below = (lane<T, W>)(a < lane<T, W>{});
    r = below ? negative : a;
  } else {
    r = a;
  }
}

namespace detail {

// floating -> integer: clamp to what both types hold, convert, then mend what lies above.
template <class To, class From, int W>
CALQUE_INLINE void convert_saturating(lane<To, W>& r, const lane<From, W>& a) {
  using bits = calque::detail::signed_bits<From>;
  constexpr From low = static_cast<From>(calque::detail::least_of<To>);
  constexpr From high = calque::detail::upper_bound_of<To, From>;
  lane<From, W> lows, highs;
  lanes::splat<From, W>(lows, low);
  lanes::splat<From, W>(highs, high);
  const lane<bits, W> above = (lane<bits, W>)(a > highs);
  lane<From, W> x = (lane<bits, W>)(a > lows) ? a : lows;  // NaN becomes the least
  if constexpr (low != From(0)) x = (lane<bits, W>)(a == a) ? x : lane<From, W>{};
  x = above ? highs : x;
  if constexpr (sizeof(To) < sizeof(std::int32_t)) {
    const lane<std::int32_t, W> whole = __builtin_convertvector(x, lane<std::int32_t, W>);
    r = __builtin_convertvector(whole, lane<To, W>);
  } else {
    r = __builtin_convertvector(x, lane<To, W>);
    if constexpr (std::numeric_limits<To>::digits > std::numeric_limits<From>::digits) {
      lane<To, W> top;
      lanes::splat<To, W>(top, calque::detail::greatest_of<To>);
      const lane<bool, W> over = __builtin_convertvector(above, lane<bool, W>);
      lanes::select<To, W>(r, over, top, r);
    }
  }
}

// Element by element: one instruction all the same, and g++ 12 crashes on __builtin_convertvector
// here, in AVX-512 functions with a tail.
template <int... K>
CALQUE_INLINE void widen(lane<double, sizeof...(K)>& r, const lane<float, sizeof...(K)>& a,
                         std::integer_sequence<int, K...>) {
  constexpr int W = sizeof...(K);
  lane<double, W> wide{};
  ((wide[K] = static_cast<double>(a[K])), ...);
  r = wide;
}

}  // namespace detail

/// r[k] = saturate_cast<To>(a[k]): bool is "not zero" and counts 0 or 1, integers wrap, floating to
/// integer saturates with NaN as 0.
template <class To, class From, int W>
CALQUE_INLINE void convert(lane<To, W>& r, const lane<From, W>& a) {
  if constexpr (std::is_same_v<To, From>) {
    r = a;
  } else if constexpr (std::is_same_v<To, bool>) {
    lanes::not_equal<From, W>(r, a, lane<From, W>{});
  } else if constexpr (std::is_same_v<From, bool>) {
    r = __builtin_convertvector(lane<bool, W>{} - a, lane<To, W>);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    detail::convert_saturating<To, From, W>(r, a);
  } else if constexpr (std::is_floating_point_v<To> && sizeof(From) < sizeof(std::int32_t)) {
    const lane<std::int32_t, W> whole = __builtin_convertvector(a, lane<std::int32_t, W>);
    r = __builtin_convertvector(whole, lane<To, W>);
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, double>) {
    detail::widen(r, a, std::make_integer_sequence<int, W>{});
  } else {
    r = __builtin_convertvector(a, lane<To, W>);
  }
}

namespace detail {

template <class T>
CALQUE_INLINE T sqrt_one(T x) {
  if constexpr (std::is_same_v<T, float>) return __builtin_sqrtf(x);
  else return __builtin_sqrt(x);
}

#if CALQUE_X86()
// g++ takes lanes of 32 and 64 bytes in registers, so it must know such registers: they belong into
// functions with that target. Others go through memory, as clang refuses wide operands in a body
// without a target.
template <int Bytes>
inline constexpr bool root_in_registers = !CALQUE_CLANG() && Bytes > 16;

// Whether the processor knows the instructions that go through memory. Asked at run time because
// the target of the function around is not visible here; a load and a test.
template <int Bytes>
CALQUE_INLINE bool has_root() {
  if constexpr (root_in_registers<Bytes>) return true;
  else if constexpr (Bytes == 64) return __builtin_cpu_supports("avx512f") != 0;
  else return __builtin_cpu_supports("avx") != 0;
}

#define CALQUE_ROOT(bytes, T, instruction, move, reg)                                             \
  if constexpr (Bytes == bytes && std::is_same_v<Element, T>) {                                   \
    if constexpr (root_in_registers<Bytes>) __asm__(instruction " %1, %0" : "=v"(out) : "v"(in)); \
    else                                                                                          \
      __asm__(instruction " %2, %" reg "0\n\t" move " %" reg "0, %1"                              \
              : "=x"(scratch), "=m"(out)                                                          \
              : "m"(in));                                                                         \
  }
template <class Element, int Bytes, class Vector>
CALQUE_INLINE void root(Vector& out, const Vector& in) {
  [[maybe_unused]] lane<float, 4> scratch;
  CALQUE_ROOT(16, float, "vsqrtps", "vmovaps", "x")
  CALQUE_ROOT(16, double, "vsqrtpd", "vmovapd", "x")
  CALQUE_ROOT(32, float, "vsqrtps", "vmovaps", "t")
  CALQUE_ROOT(32, double, "vsqrtpd", "vmovapd", "t")
  CALQUE_ROOT(64, float, "vsqrtps", "vmovaps", "g")
  CALQUE_ROOT(64, double, "vsqrtpd", "vmovapd", "g")
}
#undef CALQUE_ROOT
#endif

}  // namespace detail

/// Correctly rounded square root; NaN below zero, -0 stays -0; float and double. Lanes of 32 and 64
/// bytes only in functions whose target has such registers.
template <class T, int W>
CALQUE_INLINE void sqrt(lane<T, W>& r, const lane<T, W>& a) {
#if CALQUE_X86()
  constexpr int bytes = W * static_cast<int>(sizeof(T));
  if constexpr (bytes == 16 || bytes == 32 || bytes == 64) {
    if (detail::has_root<bytes>()) {
      const lane<T, W> in = a;
      lane<T, W> out;
      detail::root<T, bytes>(out, in);
      r = out;
      return;
    }
  }
#endif
  lanes::map_each<T, W, T>(detail::sqrt_one<T>, r, a);
}

}  // namespace calque::lanes
