// Functions of rows composed of others: softmax, log_softmax, cross_entropy, layer_norm.
#pragma once

#include "calque/ops/normalized.hpp"
#include "calque/trace/statistics.hpp"

namespace calque {

namespace detail {

/// x - max(x), floating: integers are cast first, since their difference would wrap.
template <int Axis, class X>
constexpr auto shifted(const X& x, location at) {
  const auto y = astype_fn<type_of<floating(operand_traits<X>::type)>>{}(x, at);
  constexpr unsigned mask = axis_mask<operand_traits<X>::rank>(axis_t<Axis>{});
  return sub_fn{}(y, stop_gradient(reduced<op::largest, mask, true>(y), at), at);
}

template <class X>
constexpr X exp_of_shifted(const X& x, location at) {
  return unary_fn<op::exp_nonpositive, true>{}(x, at);
}

template <int Axis>
struct log_softmax_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    if constexpr (has_array<X>) {
      return run_on_arrays(log_softmax_fn{}, x);
    } else {
      at = at.in("log_softmax");
      const auto y = shifted<Axis>(x, at);
      return sub_fn{}(
          y, calque::log(calque::sum(exp_of_shifted(y, at), axis<Axis>, keepdims, at), at), at);
    }
  }
};
template <int Axis>
struct softmax_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    if constexpr (has_array<X>) {
      return run_on_arrays(softmax_fn{}, x);
    } else {
      at = at.in("softmax");
      const auto e = exp_of_shifted(shifted<Axis>(x, at), at);
      // one division a row; the sum is 1 at least, so its reciprocal neither overflows nor is 0
      return mul_fn{}(e, div_fn{}(1, calque::sum(e, axis<Axis>, keepdims, at), at), at);
    }
  }
};

/// Labels with the extents of the rows of `y`: one label for several rows would be none of theirs.
template <class L, class T, int Rank>
constexpr auto labels_of_rows(const L& labels, const expr<T, Rank>& y) {
  builder& g = *y.b;
  const node rows = g.at(y.id);
  return expr<type_of<operand_traits<L>::type>, Rank - 1>{
      &g, op::reshape::unchanged(g, labels.id, rows.dims)};
}

/// For each row the logarithm of its exponentials' sum, less the label's logit, both shifted by the
/// row's largest. A comparison with all classes picks the label's: no row needs an index.
template <bool Mean>
struct cross_entropy_fn {
  template <class X, class L>
  constexpr auto operator()(const X& logits, const L& labels, location at = {}) const {
    constexpr int rank = operand_traits<X>::rank;
    static_assert(rank >= 1 && operand_traits<L>::rank == rank - 1,
                  "cq::cross_entropy(logits, labels): logits need an axis more than labels, the "
                  "last one: a logit for each class");
    static_assert(is_integer(operand_traits<L>::type),
                  "cq::cross_entropy(logits, labels): labels must be integers, the classes' "
                  "numbers; cast them with cq::astype<int>(labels)");
    check_operands<X, L>();
    if constexpr (has_array<X, L>) {
      return run_on_arrays(cross_entropy_fn{}, logits, labels);
    } else {
      constexpr unsigned mask = 1u << (rank - 1);
      using T = type_of<floating(operand_traits<X>::type)>;
      common_builder(logits, labels).where = at = at.in("cross_entropy");
      const auto y = shifted<rank - 1>(logits, at);
      const auto of_rows = labels_of_rows(labels, y);
      // a label beyond 2^32 is none of the classes, so that what it hits does not matter
      constexpr bool wraps = sizeof(T) == sizeof(float);
      const auto hit = one_hot_fn<bool, wraps>{}(of_rows, calque::shape{y.extent(rank - 1)}, at);
      const auto picked = reduced<op::sum, mask, true>(where_fn{}(hit, y, T{0}, at));
      const auto total = reduced<op::sum, mask, true>(exp_of_shifted(y, at));
      const auto each = finished<T, mask, false>(sub_fn{}(log_fn{}(total, at), picked));
      const auto label = astype_fn<std::int64_t>{}(of_rows, at);
      const auto known = where_fn{}(greater_equal_fn{}(label, 0, at),
                                    less_fn{}(label, y.extent(rank - 1), at), false, at);
      const auto rows = where_fn{}(known, each, std::numeric_limits<T>::quiet_NaN(), at);
      if constexpr (Mean) return calque::mean(rows, at);
      else return rows;
    }
  }
};

/// x with `y` by `Op`, in x's extents: `y` alone is stretched.
template <class Op, class T, int Rank, class Y>
constexpr auto beside(const expr<T, Rank>& x, const Y& y) {
  builder& g = *x.b;
  const std::int32_t ids[] = {x.id, node_of<T>(g, y)};
  return expr<T, Rank>{&g, g.map(op_info_of<Op>, dtype_of<T>, ids, 2, 0)};
}

/// Distances from the mean of a row over their root mean square, at the speed of x's own type and
/// with the range and nearly the accuracy of a wider one. All is measured from a first mean, so
/// that what the second sum finds is small, and rows far from zero lose nothing; rows of very large
/// or small numbers are scaled by a power of two. The derivative flows through the second sums.
template <class Axes>
struct layer_norm_fn {
  template <class X, class G, class B, class E>
  constexpr auto operator()(const X& x, const G& gamma, const B& beta, const E& eps,
                            location at = {}) const {
    static_assert(is_floating(operand_traits<X>::type),
                  "cq::layer_norm(x, gamma, beta): x must be floating; cast it with "
                  "cq::astype<float>(x)");
    static_assert(operand_traits<G>::rank <= operand_traits<X>::rank &&
                      operand_traits<B>::rank <= operand_traits<X>::rank,
                  "cq::layer_norm(x, gamma, beta): gamma and beta must have no more axes than x: "
                  "they broadcast to it, it does not to them");
    check_operands<X, G, B, E>();
    if constexpr (has_array<X, G, B, E>) {
      return run_on_arrays(layer_norm_fn{}, x, gamma, beta, eps);
    } else {
      constexpr unsigned mask = mask_of<Axes, X>;
      using T = type_of<operand_traits<X>::type>;
      constexpr T few = static_cast<T>(0x1p-24);  // of each: 2^24 of the largest do not overflow
      common_builder(x, gamma, beta, eps).where = at = at.in("layer_norm");
      const auto n = astype_fn<T>{}(count_over<mask>(x, at), at);
      const auto first = [&](const auto& v) {  // a first mean
        const auto part = reduced<op::sum, mask, true>(mul_fn{}(v, few, at));
        return div_fn{}(part, mul_fn{}(n, few, at), at);
      };
      const auto size = first(abs_fn{}(x, at));
      const auto unit = stop_gradient(unary_fn<op::to_unit, true>{}(size, at), at);
      const auto near_mean = stop_gradient(mul_fn{}(first(x), unit, at), at);
      const auto away = sub_fn{}(mul_fn{}(x, unit, at), near_mean, at);
      const auto mean = div_fn{}(reduced<op::sum, mask, true>(away), n, at);
      const auto squares = reduced<op::sum, mask, true>(mul_fn{}(away, away, at));
      const auto spread =
          astype_fn<double>{}(floating_fn<op::spread>{}(div_fn{}(squares, n, at), mean, at), at);
      const auto wide_unit = astype_fn<double>{}(unit, at);
      const auto least = mul_fn{}(mul_fn{}(wide_unit, wide_unit, at), eps, at);
      const auto inverse_root = unary_fn<op::rsqrt, true>{}(add_fn{}(spread, least, at), at);
      // of equal numbers the distances are rounding
      const auto scale =
          astype_fn<T>{}(where_fn{}(equal_fn{}(spread, 0.0, at), 0.0, inverse_root, at), at);
      const auto plain = mul_fn{}(sub_fn{}(away, mean, at), scale, at);
      if constexpr (weak_operand<E> && !symbolic<E>) {
        const auto inverse = astype_fn<T>{}(mul_fn{}(inverse_root, wide_unit, at), at);
        builder& g = *x.b;
        const expr<T, operand_traits<X>::rank> normal{
            &g, g.map_of<op::normalized>(dtype_of<T>, plain.id, g.value_of(x.id), inverse.id)};
        return beside<op::add>(beside<op::mul>(normal, gamma), beta);
      } else {  // a derivative may be asked for eps
        return beside<op::add>(beside<op::mul>(plain, gamma), beta);
      }
    }
  }
};

}  // namespace detail

struct no_reduction_t {
  explicit no_reduction_t() = default;
};
/// Keeps a loss for each row: `cq::cross_entropy(logits, labels, cq::no_reduction)`.
inline constexpr no_reduction_t no_reduction{};

/// The mean over rows of -log(softmax(logits)) at the rows' labels, the classes lying along the
/// last axis; stable for logits of any size and any common offset. A label outside [0, classes)
/// makes its row's loss NaN, and so the mean. With `cq::no_reduction` a loss for each row. Labels
/// whose extents are not those of the rows are a `shape_error`: none stands for several rows.
///
///   auto loss = cq::cross_entropy(cq::matmul(x, w) + b, labels);
template <array_operand X, array_operand L>
[[nodiscard]] constexpr auto cross_entropy(const X& logits, const L& labels, location at = here()) {
  return detail::cross_entropy_fn<true>{}(logits, labels, at);
}
template <array_operand X, array_operand L>
[[nodiscard]] constexpr auto cross_entropy(const X& logits, const L& labels, no_reduction_t,
                                           location at = here()) {
  return detail::cross_entropy_fn<false>{}(logits, labels, at);
}

/// (x - mean) / sqrt(var + eps) * gamma + beta, with mean and variance over the axes of the tag
/// (the last one); `gamma` and `beta` broadcast to x, which is not stretched to them. Rows of any
/// magnitude, and far from zero.
///
///   auto y = cq::layer_norm(x, gamma, beta);
template <array_operand X, operand G, operand B, int... A, weak_operand E = double>
[[nodiscard]] constexpr auto layer_norm(const X& x, const G& gamma, const B& beta, axis_t<A...>,
                                        const E& eps = 1e-5, location at = here()) {
  CALQUE_CHECK_AXES("cq::layer_norm(x, gamma, beta, cq::axis<...>)", X, axis_t<A...>);
  return detail::layer_norm_fn<axis_t<A...>>{}(x, gamma, beta, eps, at);
}
template <array_operand X, operand G, operand B>
[[nodiscard]] constexpr auto layer_norm(const X& x, const G& gamma, const B& beta,
                                        location at = here()) {
  static_assert(detail::operand_traits<X>::rank > 0,
                "cq::layer_norm(x, gamma, beta): x must have one axis or more");
  return detail::layer_norm_fn<axis_t<-1>>{}(x, gamma, beta, 1e-5, at);
}

/// exp(x) over its sum along one axis, of the shifted x - max(x), so that nothing overflows.
/// Integers are computed in double.
template <array_operand X, int A>
[[nodiscard]] constexpr auto softmax(const X& x, axis_t<A>, location at = here()) {
  CALQUE_CHECK_AXES("cq::softmax(x, cq::axis<...>)", X, axis_t<A>);
  return detail::softmax_fn<A>{}(x, at);
}
/// log(softmax(x)) along one axis, without forming the softmax; integers in double.
template <array_operand X, int A>
[[nodiscard]] constexpr auto log_softmax(const X& x, axis_t<A>, location at = here()) {
  CALQUE_CHECK_AXES("cq::log_softmax(x, cq::axis<...>)", X, axis_t<A>);
  return detail::log_softmax_fn<A>{}(x, at);
}

}  // namespace calque
