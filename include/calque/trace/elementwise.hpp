// Array functions, elementwise, beyond those of trace/functions.hpp: more mathematics, rounding,
// tests of numbers, logic and bits.
//
// All broadcast and take symbols while tracing, arrays outside. Floating functions compute integers
// and bool in double. Accuracy: erf, sin, cos and pow within 2 ulp, the others within 3.
#pragma once

#include "calque/trace/functions.hpp"

namespace calque {
namespace detail {

using erf_fn = unary_fn<op::erf, true>;
using sin_fn = unary_fn<op::sin, true>;
using cos_fn = unary_fn<op::cos, true>;
using tan_fn = unary_fn<op::tan, true>;
using expm1_fn = unary_fn<op::expm1, true>;
using log1p_fn = unary_fn<op::log1p, true>;
using sigmoid_fn = unary_fn<op::sigmoid, true>;
using rsqrt_fn = unary_fn<op::rsqrt, true>;
using sign_fn = unary_fn<op::sign, false>;
using isnan_fn = typed_fn<op::isnan, true>;
using isinf_fn = typed_fn<op::isinf, true>;
using isfinite_fn = typed_fn<op::isfinite, true>;
using atan2_fn = floating_fn<op::atan2>;
struct true_divide_fn {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b, location at = {}) const {
    if constexpr (has_array<A, B>) return run_on_arrays(true_divide_fn{}, a, b);
    else return floating_fn<op::div>{}(a, b, at.in("true_divide"));
  }
};

/// floor, ceil and round: integers are what they are, bool counts 0 or 1.
template <class Op>
struct rounding_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    constexpr dtype t = operand_traits<X>::type;
    if constexpr (is_floating(t)) return unary_fn<Op, true>{}(x, at);
    else return astype_fn<type_of<arithmetic(t)>>{}(x, at);
  }
};
struct pow_fn {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b, location at = {}) const {
    if constexpr (kind_v<B> == operand_kind::literal && !has_array<A> &&
                  operand_traits<B>::type != dtype::boolean) {
      if (b == 2) {  // correctly rounded, and a single instruction
        const auto x = astype_fn<type_of<floating(common_type<A, B>())>>{}(a, at);
        return mul_fn{}(x, x, at);
      }
    }
    return floating_fn<op::pow>{}(a, b, at);
  }
};
struct fmod_fn {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b, location at = {}) const {
    static_assert(is_floating(operand_traits<A>::type) || is_floating(operand_traits<B>::type),
                  "cq::fmod(x, y): x or y must be floating; the remainder of integers is x % y");
    return floating_fn<op::fmod>{}(a, b, at);
  }
};
struct clip_fn {
  template <class X, class L, class H>
  constexpr auto operator()(const X& x, const L& low, const H& high, location at = {}) const {
    check_operands<X, L, H>();
    if constexpr (has_array<X, L, H>) return run_on_arrays(clip_fn{}, x, low, high);
    else return minimum_fn{}(maximum_fn{}(x, low, at.in("clip")), high, at.in("clip"));
  }
};
struct square_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    if constexpr (has_array<X>) return run_on_arrays(square_fn{}, x);
    else return mul_fn{}(x, x, at);
  }
};
struct reciprocal_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    if constexpr (has_array<X>) return run_on_arrays(reciprocal_fn{}, x);
    else return true_divide_fn{}(1, x, at);
  }
};
/// Numbers count as true where they are not zero.
template <class X>
constexpr auto truth(const X& x, location at) {
  if constexpr (kind_v<X> == operand_kind::literal) return x != X{};
  else return astype_fn<bool>{}(x, at);
}
#define CALQUE_LOGICAL(NAME, FUNCTION)                                          \
  struct NAME##_fn {                                                            \
    template <class A, class B>                                                 \
    constexpr auto operator()(const A& a, const B& b, location at = {}) const { \
      check_operands<A, B>();                                                   \
      if constexpr (has_array<A, B>) return run_on_arrays(NAME##_fn{}, a, b);   \
      else return FUNCTION{}(truth(a, at), truth(b, at), at.in(#NAME));         \
    }                                                                           \
  }
CALQUE_LOGICAL(logical_and, bitwise_and_fn);
CALQUE_LOGICAL(logical_or, bitwise_or_fn);
CALQUE_LOGICAL(logical_xor, bitwise_xor_fn);
#undef CALQUE_LOGICAL
struct logical_not_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) return run_on_arrays(logical_not_fn{}, x);
    else return not_fn{}(truth(x, at), at);
  }
};
#define CALQUE_SHIFT(NAME, FUNCTION)                                            \
  struct NAME##_fn {                                                            \
    template <class A, class B>                                                 \
    constexpr auto operator()(const A& a, const B& b, location at = {}) const { \
      if constexpr (has_array<A, B>) return run_on_arrays(NAME##_fn{}, a, b);   \
      else return FUNCTION{}(a, b, at.in(#NAME));                               \
    }                                                                           \
  }
CALQUE_SHIFT(bitwise_left_shift, shift_left_fn);
CALQUE_SHIFT(bitwise_right_shift, shift_right_fn);
#undef CALQUE_SHIFT

}  // namespace detail

#define CALQUE_ON_ONE(NAME)                                             \
  template <tensor X>                                                   \
  [[nodiscard]] constexpr auto NAME(const X& x, location at = here()) { \
    return detail::NAME##_fn{}(x, at);                                  \
  }
#define CALQUE_ON_TWO(NAME)                                                         \
  template <operand A, operand B>                                                   \
    requires(tensor<A> || tensor<B>)                                                \
  [[nodiscard]] constexpr auto NAME(const A& a, const B& b, location at = here()) { \
    CALQUE_CHECK_TYPES("cq::" #NAME "(a, b)", A, B);                                \
    return detail::NAME##_fn{}(a, b, at);                                           \
  }

/// The error function, within 2 ulp.
///
///   auto cdf = 0.5f * (1 + cq::erf(x * 0.70710678f));
CALQUE_ON_ONE(erf)
/// Sine of radians, within 2 ulp at every magnitude; NaN for infinities.
CALQUE_ON_ONE(sin)
/// Cosine of radians, within 2 ulp at every magnitude; NaN for infinities.
CALQUE_ON_ONE(cos)
/// Tangent of radians, within 3 ulp; NaN for infinities.
CALQUE_ON_ONE(tan)
/// e to the power x, less 1: exact to the last places near 0.
CALQUE_ON_ONE(expm1)
/// Logarithm of 1 + x: exact to the last places near 0; -inf at -1, NaN below.
CALQUE_ON_ONE(log1p)
/// 1 / (1 + e^-x); nothing overflows on the way.
CALQUE_ON_ONE(sigmoid)
/// 1 / sqrt(x); infinity with the sign of a zero, NaN below.
CALQUE_ON_ONE(rsqrt)
/// -1, 0 or 1; zeros keep their sign and NaN stays NaN. Its derivative is zero.
CALQUE_ON_ONE(sign)
/// Whether x is not a number: bool. False for integers.
CALQUE_ON_ONE(isnan)
/// Whether x is an infinity: bool. False for integers.
CALQUE_ON_ONE(isinf)
/// Whether x is neither infinite nor NaN: bool. True for integers.
CALQUE_ON_ONE(isfinite)
/// x times x.
CALQUE_ON_ONE(square)
/// 1 / x; integers are divided in double.
CALQUE_ON_ONE(reciprocal)

/// a to the power b with C's special cases, within 2 ulp; two integers give double. A literal 2
/// squares. The derivatives are 0 where b is 0 (by a) and where a is 0 (by b).
///
///   auto y = cq::pow(x, 1.5f);
CALQUE_ON_TWO(pow)
/// The angle of the point (b, a), from -pi to pi, within 3 ulp; zeros and infinities as in C.
CALQUE_ON_TWO(atan2)
/// Remainder of a / b rounded towards zero, exact, with the sign of a; floating only.
CALQUE_ON_TWO(fmod)
/// The quotient as a floating number, of integers too (in double); `a / b` of integers truncates.
CALQUE_ON_TWO(true_divide)
/// Bits that both have; of bool: both. `a & b`.
CALQUE_ON_TWO(bitwise_and)
/// Bits that either has; of bool: either. `a | b`.
CALQUE_ON_TWO(bitwise_or)
/// Bits that one has; of bool: which differ. `a ^ b`.
CALQUE_ON_TWO(bitwise_xor)
/// All bits the other way; of bool: not. `~x`.
CALQUE_ON_ONE(bitwise_not)
#undef CALQUE_ON_ONE
#undef CALQUE_ON_TWO

#define CALQUE_ROUNDING(NAME)                                           \
  template <tensor X>                                                   \
  [[nodiscard]] constexpr auto NAME(const X& x, location at = here()) { \
    return detail::rounding_fn<op::NAME>{}(x, at);                      \
  }
/// The greatest integer not above x, as a number of x's type. Its derivative is zero.
CALQUE_ROUNDING(floor)
/// The least integer not below x, as a number of x's type. Its derivative is zero.
CALQUE_ROUNDING(ceil)
/// The nearest integer, halves to the even one. Its derivative is zero.
CALQUE_ROUNDING(round)
#undef CALQUE_ROUNDING

/// a << b; 0 where b is negative or not below the width, as in NumPy.
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
[[nodiscard]] constexpr auto bitwise_left_shift(const A& a, const B& b, location at = here()) {
  CALQUE_CHECK_TYPES("cq::bitwise_left_shift(a, b)", A, B);
  return detail::bitwise_left_shift_fn{}(a, b, at);
}
/// a >> b with copies of the sign; 0 or -1 where b is negative or not below the width.
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
[[nodiscard]] constexpr auto bitwise_right_shift(const A& a, const B& b, location at = here()) {
  CALQUE_CHECK_TYPES("cq::bitwise_right_shift(a, b)", A, B);
  return detail::bitwise_right_shift_fn{}(a, b, at);
}

/// x within [low, high]: minimum(maximum(x, low), high); NaN where any of the three is.
///
///   auto y = cq::clip(x, 0, 1);
template <operand X, operand L, operand H>
  requires(tensor<X> || tensor<L> || tensor<H>)
[[nodiscard]] constexpr auto clip(const X& x, const L& low, const H& high, location at = here()) {
  CALQUE_CHECK_TYPES("cq::clip(x, low, high)", X, L);
  CALQUE_CHECK_TYPES("cq::clip(x, low, high)", X, H);
  CALQUE_CHECK_TYPES("cq::clip(x, low, high)", L, H);
  return detail::clip_fn{}(x, low, high, at);
}

/// Whether both are true; a number is where it is not zero.
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
[[nodiscard]] constexpr auto logical_and(const A& a, const B& b, location at = here()) {
  return detail::logical_and_fn{}(a, b, at);
}
/// Whether one or both are true.
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
[[nodiscard]] constexpr auto logical_or(const A& a, const B& b, location at = here()) {
  return detail::logical_or_fn{}(a, b, at);
}
/// Whether one alone is true.
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
[[nodiscard]] constexpr auto logical_xor(const A& a, const B& b, location at = here()) {
  return detail::logical_xor_fn{}(a, b, at);
}
/// Whether x is false, or zero.
template <tensor X>
[[nodiscard]] constexpr auto logical_not(const X& x, location at = here()) {
  return detail::logical_not_fn{}(x, at);
}

}  // namespace calque
