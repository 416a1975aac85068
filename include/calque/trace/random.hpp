// Random numbers in traced functions and outside: uniform, normal, bernoulli, dropout.
//
// The generator's state is passed like a variable. Every draw advances it, in program order, also
// when nothing needs its numbers.
#pragma once

#include "calque/ops/limits.hpp"
#include "calque/ops/random.hpp"
#include "calque/trace/shaping.hpp"
#include "calque/trace/structure.hpp"

namespace calque {

class rng;

/// A generator's symbol: a handle, as a variable's is.
struct rng_expr : detail::handle {
  constexpr rng_expr() = default;
};

namespace detail {

template <>
struct operand_traits<rng_expr> {
  static constexpr operand_kind kind = operand_kind::strong;
  static constexpr dtype type = dtype::uint64;
  static constexpr int rank = 1;
};
template <>
struct leaf_traits<rng> {
  static constexpr leaf_kind kind = leaf_kind::variable;
};
template <>
struct leaf_traits<rng_expr> {
  static constexpr leaf_kind kind = leaf_kind::variable;
};
template <>
struct to_symbols::leaf<rng> {
  using type = rng_expr;
};

/// Whether a draw is part of a trace, and whether `S` is a generator, or the symbol of one.
template <class S>
inline constexpr bool is_drawn_here = !std::is_same_v<S, rng>;
template <class S>
inline constexpr bool is_generator = std::is_same_v<S, rng_expr> || std::is_same_v<S, rng>;

/// `p` as a node of type T: a literal that is no probability is refused.
template <class T, class P>
constexpr int probability_node(builder& g, const P& p, trace_fault f) {
  if constexpr (kind_v<P> == operand_kind::literal) {
    if (!is_probability(static_cast<double>(p))) g.fail(f);
    return node_of<T>(g, p);
  } else {
    return g.map_of<op::probability>(dtype_of<T>, node_of<T>(g, p));
  }
}
template <class T, class D>
constexpr int deviation_node(builder& g, const D& d) {
  if constexpr (kind_v<D> == operand_kind::literal) {
    if (!is_deviation(static_cast<double>(d))) g.fail(trace_fault::normal);
    return node_of<T>(g, d);
  } else {
    return g.map_of<op::deviation>(dtype_of<T>, node_of<T>(g, d));
  }
}
template <class T, class A, class B>
constexpr int upper_node(builder& g, const A& low, const B& high, int low_node) {
  const int high_node = node_of<T>(g, high);
  if constexpr (kind_v<A> == operand_kind::literal && kind_v<B> == operand_kind::literal) {
    if (!are_bounds(saturate_cast<T>(low), saturate_cast<T>(high))) g.fail(trace_fault::uniform);
    return high_node;
  } else {
    return g.map_of<op::upper_bound>(dtype_of<T>, low_node, high_node);
  }
}

template <class T>
inline constexpr bool is_drawn_type = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// As drawn, in [0, 1) or standard normal.
template <class Op, class T>
struct plain_draw_fn {
  template <class S, int Rank, class Extent>
  constexpr auto operator()(const S& state, const shape<Rank, Extent>& s, location at = {}) const {
    if constexpr (!is_drawn_here<S>) {
      return run_on_arrays(plain_draw_fn{}, state, s);
    } else {
      builder& g = *state.b;
      g.where = at;
      const auto dims = dims_from(g, s);
      return expr<T, Rank>{&g, build_draw<Op>(g, state.id, dtype_of<T>, Rank, dims.data())};
    }
  }
};

/// Numbers in [low, high): what rounds up to `high` becomes `low`.
template <class T>
struct uniform_fn {
  template <class S, int Rank, class Extent, class A, class B>
  constexpr auto operator()(const S& state, const shape<Rank, Extent>& s, const A& a, const B& b,
                            location at = {}) const {
    if constexpr (!is_drawn_here<S>) {
      return run_on_arrays(uniform_fn{}, state, s, a, b);
    } else {
      at = at.in("uniform");
      const auto u = plain_draw_fn<op::random_uniform, T>{}(state, s, at);
      builder& g = *state.b;
      const expr<T, 0> low{&g, node_of<T>(g, a)}, high{&g, upper_node<T>(g, a, b, low.id)};
      const auto x = add_fn{}(mul_fn{}(u, sub_fn{}(high, low, at), at), low, at);
      return where_fn{}(greater_equal_fn{}(x, high, at), low, x, at);
    }
  }
};
template <class T>
struct normal_fn {
  template <class S, int Rank, class Extent, class A, class B>
  constexpr auto operator()(const S& state, const shape<Rank, Extent>& s, const A& mean,
                            const B& deviation, location at = {}) const {
    if constexpr (!is_drawn_here<S>) {
      return run_on_arrays(normal_fn{}, state, s, mean, deviation);
    } else {
      at = at.in("normal");
      const auto z = plain_draw_fn<op::random_normal, T>{}(state, s, at);
      builder& g = *state.b;
      const expr<T, 0> centre{&g, node_of<T>(g, mean)}, width{&g, deviation_node<T>(g, deviation)};
      return add_fn{}(mul_fn{}(z, width, at), centre, at);
    }
  }
};

struct bernoulli_fn {
  template <class S, int Rank, class Extent, class P>
  constexpr auto operator()(const S& state, const shape<Rank, Extent>& s, const P& p,
                            location at = {}) const {
    if constexpr (!is_drawn_here<S>) {
      return run_on_arrays(bernoulli_fn{}, state, s, p);
    } else {
      at = at.in("bernoulli");
      const auto u = plain_draw_fn<op::random_uniform, double>{}(state, s, at);
      builder& g = *state.b;
      return less_fn{}(
          u, expr<double, 0>{&g, probability_node<double>(g, p, trace_fault::bernoulli)}, at);
    }
  }
};
struct dropout_fn {
  template <class S, class X, class P>
  constexpr auto operator()(const S& state, const X& x, const P& p, location at = {}) const {
    static_assert(is_floating(operand_traits<X>::type),
                  "cq::dropout(state, x, p): x must be floating; cast it with "
                  "cq::astype<float>(x)");
    if constexpr (!is_drawn_here<S>) {
      return run_on_arrays(dropout_fn{}, state, x, p);
    } else {
      using T = type_of<operand_traits<X>::type>;
      at = at.in("dropout");
      builder& g = *state.b;
      g.where = at;
      const node like = g.at(g.value_of(x.id));
      constexpr int rank = operand_traits<X>::rank;
      const expr<float, rank> u{
          &g, build_draw<op::random_uniform>(g, state.id, dtype::float32, rank, like.dims)};
      const expr<T, 0> q{&g, probability_node<T>(g, p, trace_fault::dropout)};
      // of p that is NaN: neither is u below it nor is 1 - p a number
      return where_fn{}(less_fn{}(u, astype_fn<float>{}(q, at), at), T{0},
                        div_fn{}(x, sub_fn{}(T{1}, q, at), at), at);
    }
  }
};

}  // namespace detail

// Refuses what is no generator, by the name of the function that was called.
#define CALQUE_CHECK_STATE(CALL, S)                                                           \
  static_assert(detail::is_generator<S>, CALL                                                 \
                ": the first argument must be a cq::rng, or its symbol in a traced function " \
                "that it was passed to")
#define CALQUE_CHECK_DRAW(CALL, S, T)                                 \
  CALQUE_CHECK_STATE(CALL, S);                                        \
  static_assert(detail::is_drawn_type<T>, CALL                        \
                ": T must be float or double; cast the numbers with " \
                "cq::astype<...>(x)")

namespace random {

/// Uniform numbers in [lo, hi) of type T, float or double, in an array of extents `s`. An element
/// depends on seed, number of the draw, and its index alone. Bounds that are out of order, not
/// finite, or farther apart than T can hold do not compile as literals, throw `value_error` as
/// numbers of the call, and make NaN where a computation knows them.
///
///   cq::rng state{42};
///   auto x = cq::random::uniform<float>(state, cq::shape{3, 4}, -1, 1);
template <element T, class S, int Rank, class Extent, weak_operand A, weak_operand B>
[[nodiscard]] constexpr auto uniform(const S& state, const shape<Rank, Extent>& s, const A& lo,
                                     const B& hi, location at = here()) {
  CALQUE_CHECK_DRAW("cq::random::uniform<T>(state, shape, lo, hi)", S, T);
  return detail::uniform_fn<T>{}(state, s, lo, hi, at);
}
template <element T, class S, int Rank, class Extent>
[[nodiscard]] constexpr auto uniform(const S& state, const shape<Rank, Extent>& s,
                                     location at = here()) {
  CALQUE_CHECK_DRAW("cq::random::uniform<T>(state, shape)", S, T);
  return detail::plain_draw_fn<op::random_uniform, T>{}(state, s, at);
}
/// Normally distributed numbers of type T, float or double, around `mean` (0) with standard
/// deviation `deviation` (1). One below 0 or NaN does not compile as a literal, throws
/// `value_error` as a number of the call, and makes NaN where a computation knows it.
template <element T, class S, int Rank, class Extent, weak_operand A, weak_operand B>
[[nodiscard]] constexpr auto normal(const S& state, const shape<Rank, Extent>& s, const A& mean,
                                    const B& deviation, location at = here()) {
  CALQUE_CHECK_DRAW("cq::random::normal<T>(state, shape, mean, deviation)", S, T);
  return detail::normal_fn<T>{}(state, s, mean, deviation, at);
}
template <element T, class S, int Rank, class Extent>
[[nodiscard]] constexpr auto normal(const S& state, const shape<Rank, Extent>& s,
                                    location at = here()) {
  CALQUE_CHECK_DRAW("cq::random::normal<T>(state, shape)", S, T);
  return detail::plain_draw_fn<op::random_normal, T>{}(state, s, at);
}
/// True with probability `p`, else false. A `p` outside 0 to 1 does not compile as a literal and
/// throws `value_error` as a number of the call; where a computation knows it, nothing is true.
template <class S, int Rank, class Extent, weak_operand P>
[[nodiscard]] constexpr auto bernoulli(const S& state, const shape<Rank, Extent>& s, const P& p,
                                       location at = here()) {
  CALQUE_CHECK_STATE("cq::random::bernoulli(state, shape, p)", S);
  return detail::bernoulli_fn{}(state, s, p, at);
}
/// Each element of `x` is 0 with probability `p`, else x / (1 - p): the mean stays. Derivatives
/// flow through what is kept. A `p` outside 0 to 1 does not compile as a literal, throws
/// `value_error` as a number of the call, and makes NaN where a computation knows it.
template <class S, array_operand X, weak_operand P>
[[nodiscard]] constexpr auto dropout(const S& state, const X& x, const P& p, location at = here()) {
  CALQUE_CHECK_STATE("cq::dropout(state, x, p)", S);
  return detail::dropout_fn{}(state, x, p, at);
}

}  // namespace random
#undef CALQUE_CHECK_STATE
#undef CALQUE_CHECK_DRAW

using random::dropout;

}  // namespace calque
