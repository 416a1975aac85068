// The function objects of elementwise operations: an operation with its rule of promotion.
// Operators and array functions call them; on arrays outside traces each is the traced function of
// one operation, so they are empty types.
#pragma once

#include "calque/ops/logic.hpp"
#include "calque/ops/math.hpp"
#include "calque/trace/operation.hpp"

namespace calque::detail {

template <class Op, bool Arithmetic, bool Compare>
struct binary_fn {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b, location at = {}) const {
    check_operands<A, B>();
    if constexpr (has_array<A, B>) {
      return run_on_arrays(binary_fn{}, a, b);
    } else {
      static_assert(has_common_type<A, B>,
                    "calque: no integer type holds both int64 and uint64; cast one operand with "
                    "cq::astype<...>(x)");
      constexpr dtype joint = common_type<A, B>();
      constexpr dtype in = Arithmetic ? arithmetic(joint) : joint;
      using T = type_of<in>;
      builder& g = common_builder(a, b);
      g.where = at;
      const int x = node_of<T>(g, a), y = node_of<T>(g, b);
      constexpr dtype out = Compare ? dtype::boolean : in;
      constexpr int rank = operand_traits<A>::rank > operand_traits<B>::rank
                               ? operand_traits<A>::rank
                               : operand_traits<B>::rank;
      using result = typename symbol_for<weak_operand<A> && weak_operand<B>, out, rank>::type;
      return result{&g, g.map_of<Op>(out, x, y)};
    }
  }
};
using add_fn = binary_fn<op::add, true, false>;
using sub_fn = binary_fn<op::sub, true, false>;
using mul_fn = binary_fn<op::mul, true, false>;
using div_fn = binary_fn<op::div, true, false>;
using maximum_fn = binary_fn<op::maximum, false, false>;
using minimum_fn = binary_fn<op::minimum, false, false>;
using less_fn = binary_fn<op::less, false, true>;
using less_equal_fn = binary_fn<op::less_equal, false, true>;
using greater_fn = binary_fn<op::greater, false, true>;
using greater_equal_fn = binary_fn<op::greater_equal, false, true>;
using equal_fn = binary_fn<op::equal, false, true>;
using not_equal_fn = binary_fn<op::not_equal, false, true>;

/// Elementwise on two operands of integers or bool. `Arithmetic`: bool with bool is int32.
template <class Op, bool Arithmetic>
struct integer_fn {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b, location at = {}) const {
    static_assert(
        !is_floating(operand_traits<A>::type) && !is_floating(operand_traits<B>::type),
        "calque: x & y, x | y, x ^ y, x << y, x >> y and x % y take integers and bool: compare "
        "floating operands first, as in (x > 0) & (y > 0); for a remainder use cq::fmod(x, y)");
    return binary_fn<Op, Arithmetic, false>{}(a, b, at);
  }
};
using remainder_fn = integer_fn<op::remainder, true>;
using bitwise_and_fn = integer_fn<op::bitwise_and, false>;
using bitwise_or_fn = integer_fn<op::bitwise_or, false>;
using bitwise_xor_fn = integer_fn<op::bitwise_xor, false>;
using shift_left_fn = integer_fn<op::shift_left, true>;
using shift_right_fn = integer_fn<op::shift_right, true>;

/// Elementwise on two operands, in the floating type of both; two integers are computed in double.
template <class Op>
struct floating_fn {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b, location at = {}) const {
    check_operands<A, B>();
    if constexpr (has_array<A, B>) {
      return run_on_arrays(floating_fn{}, a, b);
    } else {
      static_assert(has_common_type<A, B>,
                    "calque: no integer type holds both int64 and uint64; cast one operand with "
                    "cq::astype<...>(x)");
      constexpr dtype t = floating(common_type<A, B>());
      builder& g = common_builder(a, b);
      g.where = at;
      const int x = node_of<type_of<t>>(g, a), y = node_of<type_of<t>>(g, b);
      constexpr int ra = operand_traits<A>::rank, rb = operand_traits<B>::rank;
      using result =
          typename symbol_for<weak_operand<A> && weak_operand<B>, t, (ra > rb ? ra : rb)>::type;
      return result{&g, g.map_of<Op>(t, x, y)};
    }
  }
};

/// Elementwise on one operand. `Floating`: integers are computed in double.
template <class Op, bool Floating>
struct unary_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(unary_fn{}, x);
    } else {
      constexpr dtype in = operand_traits<X>::type;
      constexpr dtype t = Floating          ? floating(in)
                          : weak_operand<X> ? promote_scalars(in, in)
                                            : arithmetic(in);
      builder& g = common_builder(x);
      g.where = at;
      const int id = node_of<type_of<t>>(g, x);
      using result = typename symbol_for<weak_operand<X>, t, operand_traits<X>::rank>::type;
      return result{&g, g.map_of<Op>(t, id)};
    }
  }
};
using neg_fn = unary_fn<op::neg, false>;
using abs_fn = unary_fn<op::abs, false>;

/// Elementwise on one operand of its own type (C++ promotes none of ours); `Bool`: the result is.
template <class Op, bool Bool>
struct typed_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(typed_fn{}, x);
    } else {
      constexpr dtype in = operand_traits<X>::type, t = Bool ? dtype::boolean : in;
      builder& g = common_builder(x);
      g.where = at;
      const int id = node_of<type_of<in>>(g, x);
      using result = typename symbol_for<weak_operand<X>, t, operand_traits<X>::rank>::type;
      return result{&g, g.map_of<Op>(t, id)};
    }
  }
};
/// ~x, and !x on bool.
template <bool Logical>
struct invert_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    static_assert(!Logical || operand_traits<X>::type == dtype::boolean,
                  "calque: !x takes bool: compare first, or use cq::logical_not(x)");
    static_assert(Logical || !is_floating(operand_traits<X>::type),
                  "calque: ~x takes integers and bool");
    return typed_fn<op::bitwise_not, false>{}(x, at);
  }
};
using not_fn = invert_fn<true>;
using bitwise_not_fn = invert_fn<false>;

}  // namespace calque::detail
