// Statistics composed of other reductions: var, std, vector_norm, logsumexp.
//
// Separate from trace/reductions.hpp, which has what is one node each. Statistics of a row are
// plain reductions over the same axes that keep them with extent 1, the rest is elementwise: so
// that a row is one kernel.
#pragma once

#include "calque/trace/shaping.hpp"

namespace calque {

/// What `var` and `std` subtract from the count: `cq::ddof<1>` for a sample's.
template <int N>
struct ddof_t {};
template <int N>
inline constexpr ddof_t<N> ddof{};

/// `x` itself, through which no derivative flows.
template <symbolic X>
[[nodiscard]] constexpr X stop_gradient(const X& x, location at = here()) {
  builder& g = detail::common_builder(x);
  g.where = at;
  const int id = g.value_of(x.id);
  node n = builder::make<op::stop_gradient>(g.at(id).type, g.at(id).rank);
  for (int i = 0; i < g.at(id).rank; ++i) n.dims[i] = g.at(id).dims[i];
  return X{&g, g.append_with(n, id)};
}

namespace detail {

/// A reduction of a symbol over the axes of a mask.
template <class Op, unsigned Mask, bool Keep, class T, int Rank>
constexpr auto reduced(const expr<T, Rank>& x) {
  constexpr int rank = Keep ? Rank : Rank - bits_in(Mask);
  builder& g = *x.b;
  return expr<T, rank>{&g, build_reduction<Op>(g, x.id, Mask, Keep, dtype_of<T>)};
}
/// The number of elements over the axes of a mask, less `less`, as a double; never below 0.
template <unsigned Mask, class T, int Rank>
constexpr expr<double, 0> count_over(const expr<T, Rank>& x, location at, int less = 0) {
  const expr<double, 0> count{x.b, build_count(*x.b, x.id, Mask)};
  if (less == 0) return count;
  return maximum_fn{}(sub_fn{}(count, static_cast<double>(less), at), 0.0, at);
}
/// Gives a result the type and rank of its function, without the kept axes of extent 1.
template <class T, unsigned Mask, bool Keep, class V, int Rank>
constexpr auto finished(const expr<V, Rank>& x) {
  builder& g = *x.b;
  const int id = build_cast(g, x.id, dtype_of<T>);
  if constexpr (Keep) {
    return expr<T, Rank>{&g, id};
  } else {
    std::int32_t dims[max_rank]{};
    int rank = 0;
    const node n = g.at(id);
    for (int i = 0; i < Rank; ++i)
      if (!((Mask >> i) & 1u)) dims[rank++] = n.dims[i];
    return expr<T, Rank - bits_in(Mask)>{&g, op::reshape::build(g, id, rank, dims)};
  }
}

/// sqrt whose slope at 0 is 1: the derivative of what squares add up to is 0 where they all are 0,
/// and NaN where one is.
template <int Rank>
constexpr expr<double, Rank> root_of(const expr<double, Rank>& x, location at) {
  return where_fn{}(equal_fn{}(x, 0.0, at), x, sqrt_fn{}(x, at), at);
}

/// Squares of distances from the mean, averaged, in double: differences are taken before anything
/// is squared, so nothing cancels.
template <class Axes, bool Keep, int Less, bool Root>
struct variance_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(variance_fn{}, x);
    } else {
      constexpr unsigned mask = mask_of<Axes, X>;
      constexpr dtype t = floating(operand_traits<X>::type);
      builder& g = common_builder(x);
      g.where = at = at.in(Root ? "std" : "var");
      const auto v = astype_fn<double>{}(x, at);
      const auto n = count_over<mask>(v, at);
      auto away = sub_fn{}(v, div_fn{}(reduced<op::sum, mask, true>(v), n, at), at);
      // the mean of doubles is rounded: what it is off by is taken away as well
      if constexpr (operand_traits<X>::type == dtype::float64)
        away = sub_fn{}(away, div_fn{}(reduced<op::sum, mask, true>(away), n, at), at);
      const auto squares = reduced<op::sum, mask, Keep>(mul_fn{}(away, away, at));
      const auto spread = div_fn{}(squares, count_over<mask>(v, at, Less), at);
      if constexpr (Root) return finished<type_of<t>, mask, true>(root_of(spread, at));
      else return finished<type_of<t>, mask, true>(spread);
    }
  }
};

/// float is squared and summed in double, where nothing overflows or vanishes; double is scaled by
/// its largest magnitude.
template <class Axes, bool Keep>
struct norm_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(norm_fn{}, x);
    } else {
      constexpr unsigned mask = mask_of<Axes, X>;
      constexpr dtype t = floating(operand_traits<X>::type);
      builder& g = common_builder(x);
      g.where = at = at.in("vector_norm");
      const auto v = astype_fn<double>{}(x, at);
      if constexpr (operand_traits<X>::type == dtype::float64) {
        const auto most = stop_gradient(reduced<op::largest, mask, true>(abs_fn{}(v, at)), at);
        const auto usable = where_fn{}(greater_fn{}(most, 0.0, at),
                                       less_fn{}(most, __builtin_inf(), at), false, at);
        const auto scale = where_fn{}(usable, most, 1.0, at);
        const auto part = div_fn{}(v, scale, at);
        const auto root = root_of(reduced<op::sum, mask, true>(mul_fn{}(part, part, at)), at);
        return finished<double, mask, Keep>(mul_fn{}(root, scale, at));
      } else {
        return finished<type_of<t>, mask, true>(
            root_of(reduced<op::sum, mask, Keep>(mul_fn{}(v, v, at)), at));
      }
    }
  }
};

/// log(sum(exp(x - m))) + m with the largest element m; 0 in its place where it is infinite or NaN.
template <class Axes, bool Keep>
struct logsumexp_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(logsumexp_fn{}, x);
    } else {
      constexpr unsigned mask = mask_of<Axes, X>;
      using T = type_of<floating(operand_traits<X>::type)>;
      builder& g = common_builder(x);
      g.where = at = at.in("logsumexp");
      const auto v = astype_fn<T>{}(x, at);
      const auto most = stop_gradient(reduced<op::largest, mask, true>(v), at);
      const auto shift = where_fn{}(
          less_fn{}(abs_fn{}(most, at), std::numeric_limits<T>::infinity()), most, T{0}, at);
      const auto total = reduced<op::sum, mask, true>(exp_fn{}(sub_fn{}(v, shift, at), at));
      return finished<T, mask, Keep>(add_fn{}(log_fn{}(total, at), shift, at));
    }
  }
};

}  // namespace detail

#define CALQUE_STATISTIC(NAME, ...)                                                               \
  template <array_operand X>                                                                      \
  [[nodiscard]] constexpr auto NAME(const X& x, location at = here()) {                           \
    using Axes = axis_t<>;                                                                        \
    constexpr bool Keep = false;                                                                  \
    return detail::__VA_ARGS__{}(x, at);                                                          \
  }                                                                                               \
  template <array_operand X, int... A>                                                            \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A...>, location at = here()) {             \
    using Axes = axis_t<A...>;                                                                    \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, Axes);                                \
    constexpr bool Keep = false;                                                                  \
    return detail::__VA_ARGS__{}(x, at);                                                          \
  }                                                                                               \
  template <array_operand X, int... A>                                                            \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A...>, keepdims_t, location at = here()) { \
    using Axes = axis_t<A...>;                                                                    \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, Axes);                                \
    constexpr bool Keep = true;                                                                   \
    return detail::__VA_ARGS__{}(x, at);                                                          \
  }
#define CALQUE_SPREAD(NAME, ROOT)                                                                \
  CALQUE_STATISTIC(NAME, variance_fn<Axes, Keep, 0, ROOT>)                                       \
  template <array_operand X, int N>                                                              \
  [[nodiscard]] constexpr auto NAME(const X& x, ddof_t<N>, location at = here()) {               \
    return detail::variance_fn<axis_t<>, false, N, ROOT>{}(x, at);                               \
  }                                                                                              \
  template <array_operand X, int... A, int N>                                                    \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A...>, ddof_t<N>, location at = here()) { \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, axis_t<A...>);                       \
    return detail::variance_fn<axis_t<A...>, false, N, ROOT>{}(x, at);                           \
  }                                                                                              \
  template <array_operand X, int... A, int N>                                                    \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A...>, keepdims_t, ddof_t<N>,             \
                                    location at = here()) {                                      \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, axis_t<A...>);                       \
    return detail::variance_fn<axis_t<A...>, true, N, ROOT>{}(x, at);                            \
  }

/// Variance over all axes or those of the tag: the mean of squared distances from the mean, of the
/// population; `cq::ddof<1>` divides by n - 1. Computed in double and in two passes: offsets do not
/// cancel, it is never negative, and 0 for constants. Of integers it is double; of nothing NaN. A
/// count that `ddof` takes all of is 0: infinity, or NaN if there are no distances.
///
///   auto spread = cq::var(x, cq::axis<0>, cq::ddof<1>);
CALQUE_SPREAD(var, false)
/// Standard deviation: the root of `var`, taken in double. Its derivative for constants is 0.
CALQUE_SPREAD(std, true)
/// Euclidean norm over all axes or those of the tag; neither large nor small elements lose it
/// (1e30f and 1e-30f are squared in double, doubles are scaled first). 0 of nothing; of integers it
/// is double. The derivative of the norm of zeros is 0.
///
///   auto lengths = cq::vector_norm(x, cq::axis<1>);
CALQUE_STATISTIC(vector_norm, norm_fn<Axes, Keep>)
/// log(sum(exp(x))) over all axes or those of the tag, without overflow: the largest element is
/// taken out first. -inf of nothing and of -inf alone, inf if there is one, NaN if there is one;
/// integers are computed in double.
///
///   auto z = cq::logsumexp(logits, cq::axis<1>);
CALQUE_STATISTIC(logsumexp, logsumexp_fn<Axes, Keep>)
#undef CALQUE_SPREAD
#undef CALQUE_STATISTIC

}  // namespace calque
