// Comparisons, choice and absolute value.
//
// Derivatives choose with `where` instead of multiplying by a mask: an infinite slope on the side
// that is not taken then never becomes NaN (0 times infinity).
#pragma once

#include "calque/ops/arithmetic.hpp"

namespace calque {
namespace op {

#define CALQUE_COMPARISON(NAME, OPERATOR, LANES, ...)                                             \
  struct NAME {                                                                                   \
    static constexpr char name[] = #NAME;                                                         \
    static constexpr int arity = 2;                                                               \
    static constexpr bool foldable = true;                                                        \
    static constexpr map_form form = map_form::compare;                                           \
    template <class T>                                                                            \
    CALQUE_HD constexpr bool operator()(T a, T b) const {                                         \
      return a OPERATOR b;                                                                        \
    }                                                                                             \
    template <class T, int W>                                                                     \
    CALQUE_INLINE static void lanes(lane<bool, W>& r, const lane<T, W>& a, const lane<T, W>& b) { \
      calque::lanes::LANES<T, W>(r, __VA_ARGS__);                                                 \
    }                                                                                             \
  }
CALQUE_COMPARISON(less, <, less, a, b);
CALQUE_COMPARISON(less_equal, <=, less_equal, a, b);
CALQUE_COMPARISON(greater, >, less, b, a);
CALQUE_COMPARISON(greater_equal, >=, less_equal, b, a);
CALQUE_COMPARISON(equal, ==, equal, a, b);
CALQUE_COMPARISON(not_equal, !=, not_equal, a, b);
#undef CALQUE_COMPARISON

struct where {
  static constexpr char name[] = "where";
  static constexpr int arity = 3;
  static constexpr bool foldable = true;
  static constexpr map_form form = map_form::select;
  template <class T>
  CALQUE_HD constexpr T operator()(bool p, T a, T b) const {
    return p ? a : b;
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<bool, W>& p, const lane<T, W>& a,
                                  const lane<T, W>& b) {
    calque::lanes::select<T, W>(r, p, a, b);
#if CALQUE_X86() && !CALQUE_CLANG()
    // g++ 12 joins the masks of choices that share an arm, and takes those of 64 bytes apart for it
    if constexpr (sizeof(r) == 64) __asm__("" : "+v"(r));
#endif
  }
  static constexpr void gradient(gradient_rule& g) {
    const value zero = g.number(0);
    g.flow(1, apply_op<where>(g.input(0), g.dy, zero));
    g.flow(2, apply_op<where>(g.input(0), zero, g.dy));
  }
};

struct abs {
  static constexpr char name[] = "abs";
  static constexpr int arity = 1;
  template <class T>
  CALQUE_HD constexpr T operator()(T a) const {
    return detail::scalar_abs(a);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a) {
    calque::lanes::abs<T, W>(r, a);
  }
  static constexpr void gradient(gradient_rule& g) {
    const value x = g.input(0), zero = g.number(0);
    const value level = apply_op<where>(apply_op<equal>(x, zero), zero, x);  // 0, or NaN
    g.flow(0, apply_op<where>(apply_op<greater>(x, zero), g.dy,
                              apply_op<where>(apply_op<less>(x, zero), -g.dy, level)));
  }
};

}  // namespace op

namespace detail {

/// Whether a value is known to be a number while the graph is built.
constexpr bool is_number(const value& v) {
  const node& n = v.info();
  return n.op->kind == op_kind::constant && n.value.f == n.value.f;
}
// Each operand takes the derivative where it wins, and where it is NaN; equal operands share it,
// and two that are NaN. No two choices have one arm, as in the derivative of `max`: `rest` is a
// half too.
template <class Keeps>
constexpr void choose_gradient(gradient_rule& g) {
  const value zero = g.number(0), half = g.dy * g.number(0.5), rest = g.dy - half;
  const value shared = apply_op<op::where>(apply_op<op::equal>(g.input(0), g.input(1)), half, g.dy);
  for (int k = 0; k < 2; ++k) {
    const value x = g.input(k), other = g.input(1 - k);
    value of_nan = g.dy;
    if (!is_number(other))
      of_nan = apply_op<op::where>(apply_op<op::equal>(other, other), half + rest, rest);
    const value missed = apply_op<op::where>(apply_op<op::equal>(x, x), zero, of_nan);
    g.flow(k, apply_op<op::where>(apply_op<Keeps>(x, other), shared, missed));
  }
}

}  // namespace detail

constexpr void op::maximum::gradient(gradient_rule& g) {
  detail::choose_gradient<op::greater_equal>(g);
}
constexpr void op::minimum::gradient(gradient_rule& g) {
  detail::choose_gradient<op::less_equal>(g);
}

}  // namespace calque

CALQUE_REGISTER(calque::op::less);
CALQUE_REGISTER(calque::op::less_equal);
CALQUE_REGISTER(calque::op::greater);
CALQUE_REGISTER(calque::op::greater_equal);
CALQUE_REGISTER(calque::op::equal);
CALQUE_REGISTER(calque::op::not_equal);
CALQUE_REGISTER(calque::op::where);
CALQUE_REGISTER(calque::op::abs);
