// How an operation meets its operands: symbols and literals by the promotion table, real arrays by
// handing over to the same operation run at once.
#pragma once

#include <concepts>
#include <type_traits>

#include "calque/core/promotion.hpp"
#include "calque/graph/builder.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/select.hpp"
#include "calque/ops/views.hpp"

#define CALQUE_SYMBOL_IN_IF                                                                        \
  "calque: a symbolic value in a C++ condition (if, while, ?:, &&): its value is not known while " \
  "tracing; use cq::cond, cq::for_loop or cq::where; join conditions with & and | instead of && "  \
  "and ||"
#define CALQUE_SYMBOL_VALUE                                                                      \
  "calque: reading a symbol's value: it is not known while tracing; compute with cq functions, " \
  "return the value, or run the body with cq::eager"
#define CALQUE_MIXED                                                                          \
  "calque: a real array or variable beside a symbol inside a traced function; pass it as an " \
  "argument of the traced function"
#define CALQUE_HOST_VARIABLE                                                             \
  "calque: a variable in an operation outside a traced function; use its present value " \
  "v.value(), "                                                                          \
  "or pass v to a traced function"

#define CALQUE_VARIABLE_REBOUND                                                               \
  "calque: w = e on a variable in a traced function would not write the variable, only make " \
  "w stand for another; write w.assign(e)"
#define CALQUE_SYMBOL_ELEMENT                                                                   \
  "calque: x[i] on a symbol: its elements are not known while tracing; select with cq::where, " \
  "or pass the part as an argument of the traced function"

#define CALQUE_UPDATE_OPERATORS(X) \
  X(+=, add_fn)                    \
  X(-=, sub_fn)                    \
  X(*=, mul_fn)                    \
  X(/=, div_fn)                    \
  X(%=, remainder_fn)              \
  X(&=, bitwise_and_fn)            \
  X(|=, bitwise_or_fn)             \
  X(^=, bitwise_xor_fn)            \
  X(<<=, shift_left_fn)            \
  X(>>=, shift_right_fn)
#define CALQUE_BINARY_OPERATORS(X) \
  X(+, add_fn)                     \
  X(-, sub_fn)                     \
  X(*, mul_fn)                     \
  X(/, div_fn)                     \
  X(%, remainder_fn)               \
  X(&, bitwise_and_fn)             \
  X(|, bitwise_or_fn)              \
  X(^, bitwise_xor_fn)             \
  X(<<, shift_left_fn)             \
  X(>>, shift_right_fn)            \
  X(<, less_fn)                    \
  X(<=, less_equal_fn) X(>, greater_fn) X(>=, greater_equal_fn) X(==, equal_fn) X(!=, not_equal_fn)

namespace calque {

template <class T, int Rank>
struct expr;
template <class T>
struct scalar_expr;
template <class T, int Rank>
struct var_expr;
template <class T, int Rank>
class array;
template <class T, int Rank>
class variable;

/// The line of the call that takes `location at = here()`.
[[nodiscard]] constexpr location here(int line = __builtin_LINE(),
                                      const char* file = __builtin_FILE()) {
  return {line, file};
}

/// An operand together with the line it was used on.
template <class E>
struct located {
  E e;
  location at;
  template <class D>
    requires(std::same_as<D, E> || std::derived_from<D, E>)
  constexpr located(const D& d, int line = __builtin_LINE(), const char* file = __builtin_FILE())
      : e(d), at{line, file} {}
};

namespace detail {

/// What a compound operator changes, together with the line it was used on.
template <class E>
struct changed {
  E& e;
  location at;
  template <class D>
    requires(std::same_as<std::remove_cvref_t<D>, std::remove_const_t<E>> &&
             std::convertible_to<D &&, E&>)
  constexpr changed(D&& d, int line = __builtin_LINE(), const char* file = __builtin_FILE())
      : e(d), at{line, file} {}
};

template <class>
inline constexpr bool never = false;

enum class operand_kind : std::uint8_t { none, literal, weak, strong, array, variable };

/// What an operand is to the promotion table.
template <class X>
struct operand_traits {
  static constexpr operand_kind kind = operand_kind::none;
  static constexpr dtype type = dtype::none;
  static constexpr int rank = 0;
};
template <scalar_literal X>
struct operand_traits<X> {
  static constexpr operand_kind kind = operand_kind::literal;
  static constexpr dtype type = dtype_of<scalar_element<X>>;
  static constexpr int rank = 0;
};
template <class T>
struct operand_traits<scalar_expr<T>> {
  static constexpr operand_kind kind = operand_kind::weak;
  static constexpr dtype type = dtype_of<T>;
  static constexpr int rank = 0;
};
template <class T, int R>
struct operand_traits<expr<T, R>> {
  static constexpr operand_kind kind = operand_kind::strong;
  static constexpr dtype type = dtype_of<T>;
  static constexpr int rank = R;
};
template <class T, int R>
struct operand_traits<var_expr<T, R>> : operand_traits<expr<T, R>> {};
template <class T, int R>
struct operand_traits<array<T, R>> {
  static constexpr operand_kind kind = operand_kind::array;
  static constexpr dtype type = dtype_of<T>;
  static constexpr int rank = R;
};

template <class T, int R>
struct operand_traits<variable<T, R>> {
  static constexpr operand_kind kind = operand_kind::variable;
  static constexpr dtype type = dtype_of<T>;
  static constexpr int rank = R;
};

template <class X>
inline constexpr operand_kind kind_v = operand_traits<X>::kind;
template <class... X>
inline constexpr bool any_symbol =
    ((kind_v<X> == operand_kind::strong || kind_v<X> == operand_kind::weak) || ...);
template <class... X>
inline constexpr bool has_array = ((kind_v<X> == operand_kind::array) || ...);
template <class... X>
inline constexpr bool has_variable = ((kind_v<X> == operand_kind::variable) || ...);

/// Refuses arrays and variables beside symbols, and variables where there is no trace.
template <class... X>
constexpr auto
check_operands() {  // auto: instantiated where it is called, before what would fail next
  static_assert(!any_symbol<X...> || !(has_array<X...> || has_variable<X...>), CALQUE_MIXED);
  static_assert(any_symbol<X...> || !has_variable<X...>, CALQUE_HOST_VARIABLE);
}

}  // namespace detail

/// Something an operation takes: a symbol, an array, or a C++ number; also a variable, to be
/// refused by a message.
template <class X>
concept operand = detail::kind_v<X> != detail::operand_kind::none;
/// A C++ number or the symbol of one.
template <class X>
concept weak_operand = detail::kind_v<X> == detail::operand_kind::literal ||
                       detail::kind_v<X> == detail::operand_kind::weak;
/// A symbol of an array or a scalar.
template <class X>
concept symbolic = detail::kind_v<X> == detail::operand_kind::strong ||
                   detail::kind_v<X> == detail::operand_kind::weak;
/// The symbol of an array; also a variable, to be refused by a message.
template <class X>
concept array_symbol = detail::kind_v<X> == detail::operand_kind::strong ||
                       detail::kind_v<X> == detail::operand_kind::variable;
/// An array or the symbol of one: what reductions and views take.
template <class X>
concept array_operand = array_symbol<X> || detail::kind_v<X> == detail::operand_kind::array;

namespace detail {

/// Runs operation `Fn` on arrays at once; defined in call/array_operation.hpp.
template <class Fn>
struct array_operation;
template <class Fn, class... X>
constexpr auto run_on_arrays(const Fn&, const X&... x) {
  return array_operation<Fn>::run(x...);
}

/// The type in which two operands are computed.
template <class A, class B>
constexpr dtype common_type() {
  constexpr dtype a = operand_traits<A>::type, b = operand_traits<B>::type;
  if constexpr (weak_operand<A> && weak_operand<B>) return promote_scalars(a, b);
  else if constexpr (weak_operand<A>) return promote_weak(b, a);
  else if constexpr (weak_operand<B>) return promote_weak(a, b);
  else return promote(a, b);
}

template <class A, class B>
inline constexpr bool has_common_type = common_type<A, B>() != dtype::none;

// Refuses two types that no type holds, by the name of the function that was called.
#define CALQUE_CHECK_TYPES(CALL, A, B)                 \
  static_assert(calque::detail::has_common_type<A, B>, \
                CALL ": no integer type holds both int64 and uint64; cast one")

template <class X>
constexpr builder* builder_of(const X& x) {
  if constexpr (symbolic<X>) {
    return x.b;
  } else {
    return nullptr;
  }
}
/// The trace that the symbols among `x…` belong to.
template <class... X>
constexpr builder& common_builder(const X&... x) {
  builder* b = nullptr;
  for (builder* one : {builder_of(x)...}) {
    if (one && b && one != b) throw value_error("calque: symbols of two traces in one operation");
    if (one) b = one;
  }
  if (!b) throw_fault(trace_fault::unset);
  return *b;
}

/// Operand `x` as a node of type `To`; a number is rounded once, one that does not fit is refused.
template <class To, class X>
constexpr int node_of(builder& b, const X& x) {
  if constexpr (kind_v<X> == operand_kind::literal) {
    if constexpr (std::is_integral_v<To> && std::is_integral_v<X> && !std::is_same_v<To, bool>)
      if (static_cast<X>(static_cast<To>(x)) != x || (static_cast<To>(x) < To{}) != (x < X{}))
        b.fail(trace_fault::literal);
    return b.constant_of(dtype_of<To>, make_constant<To>(saturate_cast<To>(x)));
  } else {
    return build_cast(b, x.id, dtype_of<To>);
  }
}

/// The symbol type of a result.
template <bool Weak, dtype T, int Rank>
struct symbol_for {
  using type = expr<type_of<T>, Rank>;
};
template <dtype T, int Rank>
struct symbol_for<true, T, Rank> {
  using type = scalar_expr<type_of<T>>;
};

/// x op= y: y must convert to x's type without changing kind, and must not have a higher rank.
/// `Variable`: x is the value of one.
template <class Fn, bool Variable = false, class T, int Rank, class Y>
constexpr expr<T, Rank> updated(const expr<T, Rank>& x, const Y& y, location at = {}) {
  static_assert(operand<Y>, "calque: x op= y: y must be a symbol or a C++ number");
  check_operands<expr<T, Rank>, Y>();
  constexpr bool fits = kind_of(operand_traits<Y>::type) <= kind_of(dtype_of<T>);
  static_assert(fits || Variable,
                "calque: x op= y: y has a higher kind than x (bool < integer < floating) and would "
                "be truncated; write x = cq::astype<...>(x op y)");
  static_assert(fits || !Variable,
                "calque: w op= y: y has a higher kind than variable w (bool < integer < floating) "
                "and would be truncated; write w.assign(cq::astype<...>(w op y))");
  static_assert(operand_traits<Y>::rank <= Rank,
                "calque: x op= y: y has more axes than x; reduce y first");
  const auto r = Fn{}(x, y, at);
  return {r.b, build_cast(*r.b, r.id, dtype_of<T>)};
}

/// The value to store in a variable or loop state of type T and at most `Rank` axes.
template <class T, int Rank, class E>
constexpr int store_operand(builder& b, const E& e) {
  check_operands<expr<T, Rank>, E>();
  static_assert(
      kind_of(operand_traits<E>::type) <= kind_of(dtype_of<T>),
      "calque: variable.assign(e): e has a higher kind than the variable (bool < integer < "
      "floating) and would be truncated; use cq::astype<...>(e)");
  static_assert(operand_traits<E>::rank <= Rank,
                "calque: variable.assign(e): e has more axes than the variable; reduce e first");
  return node_of<T>(b, e);
}

/// `id` broadcast to the rank of node `like`; equal ranks are left for the plan to compare.
constexpr int broadcast_like(builder& b, int id, int like) {
  const node to = b.at(like), from = b.at(id);
  bool stretch = from.rank < to.rank;
  for (int i = 0; !stretch && i < from.rank; ++i)
    stretch = b.is_literal(from.dims[i], 1) && !b.is_literal(to.dims[i], 1);
  return stretch ? op::broadcast_to::build(b, id, to.rank, to.dims) : id;
}

}  // namespace detail
}  // namespace calque
