// Operators and array functions on arrays, outside traces: each is a traced function of one
// operation.
#pragma once

#include "calque/call/traced.hpp"
#include "calque/trace/composed.hpp"

namespace calque {
namespace detail {

template <class Fn>
struct array_operation {
  template <class... X>
  static auto run(const X&... x) {
    return traced<Fn, 2>{}(x...);
  }
};

}  // namespace detail

#define CALQUE_ARRAY_OPERATOR(SYMBOL, FUNCTION)                             \
  template <class T, int Rank, operand B>                                   \
  [[nodiscard]] auto operator SYMBOL(const array<T, Rank>& a, const B& b) { \
    return detail::FUNCTION{}(a, b);                                        \
  }                                                                         \
  template <weak_operand A, class T, int Rank>                              \
  [[nodiscard]] auto operator SYMBOL(const A& a, const array<T, Rank>& b) { \
    return detail::FUNCTION{}(a, b);                                        \
  }
CALQUE_BINARY_OPERATORS(CALQUE_ARRAY_OPERATOR)
#undef CALQUE_ARRAY_OPERATOR

template <class T, int Rank>
[[nodiscard]] auto operator-(const array<T, Rank>& a) {
  return detail::neg_fn{}(a);
}

#define CALQUE_ARRAY_ASSIGNMENT(SYMBOL, FUNCTION)                                                \
  template <class T, int Rank, operand B>                                                        \
    requires(!std::is_const_v<T>)                                                                \
  array<T, Rank>& operator SYMBOL(array<T, Rank>& a, const B & b) {                              \
    detail::check_operands<array<T, Rank>, B>();                                                 \
    static_assert(kind_of(detail::operand_traits<B>::type) <= kind_of(dtype_of<T>),              \
                  "calque: x op= y: y has a higher kind than x (bool < integer < floating) and " \
                  "would be truncated; write x = cq::astype<...>(x op y)");                      \
    traced<detail::update_fn<detail::FUNCTION, T>, 2>{}.into(a, a, b);                           \
    return a;                                                                                    \
  }
namespace detail {

template <class Fn, class T>
struct update_fn {
  template <class X, class Y>
  constexpr auto operator()(const X& x, const Y& y) const {
    return updated<Fn>(x, y);
  }
};

}  // namespace detail
#define CALQUE_VIEW_ASSIGNMENT(SYMBOL)                                                     \
  template <class T, int Rank, operand B>                                                  \
  void operator SYMBOL(const array<const T, Rank>&, const B&) {                            \
    static_assert(                                                                         \
        detail::never<B>,                                                                  \
        "calque: x op= y: x is a view or a read-only array; write to the array it views, " \
        "or to x.clone()");                                                                \
  }
CALQUE_VIEW_ASSIGNMENT(+=)
CALQUE_VIEW_ASSIGNMENT(-=)
CALQUE_VIEW_ASSIGNMENT(*=)
CALQUE_VIEW_ASSIGNMENT(/=)
#undef CALQUE_VIEW_ASSIGNMENT
CALQUE_ARRAY_ASSIGNMENT(+=, add_fn)
CALQUE_ARRAY_ASSIGNMENT(-=, sub_fn)
CALQUE_ARRAY_ASSIGNMENT(*=, mul_fn)
CALQUE_ARRAY_ASSIGNMENT(/=, div_fn)
#undef CALQUE_ARRAY_ASSIGNMENT

}  // namespace calque
