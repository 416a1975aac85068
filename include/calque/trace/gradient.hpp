// grad and value_and_grad: derivatives of a scalar function with respect to some of its arguments.
//
// On symbols they append a `gradient` node that a pass expands; on arrays they are traced functions
// themselves. Each wrt argument passes through a marker, so that the derivative is with respect to
// that argument alone, also where the same value reaches another one.
#pragma once

#include "calque/trace/structure.hpp"

namespace calque {

template <class F, int PassLevel>
struct traced;

/// Which arguments derivatives are taken with respect to: `cq::wrt<0, 2>`.
template <int... I>
struct wrt_t {};
template <int... I>
inline constexpr wrt_t<I...> wrt{};

/// What `value_and_grad` returns: `grad` has the structure of the argument, or is a tuple of such
/// for several.
template <class Value, class Grad>
struct gradient_result {
  Value value;
  Grad grad;
};

namespace detail {

/// Replaces every leaf by a marker of its present value; remembers what variables held.
template <class X>
constexpr void mark(builder& g, X& x, list<std::int32_t>& markers, list<std::int32_t>& held) {
  for_each_leaf(x, [&]<class L>(L& leaf) {
    if constexpr (symbolic<L>) {
      static_assert(
          is_floating(operand_traits<L>::type),
          "cq::grad(f, wrt): an argument that derivatives are taken with respect to must be "
          "floating; cast it with cq::astype<float>(x), or leave it out of wrt");
      const int value = g.value_of(leaf.id);
      node n = builder::make<op::marker>(g.at(value).type, g.at(value).rank);
      for (int i = 0; i < n.rank; ++i) n.dims[i] = g.at(value).dims[i];
      if constexpr (leaf_traits<L>::kind == leaf_kind::variable) n.index = g.at(leaf.id).index;
      const int id = g.append_with(n, value);
      markers.push(id);
      if constexpr (leaf_traits<L>::kind == leaf_kind::variable) {
        held.push(leaf.id);
        held.push(g.exchange_value(leaf.id, id));
        held.push(id);
      } else {
        leaf = L(&g, id);
      }
    }
  });
}

template <class X>
constexpr void find_builder(const X& x, builder*& found) {
  for_each_leaf(x, [&](const auto& leaf) {
    if constexpr (requires { leaf.b; })
      if (leaf.b) found = leaf.b;
  });
}

template <class F, int... W>
struct value_and_grad_fn {
  template <class... A>
  constexpr auto operator()(const A&... args) const {
    static_assert(((W >= 0 && W < static_cast<int>(sizeof...(A))) && ...) && sizeof...(W) > 0,
                  "cq::value_and_grad(f, cq::wrt<...>): wrt names an argument that the call "
                  "lacks; count the arguments from 0");
    if constexpr (!(holds_symbols<A>::value || ...)) {
      return traced<value_and_grad_fn, 2>{}(args...);
    } else {
      builder* found = nullptr;
      (find_builder(args, found), ...);
      builder& g = *found;
      g.where = {};  // its nodes stand where the loss does
      std::tuple<A...> inner(args...);
      list<std::int32_t> inputs, held;
      inputs.push(-1);
      (mark(g, std::get<W>(inner), inputs, held), ...);
      const auto loss = std::apply([](const auto&... x) { return F{}(x...); }, inner);
      using L = std::remove_cv_t<decltype(loss)>;
      static_assert(symbolic<L>,
                    "cq::value_and_grad(f): f must return one symbolic scalar, the loss");
      static_assert(
          operand_traits<L>::rank == 0,
          "cq::value_and_grad(f): f must return a scalar (rank 0); reduce it with cq::sum or "
          "cq::mean");
      static_assert(is_floating(operand_traits<L>::type),
                    "cq::value_and_grad(f): f must return a floating scalar");
      inputs[0] = g.value_of(loss.id);
      for (int i = held.size() - 3; i >= 0;
           i -= 3) {  // a variable that was not written reads as before
        const int now = g.exchange_value(held[i], held[i + 1]);
        if (now != held[i + 2]) g.exchange_value(held[i], now);
      }
      g.where = {g.at(inputs[0]).line, g.at(inputs[0]).file};
      const int owner =
          g.append(builder::make<op::gradient>(dtype::none), inputs.begin(), inputs.size());
      int k = 0;
      const auto one = [&]<class X>(std::type_identity<X>) {
        exprs_of<X> grad{};
        for_each_leaf(grad, [&]<class E>(E& leaf) {
          if constexpr (symbolic<E>) {
            leaf = E(&g, g.result_of(owner, k, g.at(inputs[1 + k])));
            ++k;
          }
        });
        return grad;
      };
      using T = type_of<operand_traits<L>::type>;
      const expr<T, 0> value{&g, inputs[0]};
      if constexpr (sizeof...(W) == 1) {
        auto grad = (one(std::type_identity<std::tuple_element_t<W, std::tuple<A...>>>{}), ...);
        return gradient_result<expr<T, 0>, decltype(grad)>{value, grad};
      } else {
        auto grad =
            std::tuple{one(std::type_identity<std::tuple_element_t<W, std::tuple<A...>>>{})...};
        return gradient_result<expr<T, 0>, decltype(grad)>{value, grad};
      }
    }
  }
};

template <class F, int... W>
struct grad_fn {
  template <class... A>
  constexpr auto operator()(const A&... args) const {
    if constexpr (!(holds_symbols<A>::value || ...)) return traced<grad_fn, 2>{}(args...);
    else return value_and_grad_fn<F, W...>{}(args...).grad;
  }
};

template <class F>
concept captureless = std::is_empty_v<F> && std::default_initializable<F>;

}  // namespace detail

/// The function that returns f's value and its derivatives: `{value, grad}`. `f` returns a floating
/// scalar; the result is called with f's arguments, inside a trace (symbols) or outside (arrays).
///
///   auto r = cq::value_and_grad(loss, cq::wrt<0>)(model, x, t);
///   model.w -= rate * r.grad.w;
template <class F, int... W>
[[nodiscard]] constexpr auto value_and_grad(F, wrt_t<W...>) {
  static_assert(detail::captureless<F>,
                "cq::value_and_grad(f): f must be captureless; pass state as an argument");
  return detail::value_and_grad_fn<F, W...>{};
}
template <class F>
[[nodiscard]] constexpr auto value_and_grad(F f) {
  return value_and_grad(f, wrt<0>);
}
/// The function that returns f's derivatives alone: for one argument its structure, for several a
/// tuple. f's effects happen once.
///
///   auto slope = cq::grad([](auto x) { return cq::sum(x * x); })(x);
template <class F, int... W>
[[nodiscard]] constexpr auto grad(F, wrt_t<W...>) {
  static_assert(detail::captureless<F>,
                "cq::grad(f): f must be captureless; pass state as an argument");
  return detail::grad_fn<F, W...>{};
}
template <class F>
[[nodiscard]] constexpr auto grad(F f) {
  return grad(f, wrt<0>);
}

}  // namespace calque
