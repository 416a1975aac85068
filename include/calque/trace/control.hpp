// Control flow that becomes part of the graph: cond and for_loop.
#pragma once

#include "calque/trace/structure.hpp"

namespace calque {
namespace detail {

/// Appends the ids of a tree's leaves.
template <class Tree>
constexpr void collect(builder& g, const Tree& tree, list<std::int32_t>& ids) {
  for_each_leaf(tree, [&]<class L>(const L& leaf) {
    static_assert(symbolic<L> || scalar_literal<L>,
                  "calque: a region's results must be symbols or numbers, alone or in tuples and "
                  "aggregates");
    if constexpr (symbolic<L>)
      if (leaf.b && leaf.b != &g)
        throw value_error("calque: a symbol of another trace in a region");
    constexpr dtype t = operand_traits<L>::type;
    ids.push(g.value_of(node_of<type_of<t>>(g, leaf)));
  });
}
/// Sets the leaves of `tree` to `ids`.
template <class Tree>
constexpr void distribute(builder& g, Tree& tree, const list<std::int32_t>& ids) {
  int k = 0;
  for_each_leaf(tree, [&]<class L>(L& leaf) { leaf = L(&g, ids[k++]); });
}

/// The tree of plain symbols that a region's result or a loop's state is handed on as.
struct to_state {
  template <class X>
  struct leaf;
  template <symbolic X>
  struct leaf<X> : to_exprs::leaf<X> {};
  template <scalar_literal T>
  struct leaf<T> {
    using type = expr<scalar_element<T>, 0>;
  };
};
template <template <template <class, int> class> class M>
struct rebind<to_state, M<expr>> {
  using type = M<expr>;
};
template <template <template <class, int> class> class M>
struct rebind<to_state, M<var_expr>> {
  using type = M<expr>;
};
template <class X>
using state_of = typename rebind<to_state, X>::type;

template <class F>
constexpr int branch_region(builder& g, const F& f, list<std::int32_t>& ids, location at) {
  g.where = at;
  const int r = g.begin_region(false);
  if constexpr (std::is_void_v<decltype(f())>) {
    f();
  } else {
    auto results = f();
    g.where = at;
    collect(g, results, ids);
  }
  g.end_region(ids.begin(), ids.size());
  return r;
}

/// Whether `F` is a function that cond can call; a symbol can be called too, to be refused.
template <class F>
inline constexpr bool is_branch = !operand<F> && std::is_invocable_v<const F&>;

template <class Then, class Else>
constexpr void check_branches() {
  static_assert(
      is_branch<Then> && is_branch<Else>,
      "cq::cond(p, then, else): then and else must be functions without parameters, as in "
      "cq::cond(p, [&] { return a; }, [&] { return b; }); for two values use cq::where(p, a, b)");
}

template <class N>
inline constexpr bool is_count = symbolic<N> || std::integral<N>;
template <auto K>
inline constexpr bool is_count<static_t<K>> = std::integral<decltype(K)>;

}  // namespace detail

/// Runs one of two branches: `then` if `p` holds, else `otherwise`. Both are traced; they return
/// the same types (or nothing) and, checked when planning, the same extents. Effects of the branch
/// that is not taken do not happen. With a host bool, the branch is chosen while tracing.
///
///   auto y = cq::cond(cq::sum(x) > 0, [&] { return x; }, [&] { return -x; });
template <class P, class Then, class Else>
  requires(symbolic<P>)
constexpr auto cond(const P& p, const Then& then, const Else& otherwise, location at = here()) {
  static_assert(
      detail::operand_traits<P>::type == dtype::boolean && detail::operand_traits<P>::rank == 0,
      "cq::cond(p, then, else): p must be a bool scalar; compare, and reduce with cq::max or "
      "cq::min, or choose element by element with cq::where(p, a, b)");
  detail::check_branches<Then, Else>();
  using A = std::invoke_result_t<const Then&>;
  using B = std::invoke_result_t<const Else&>;
  builder& g = detail::common_builder(p);
  g.where = at;
  const int predicate = g.value_of(p.id);
  detail::list<std::int32_t> a, b;
  const int yes = detail::branch_region(g, then, a, at);
  const int no = detail::branch_region(g, otherwise, b, at);
  g.where = at;
  const int owner = g.append_with(builder::make<op::cond>(dtype::none), predicate);
  g.own(owner, yes, no);
  if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
    static_assert(std::is_void_v<A> && std::is_void_v<B>,
                  "cq::cond(p, then, else): one branch returns a value and the other does not");
  } else {
    using R = detail::state_of<A>;
    static_assert(
        std::is_same_v<R, detail::state_of<B>>,
        "cq::cond(p, then, else): the branches return different types; cast with "
        "cq::astype<...> or reshape, so that both return the same element types and ranks");
    R r{};
    detail::list<std::int32_t> ids;
    for (int k = 0; k < a.size(); ++k) {
      const node x = g.at(a[k]), y = g.at(b[k]);
      for (int i = 0; i < x.rank; ++i) g.unify(x.dims[i], y.dims[i]);
      ids.push(g.result_of(owner, k, x));
    }
    detail::distribute(g, r, ids);
    return r;
  }
}
template <class Then, class Else>
constexpr auto cond(bool p, const Then& then, const Else& otherwise, location = here()) {
  detail::check_branches<Then, Else>();
  static_assert(
      std::is_same_v<std::invoke_result_t<const Then&>, std::invoke_result_t<const Else&>>,
      "cq::cond(p, then, else): the branches return different types; cast with "
      "cq::astype<...> or reshape, so that both return the same element types and ranks");
  return p ? then() : otherwise();
}
/// For its text.
template <class P, class Then>
constexpr void cond(const P&, const Then&) {
  static_assert(detail::never<P>,
                "cq::cond(p, then): the branch for else is missing; add one, as in cq::cond(p, "
                "then, [] {}) for nothing");
}

/// Runs `body(i, state)` for i = 0 … n - 1, each step on the state that the one before returned,
/// and gives the last state. One node whatever n is: an integer, `static_<N>` or symbolic; a
/// negative n means no step. The state is a symbol or number, or a tuple or aggregate of them; its
/// types and extents stay the same from step to step.
///
///   auto y = cq::for_loop(10, x, [&](auto i, auto s) { return s * 0.5f + x; });
template <class N, class State, class Body>
constexpr auto for_loop(const N& n, const State& state, const Body& body, location at = here()) {
  static_assert(
      detail::is_count<N>,
      "cq::for_loop(n, state, body): n must be an integer scalar, cq::static_<N> or a C++ "
      "integer; convert it first, as in cq::astype<int>(n)");
  static_assert(!detail::holds_real<State>,
                "cq::for_loop(n, state, body): the state holds a real array or variable; call it "
                "inside a traced function, and pass that as an argument");
  static_assert(
      symbolic<N> || detail::holds_symbols<State>::value,
      "cq::for_loop(n, state, body): neither n nor the state is a symbol; start from one of the "
      "traced function's, as in cq::for_loop(n, x, body) or cq::for_loop(n, cq::sum(x) * 0, body)");
  using S = detail::state_of<State>;
  static_assert(
      detail::every_leaf<S, detail::is_symbol>(),
      "cq::for_loop(n, state, body): the state must be symbols or numbers, alone or in tuples, "
      "std::arrays and struct templates whose members all depend on the parameter");
  using I = scalar_expr<std::int64_t>;
  static_assert(std::is_invocable_v<const Body&, const I&, S&>,
                "cq::for_loop(n, state, body): body must take the number of the step and the "
                "state, as in [&](auto i, auto s) { return s + x; }");
  static_assert(!std::is_void_v<std::invoke_result_t<const Body&, const I&, S&>>,
                "cq::for_loop(n, state, body): body returns nothing; return the state of the next "
                "step, or s itself where the body only writes variables");
  builder* found = nullptr;
  detail::for_each_leaf(state, [&](const auto& leaf) {
    if constexpr (requires { leaf.b; }) found = leaf.b;
  });
  if constexpr (symbolic<N>) found = n.b;
  if (!found) detail::throw_fault(trace_fault::unset);
  builder& g = *found;
  g.where = at;
  detail::list<std::int32_t> inputs;
  if constexpr (symbolic<N>) {
    static_assert(
        is_integer(detail::operand_traits<N>::type) && detail::operand_traits<N>::rank == 0,
        "cq::for_loop(n, state, body): n must be an integer scalar; convert it first, as in "
        "cq::astype<int>(n), and reduce an array");
    inputs.push(detail::build_cast(g, n.id, dtype::int64));
  } else if constexpr (std::integral<N>) {
    inputs.push(g.constant_of(dtype::int64, {0, static_cast<std::int64_t>(n)}));
  } else {
    inputs.push(g.constant_of(dtype::int64, {0, static_cast<std::int64_t>(N::value)}));
  }
  detail::collect(g, state, inputs);
  const int carried = inputs.size() - 1;
  const int r = g.begin_region(true);
  const I i{&g, g.region_argument(builder::make<op::region_arg>(dtype::int64))};
  S now{};
  detail::list<std::int32_t> arguments, next;
  for (int k = 0; k < carried; ++k) arguments.push(g.region_argument(g.at(inputs[1 + k])));
  detail::distribute(g, now, arguments);
  auto after = body(i, now);
  g.where = at;
  static_assert(std::is_same_v<detail::state_of<decltype(after)>, S>,
                "cq::for_loop(n, state, body): body returns other types than the state has; cast "
                "with cq::astype<...> so that element types and ranks stay the same");
  detail::collect(g, after, next);
  for (int k = 0; k < carried; ++k) {
    const node x = g.at(inputs[1 + k]), y = g.at(next[k]);
    for (int d = 0; d < x.rank; ++d) g.unify(x.dims[d], y.dims[d]);
  }
  g.end_region(next.begin(), next.size());
  g.where = at;
  node loop = builder::make<op::loop>(dtype::none);
  loop.index = carried;
  loop.function = "for_loop";
  const int owner = g.append(loop, inputs.begin(), inputs.size());
  g.own(owner, r, -1);
  S result{};
  detail::list<std::int32_t> ids;
  for (int k = 0; k < carried; ++k) ids.push(g.result_of(owner, k, g.at(inputs[1 + k])));
  detail::distribute(g, result, ids);
  return result;
}

}  // namespace calque
