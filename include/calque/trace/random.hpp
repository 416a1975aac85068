// Random numbers in traced functions and outside: uniform, normal, bernoulli, dropout.
//
// The generator's state is passed like a variable. Every draw advances it, in program order, also
// when nothing needs its numbers.
#pragma once

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

/// Whether `S` is a generator's symbol; refuses what is none.
template <class S>
constexpr bool check_state() {
  static_assert(std::is_same_v<S, rng_expr> || std::is_same_v<S, rng>,
                "cq::random::...(state, ...): the first argument must be a cq::rng, or its symbol "
                "in a traced function that it was passed to");
  return std::is_same_v<S, rng_expr>;
}

/// Numbers of distribution `Op`, times `scale`, plus `offset`; below `offset + scale` if `Bounded`.
template <class Op, class T, bool Bounded>
struct draw_fn {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "cq::random::uniform<T>, normal<T>: T must be float or double; cast the numbers "
                "with cq::astype<...>(x)");
  template <class S, int Rank, class Extent, class A, class B>
  constexpr auto operator()(const S& state, const shape<Rank, Extent>& s, const A& a, const B& b,
                            location at = {}) const {
    if constexpr (!check_state<S>()) {
      return run_on_arrays(draw_fn{}, state, s, a, b);
    } else {
      builder& g = *state.b;
      g.where = at;
      const auto dims = dims_from(g, s);
      const expr<T, Rank> u{&g, build_draw<Op>(g, state.id, dtype_of<T>, Rank, dims.data())};
      const expr<T, 0> low{&g, node_of<T>(g, a)}, last{&g, node_of<T>(g, b)};
      if constexpr (Bounded) {  // [a, b): what rounds up to b becomes a
        const auto x = add_fn{}(mul_fn{}(u, sub_fn{}(last, low, at), at), low, at);
        return where_fn{}(less_fn{}(x, last, at), x, low, at);
      } else {
        return add_fn{}(mul_fn{}(u, last, at), low, at);
      }
    }
  }
};
template <class T>
using uniform_fn = draw_fn<op::random_uniform, T, true>;
template <class T>
using normal_fn = draw_fn<op::random_normal, T, false>;

/// As drawn, in [0, 1) or standard normal.
template <class Op, class T>
struct plain_draw_fn {
  template <class S, int Rank, class Extent>
  constexpr auto operator()(const S& state, const shape<Rank, Extent>& s, location at = {}) const {
    if constexpr (!check_state<S>()) {
      return run_on_arrays(plain_draw_fn{}, state, s);
    } else {
      static_assert(sizeof(draw_fn<Op, T, false>) > 0);  // refuses other types
      builder& g = *state.b;
      g.where = at;
      const auto dims = dims_from(g, s);
      return expr<T, Rank>{&g, build_draw<Op>(g, state.id, dtype_of<T>, Rank, dims.data())};
    }
  }
};

struct bernoulli_fn {
  template <class S, int Rank, class Extent, class P>
  constexpr auto operator()(const S& state, const shape<Rank, Extent>& s, const P& p,
                            location at = {}) const {
    if constexpr (!check_state<S>()) {
      return run_on_arrays(bernoulli_fn{}, state, s, p);
    } else {
      return less_fn{}(plain_draw_fn<op::random_uniform, double>{}(state, s, at), p, at);
    }
  }
};
struct dropout_fn {
  template <class S, class X, class P>
  constexpr auto operator()(const S& state, const X& x, const P& p, location at = {}) const {
    static_assert(is_floating(operand_traits<X>::type),
                  "cq::random::dropout(state, x, p): x must be floating; cast it with "
                  "cq::astype<float>(x)");
    if constexpr (!check_state<S>()) {
      return run_on_arrays(dropout_fn{}, state, x, p);
    } else {
      using T = type_of<operand_traits<X>::type>;
      builder& g = *state.b;
      const node like = g.at(g.value_of(x.id));
      g.where = at;
      constexpr int rank = operand_traits<X>::rank;
      const expr<float, rank> u{
          &g, build_draw<op::random_uniform>(g, state.id, dtype::float32, rank, like.dims)};
      const auto kept = sub_fn{}(T{1}, expr<T, 0>{&g, node_of<T>(g, p)}, at);
      return where_fn{}(greater_equal_fn{}(u, expr<float, 0>{&g, node_of<float>(g, p)}, at),
                        div_fn{}(x, kept, at), T{0}, at);
    }
  }
};

}  // namespace detail

namespace random {

/// Uniform numbers in [lo, hi) of type T, float or double, in an array of extents `s`. An element
/// depends on seed, number of the draw, and its index alone.
///
///   cq::rng state{42};
///   auto x = cq::random::uniform<float>(state, cq::shape{3, 4}, -1, 1);
template <element T, class S, int Rank, class Extent, weak_operand A, weak_operand B>
[[nodiscard]] constexpr auto uniform(const S& state, const shape<Rank, Extent>& s, const A& lo,
                                     const B& hi, location at = here()) {
  return detail::uniform_fn<T>{}(state, s, lo, hi, at);
}
template <element T, class S, int Rank, class Extent>
[[nodiscard]] constexpr auto uniform(const S& state, const shape<Rank, Extent>& s,
                                     location at = here()) {
  return detail::plain_draw_fn<op::random_uniform, T>{}(state, s, at);
}
/// Normally distributed numbers of type T, float or double, around `mean` (0) with standard
/// deviation `deviation` (1).
template <element T, class S, int Rank, class Extent, weak_operand A, weak_operand B>
[[nodiscard]] constexpr auto normal(const S& state, const shape<Rank, Extent>& s, const A& mean,
                                    const B& deviation, location at = here()) {
  return detail::normal_fn<T>{}(state, s, mean, deviation, at);
}
template <element T, class S, int Rank, class Extent>
[[nodiscard]] constexpr auto normal(const S& state, const shape<Rank, Extent>& s,
                                    location at = here()) {
  return detail::plain_draw_fn<op::random_normal, T>{}(state, s, at);
}
/// True with probability `p`, else false.
template <class S, int Rank, class Extent, weak_operand P>
[[nodiscard]] constexpr auto bernoulli(const S& state, const shape<Rank, Extent>& s, const P& p,
                                       location at = here()) {
  return detail::bernoulli_fn{}(state, s, p, at);
}
/// Each element of `x` is 0 with probability `p`, else x / (1 - p): the mean stays. Derivatives
/// flow through what is kept.
template <class S, array_operand X, weak_operand P>
[[nodiscard]] constexpr auto dropout(const S& state, const X& x, const P& p, location at = here()) {
  return detail::dropout_fn{}(state, x, p, at);
}

}  // namespace random

using random::dropout;

}  // namespace calque
