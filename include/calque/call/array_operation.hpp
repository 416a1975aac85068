// Operators and array functions on arrays, outside traces: each is a traced function of one
// operation.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "calque/array/views.hpp"
#include "calque/call/traced.hpp"
#include "calque/core/fits.hpp"
#include "calque/trace/activations.hpp"
#include "calque/trace/composed.hpp"
#include "calque/trace/convolution.hpp"

namespace calque {
namespace detail {

/// What an operation makes of the number that is its operand: the type in which it is computed
/// (`none`: its own), and the name of the operation.
struct number_use {
  dtype type = dtype::none;
  const char* op = "";
};
constexpr number_use find_number_use(const graph_view& g, int operand) {
  for (int id = 0; id < g.node_count; ++id) {
    const node& n = g.nodes[id];
    if (n.op->kind != op_kind::map || n.op->form != map_form::cast) continue;
    const node& from = g.input_node(id, 0);
    if (from.op->kind != op_kind::scalar || from.index != operand) continue;
    for (int user = id + 1; user < g.node_count; ++user)
      for (int k = 0; k < g.nodes[user].inputs; ++k)
        if (g.input(user, k) == id)
          return {n.type, g.nodes[user].function ? g.nodes[user].function : g.nodes[user].op->name};
  }
  return {};
}
/// "i32[2]": the operand whose type a number has to take, else the type alone.
template <class... X>
[[nodiscard]] std::string text_of_type(dtype t, const X&... x) {
  std::string text;
  const auto look = [&]<class Y>(const Y& y) {
    if constexpr (has_array<Y>)
      if (text.empty() && operand_traits<Y>::type == t) text = label(y);
  };
  (look(x), ...);
  return text.empty() ? std::string(name_of(t)) : text;
}

/// Throws `dtype_error` for an integer among the operands that its type in the operation does not
/// hold: what a literal's fault is in a traced body.
template <class Fn, class... X>
void check_numbers(const X&... x) {
  if constexpr (((std::integral<X> && !std::same_as<X, bool>) || ...)) {
    using graph = typename signature<Fn, 2, key_of<X>...>::final;
    const auto check = [&]<int K, class N>(std::integral_constant<int, K>, const N& number) {
      if constexpr (std::integral<N>) {
        constexpr number_use use = find_number_use(graph::view(), K);
        if constexpr (is_integer(use.type))
          if (!fits<type_of<use.type>>(number)) [[unlikely]]
            throw_unfit(use.op, std::to_string(number), text_of_type(use.type, x...),
                        "cast the array first with cq::astype<...>(x)");
      }
    };
    [&]<int... K>(std::integer_sequence<int, K...>) {
      (check(std::integral_constant<int, K>{}, x), ...);
    }(std::make_integer_sequence<int, sizeof...(X)>{});
  }
}

template <class Fn>
struct array_operation {
  template <class... X>
  static auto run(const X&... x) {
    check_numbers<Fn>(x...);
    return traced<Fn, 2>{}(x...);
  }
};
/// Refuses too many classes itself: the plan would name a node that the caller did not write.
template <class T>
struct array_operation<one_hot_fn<T>> {
  template <class U, int Rank>
  static auto run(const array<U, Rank>& labels, const shape<1>& depth) {
    static_assert(Rank < max_rank, "cq::one_hot(labels, depth): labels must have rank 0 to 7");
    std::array<std::int64_t, Rank + 1> extents{}, strides{};
    std::copy_n(array_access::extents(labels), Rank, extents.begin());
    extents[Rank] = depth[0];
    (void)dense_layout(dtype_of<T>, extents.data(), Rank + 1, strides.data(), "one_hot");
    return traced<one_hot_fn<T>, 2>{}(labels, depth);
  }
};

}  // namespace detail

/// The axes of the tag reversed (all of them if it names none): a read-only view.
template <class T, int Rank, int... A>
  requires(Rank > 0)
[[nodiscard]] auto flip(const array<T, Rank>& a, axis_t<A...> axes) {
  return std::apply([&](const auto&... r) { return slice(a, r...); },
                    detail::flipped_ranges<Rank>(axes));
}

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
template <class T, int Rank>
[[nodiscard]] auto operator!(const array<T, Rank>& a) {
  return detail::not_fn{}(a);
}
template <class T, int Rank>
[[nodiscard]] auto operator~(const array<T, Rank>& a) {
  return detail::bitwise_not_fn{}(a);
}

#define CALQUE_ARRAY_ASSIGNMENT(SYMBOL, FUNCTION)                                                \
  template <class T, int Rank, operand B>                                                        \
    requires(!std::is_const_v<T>)                                                                \
  array<T, Rank>& operator SYMBOL(array<T, Rank>& a, const B & b) {                              \
    detail::check_operands<array<T, Rank>, B>();                                                 \
    static_assert(kind_of(detail::operand_traits<B>::type) <= kind_of(dtype_of<T>),              \
                  "calque: x op= y: y has a higher kind than x (bool < integer < floating) and " \
                  "would be truncated; write x = cq::astype<...>(x op y)");                      \
    using update = detail::update_fn<detail::FUNCTION, T>;                                       \
    detail::check_numbers<update>(a, b);                                                         \
    traced<update, 2>{}.into(a, a, b);                                                           \
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
#define CALQUE_VIEW_ASSIGNMENT(SYMBOL, FUNCTION)                                           \
  template <class T, int Rank, operand B>                                                  \
  void operator SYMBOL(const array<const T, Rank>&, const B&) {                            \
    static_assert(                                                                         \
        detail::never<B>,                                                                  \
        "calque: x op= y: x is a view or a read-only array; write to the array it views, " \
        "or to x.clone()");                                                                \
  }
CALQUE_UPDATE_OPERATORS(CALQUE_VIEW_ASSIGNMENT)
#undef CALQUE_VIEW_ASSIGNMENT
CALQUE_UPDATE_OPERATORS(CALQUE_ARRAY_ASSIGNMENT)
#undef CALQUE_ARRAY_ASSIGNMENT

}  // namespace calque
