// Elementwise arithmetic: functors, their vector forms and derivatives.
//
// Integers wrap (computed in unsigned, so without undefined behaviour); dividing by zero gives 0
// and MIN / -1 wraps. maximum and minimum propagate NaN.
#pragma once

#include <type_traits>

#include "calque/core/lanes.hpp"
#include "calque/core/saturate.hpp"
#include "calque/graph/gradient_rule.hpp"

namespace calque {

namespace op {

struct neg {
  static constexpr char name[] = "neg";
  static constexpr int arity = 1;
  static constexpr bool foldable = true;
  template <class T>
  CALQUE_HD constexpr T operator()(T a) const {
    return detail::wrap_neg(a);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a) {
    calque::lanes::neg<T, W>(r, a);
  }
  static constexpr void gradient(gradient_rule& g);
};

struct add {
  static constexpr char name[] = "add";
  static constexpr int arity = 2;
  static constexpr bool foldable = true;
  template <class T>
  CALQUE_HD constexpr T operator()(T a, T b) const {
    return detail::wrap_add(a, b);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
    calque::lanes::add<T, W>(r, a, b);
  }
  static constexpr void gradient(gradient_rule& g) {
    g.flow(0, g.dy);
    g.flow(1, g.dy);
  }
};

struct sub {
  static constexpr char name[] = "sub";
  static constexpr int arity = 2;
  static constexpr bool foldable = true;
  template <class T>
  CALQUE_HD constexpr T operator()(T a, T b) const {
    return detail::wrap_sub(a, b);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
    calque::lanes::sub<T, W>(r, a, b);
  }
  static constexpr void gradient(gradient_rule& g);
};

struct mul {
  static constexpr char name[] = "mul";
  static constexpr int arity = 2;
  static constexpr bool foldable = true;
  template <class T>
  CALQUE_HD constexpr T operator()(T a, T b) const {
    return detail::wrap_mul(a, b);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
    calque::lanes::mul<T, W>(r, a, b);
  }
  static constexpr void gradient(gradient_rule& g);
};

struct div {
  static constexpr char name[] = "div";
  static constexpr int arity = 2;
  static constexpr bool foldable = true;
  static constexpr int cost = 4;
  template <class T>
  CALQUE_HD constexpr T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return __builtin_is_constant_evaluated() && b == 0 ? at_zero(a, b) : a / b;
    else return detail::wrap_div(a, b);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
    calque::lanes::div<T, W>(r, a, b);
  }
  static constexpr void gradient(gradient_rule& g);

 private:
  // x / 0 is no constant expression, but folding needs its value
  template <class T>
  CALQUE_HD static constexpr T at_zero(T a, T b) {
    if (a != a || a == 0) return static_cast<T>(__builtin_nan(""));
    const bool negative = (a < 0) != (__builtin_bit_cast(int, static_cast<float>(b)) < 0);
    return static_cast<T>(negative ? -__builtin_inf() : __builtin_inf());
  }
};

struct maximum {
  static constexpr char name[] = "maximum";
  static constexpr int arity = 2;
  static constexpr bool foldable = true;
  template <class T>
  CALQUE_HD constexpr T operator()(T a, T b) const {
    return detail::scalar_max(a, b);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
    calque::lanes::maximum<T, W>(r, a, b);
  }
  static constexpr void gradient(gradient_rule& g);
};

struct minimum {
  static constexpr char name[] = "minimum";
  static constexpr int arity = 2;
  static constexpr bool foldable = true;
  template <class T>
  CALQUE_HD constexpr T operator()(T a, T b) const {
    return detail::scalar_min(a, b);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
    calque::lanes::minimum<T, W>(r, a, b);
  }
  static constexpr void gradient(gradient_rule& g);
};

}  // namespace op

constexpr value operator-(value a) { return apply_op<op::neg>(a); }
constexpr value operator+(value a, value b) { return apply_op<op::add>(a, b); }
constexpr value operator-(value a, value b) { return apply_op<op::sub>(a, b); }
constexpr value operator*(value a, value b) { return apply_op<op::mul>(a, b); }
constexpr value operator/(value a, value b) { return apply_op<op::div>(a, b); }

constexpr void op::neg::gradient(gradient_rule& g) { g.flow(0, -g.dy); }
constexpr void op::sub::gradient(gradient_rule& g) {
  g.flow(0, g.dy);
  g.flow(1, -g.dy);
}
constexpr void op::mul::gradient(gradient_rule& g) {
  g.flow(0, g.dy * g.input(1));
  g.flow(1, g.dy * g.input(0));
}
constexpr void op::div::gradient(gradient_rule& g) {
  g.flow(0, g.dy / g.input(1));
  g.flow(1, -(g.dy * g.output()) / g.input(1));
}

}  // namespace calque

CALQUE_REGISTER(calque::op::neg);
CALQUE_REGISTER(calque::op::add);
CALQUE_REGISTER(calque::op::sub);
CALQUE_REGISTER(calque::op::mul);
CALQUE_REGISTER(calque::op::div);
CALQUE_REGISTER(calque::op::maximum);
CALQUE_REGISTER(calque::op::minimum);

#include "calque/ops/select.hpp"  // the derivatives of maximum and minimum choose by comparison
