// Array functions, elementwise part: exp log sqrt tanh abs maximum minimum where astype.
//
// Each is an empty function object (the operation with its static options) and a public function
// that takes symbols while tracing and arrays outside.
#pragma once

#include "calque/trace/symbol.hpp"
#include "calque/trace/tags.hpp"

namespace calque {
namespace detail {

template <class T>
struct astype_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(astype_fn{}, x);
    } else {
      builder& g = common_builder(x);
      g.where = at;
      using result =
          typename symbol_for<weak_operand<X>, dtype_of<T>, operand_traits<X>::rank>::type;
      return result{&g, build_cast(g, x.id, dtype_of<T>)};
    }
  }
};

struct where_fn {
  template <class P, class A, class B>
  constexpr auto operator()(const P& p, const A& a, const B& b, location at = {}) const {
    static_assert(
        operand_traits<P>::type == dtype::boolean,
        "cq::where(p, a, b): p must be bool: compare first, as in cq::where(x > 0, a, b)");
    check_operands<P, A, B>();
    if constexpr (has_array<P, A, B>) {
      return run_on_arrays(where_fn{}, p, a, b);
    } else {
      static_assert(has_common_type<A, B>,
                    "cq::where(p, a, b): no integer type holds both int64 and uint64; cast one");
      constexpr dtype t = common_type<A, B>();
      using T = type_of<t>;
      builder& g = common_builder(p, a, b);
      g.where = at;
      constexpr int ranks[] = {operand_traits<P>::rank, operand_traits<A>::rank,
                               operand_traits<B>::rank};
      constexpr int rank = ranks[0] > ranks[1] ? (ranks[0] > ranks[2] ? ranks[0] : ranks[2])
                                               : (ranks[1] > ranks[2] ? ranks[1] : ranks[2]);
      constexpr bool weak = weak_operand<P> && weak_operand<A> && weak_operand<B>;
      const int q = node_of<bool>(g, p), x = node_of<T>(g, a), y = node_of<T>(g, b);
      return typename symbol_for<weak, t, rank>::type{&g, g.map_of<op::where>(t, q, x, y)};
    }
  }
};

using exp_fn = unary_fn<op::exp, true>;
using log_fn = unary_fn<op::log, true>;
using sqrt_fn = unary_fn<op::sqrt, true>;
using tanh_fn = unary_fn<op::tanh, true>;

}  // namespace detail

/// A symbol or an array: what the array functions take beside C++ numbers.
template <class X>
concept tensor = symbolic<X> || array_operand<X>;

/// e to the power x, elementwise; integers are computed in double.
///
///   auto p = cq::exp(x);
template <tensor X>
[[nodiscard]] constexpr auto exp(const X& x, location at = here()) {
  return detail::exp_fn{}(x, at);
}
/// Natural logarithm, elementwise; -inf at 0, NaN below; integers are computed in double.
template <tensor X>
[[nodiscard]] constexpr auto log(const X& x, location at = here()) {
  return detail::log_fn{}(x, at);
}
/// Square root, elementwise, correctly rounded; NaN below 0; integers are computed in double.
template <tensor X>
[[nodiscard]] constexpr auto sqrt(const X& x, location at = here()) {
  return detail::sqrt_fn{}(x, at);
}
/// Hyperbolic tangent, elementwise; integers are computed in double.
template <tensor X>
[[nodiscard]] constexpr auto tanh(const X& x, location at = here()) {
  return detail::tanh_fn{}(x, at);
}
/// Magnitude, elementwise; the least signed integer wraps to itself. The derivative at 0 is 0, at
/// NaN it is NaN.
template <tensor X>
[[nodiscard]] constexpr auto abs(const X& x, location at = here()) {
  return detail::abs_fn{}(x, at);
}

/// The larger of two operands, elementwise and broadcasting; NaN if either is NaN. The derivative
/// is the larger one's, or the NaN's; two equal ones or two NaN share it.
///
///   auto relu = cq::maximum(x, 0);
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
[[nodiscard]] constexpr auto maximum(const A& a, const B& b, location at = here()) {
  CALQUE_CHECK_TYPES("cq::maximum(a, b)", A, B);
  return detail::maximum_fn{}(a, b, at);
}
/// The smaller of two operands, elementwise and broadcasting; NaN if either is NaN. The derivative
/// is as for `maximum`.
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
[[nodiscard]] constexpr auto minimum(const A& a, const B& b, location at = here()) {
  CALQUE_CHECK_TYPES("cq::minimum(a, b)", A, B);
  return detail::minimum_fn{}(a, b, at);
}
/// `a` where `p` holds, else `b`; elementwise and broadcasting.
///
///   auto y = cq::where(x > 0, cq::log(x), 0);
template <operand P, operand A, operand B>
  requires(tensor<P> || tensor<A> || tensor<B>)
[[nodiscard]] constexpr auto where(const P& p, const A& a, const B& b, location at = here()) {
  return detail::where_fn{}(p, a, b, at);
}
/// The elements as type `T`: floating to integer saturates, NaN gives 0.
template <element T, tensor X>
[[nodiscard]] constexpr auto astype(const X& x, location at = here()) {
  return detail::astype_fn<T>{}(x, at);
}

// Two operands want `maximum`; these exist for their text.
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
constexpr auto max(const A& a, const B&) {
  static_assert(
      detail::never<A>,
      "cq::max(a, b): cq::max reduces one array over its axes; for the larger of two values "
      "use cq::maximum(a, b), for one axis cq::max(a, cq::axis<1>)");
  return a;
}
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
constexpr auto min(const A& a, const B&) {
  static_assert(detail::never<A>,
                "cq::min(a, b): cq::min reduces one array over its axes; for the smaller of two "
                "values use cq::minimum(a, b), for one axis cq::min(a, cq::axis<1>)");
  return a;
}

}  // namespace calque
