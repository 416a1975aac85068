// conv2d and max_pool2d: functions of images, made of windows, matmul and a reduction.
#pragma once

#include "calque/ops/windows.hpp"
#include "calque/trace/parts.hpp"

namespace calque {

/// A size along the two axes of an image, height first; one number stands for both.
///
///   cq::conv2d(x, w, 2);        // every other row and column
///   cq::conv2d(x, w, {2, 1});   // every other row
struct size2d {
  symbolic_size h, w;

  template <class E>
    requires std::convertible_to<E, symbolic_size>
  constexpr size2d(const E& both) : h(both), w(both) {}
  constexpr size2d(symbolic_size rows, symbolic_size columns) : h(rows), w(columns) {}

  [[nodiscard]] constexpr bool is_number(std::int64_t v) const {
    return !h.b && !w.b && h.literal == v && w.literal == v;
  }
};

namespace detail {

constexpr auto symbolic_shape(const size2d& s) {
  return shape<2, symbolic_extent>(std::array<symbolic_extent, 2>{s.h, s.w});
}
constexpr shape<2> numbers(const size2d& s, const char* what) {
  return shape<2>(checked_size(s.h.literal, what), checked_size(s.w.literal, what));
}

/// Sizes come as shapes: on arrays too they are part of the plan.
template <bool Padded>
struct conv2d_fn {
  template <class X, class W, class Extent>
  constexpr auto operator()(const X& x, const W& weights, const shape<2, Extent>& stride,
                            const shape<2, Extent>& padding, location at = {}) const {
    check_operands<X, W>();
    if constexpr (has_array<X, W>) {
      return run_on_arrays(conv2d_fn{}, x, weights, stride, padding);
    } else {
      constexpr dtype t = arithmetic(common_type<X, W>());
      builder& g = common_builder(x, weights);
      g.where = at.in("conv2d");
      const int image = framed<Padded>(g, build_cast(g, x.id, t), g.number(t, 0), padding);
      const int filters = g.value_of(build_cast(g, weights.id, t));
      const node w = g.at(filters);
      g.unify(g.at(image).dims[1], w.dims[1]);
      const int windows = build_windows<op::conv2d_windows>(
          g, image, filters,
          {{w.dims[2], w.dims[3]}, {dim_from(g, stride[0]), dim_from(g, stride[1])}});
      const node v = g.at(windows);
      const auto product = [&](int a, int b) { return g.arithmetic_dim(dim_kind::mul, a, b); };
      constexpr std::int8_t order[] = {0, 1, 4, 5, 2, 3};
      const std::int32_t inner = product(product(v.dims[1], v.dims[4]), v.dims[5]);
      const std::int32_t columns[] = {v.dims[0], inner, product(v.dims[2], v.dims[3])};
      const std::int32_t rows[] = {w.dims[0], inner};
      const int y = op::matmul::build(
          g, op::reshape::build(g, filters, 2, rows),
          op::reshape::build(g, op::transpose::build(g, windows, order), 3, columns));
      const std::int32_t dims[] = {v.dims[0], w.dims[0], v.dims[2], v.dims[3]};
      return expr<type_of<t>, 4>{&g, op::reshape::build(g, y, 4, dims)};
    }
  }

  /// The image with `value` around its last two axes.
  template <bool Any, class Extent>
  static constexpr int framed(builder& g, int image, int value, const shape<2, Extent>& padding) {
    if constexpr (!Any) {
      return image;
    } else {
      const node x = g.at(image);
      dim ranges[max_rank]{};
      std::int32_t dims[max_rank]{};
      for (int i = 0; i < x.rank; ++i) {
        const int k = i - (x.rank - 2);
        const int width = k < 0 ? g.literal_dim(0) : dim_from(g, padding[k]);
        ranges[i] = part_range(g, width, x.dims[i]);
        dims[i] = g.arithmetic_dim(dim_kind::add, ranges[i].b, width);
      }
      return op::insert::build(g, op::broadcast_to::build(g, value, x.rank, dims), image, ranges,
                               true);
    }
  }
};

template <bool Padded>
struct max_pool2d_fn {
  template <class X, class Extent>
  constexpr auto operator()(const X& x, const shape<2, Extent>& window,
                            const shape<2, Extent>& stride, const shape<2, Extent>& padding,
                            location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(max_pool2d_fn{}, x, window, stride, padding);
    } else {
      constexpr dtype t = operand_traits<X>::type;
      constexpr int rank = operand_traits<X>::rank;
      builder& g = common_builder(x);
      g.where = at.in("max_pool2d");
      const int least =
          g.constant_of(t, make_constant<type_of<t>>(op::pool_max::identity<type_of<t>>()));
      const int image =
          conv2d_fn<Padded>::template framed<Padded>(g, g.value_of(x.id), least, padding);
      const int windows =
          build_windows<op::pool_windows>(g, image, -1,
                                          {{dim_from(g, window[0]), dim_from(g, window[1])},
                                           {dim_from(g, stride[0]), dim_from(g, stride[1])}});
      return expr<type_of<t>, rank>{
          &g, build_reduction<op::pool_max>(g, windows, 3u << rank, false, t)};
    }
  }
};

}  // namespace detail

/// Two-dimensional convolution (as in deep learning: the filters are not flipped) of images
/// (n, channels, h, w) by filters (filters, channels, kh, kw): (n, filters, h', w') with h' =
/// (h + 2 padding - kh) / stride + 1. A filter larger than the padded image and channels that
/// differ are a `shape_error`. One product of matrices an image, over its windows laid out as
/// columns.
///
///   auto y = cq::conv2d(x, w, 2, 1);  // stride 2, one row and column of zeros around
template <array_operand X, array_operand W>
[[nodiscard]] constexpr auto conv2d(const X& x, const W& weights, const size2d& stride = 1,
                                    const size2d& padding = 0, location at = here()) {
  static_assert(detail::operand_traits<X>::rank == 4 && detail::operand_traits<W>::rank == 4,
                "cq::conv2d(x, w): x must have rank 4 (images, channels, rows, columns), w rank 4 "
                "(filters, channels, rows, columns); add axes with cq::reshape");
  static_assert(detail::has_common_type<X, W>,
                "cq::conv2d(x, w): no integer type holds both int64 and uint64; cast one");
  if constexpr (detail::has_array<X, W>) {
    const shape<2> s = detail::numbers(stride, "conv2d: a stride"),
                   p = detail::numbers(padding, "conv2d: a padding");
    return padding.is_number(0) ? detail::conv2d_fn<false>{}(x, weights, s, p, at)
                                : detail::conv2d_fn<true>{}(x, weights, s, p, at);
  } else {
    const auto s = detail::symbolic_shape(stride), p = detail::symbolic_shape(padding);
    return padding.is_number(0) ? detail::conv2d_fn<false>{}(x, weights, s, p, at)
                                : detail::conv2d_fn<true>{}(x, weights, s, p, at);
  }
}

/// The largest element of each window of the last two axes; NaN if one is. The stride is the
/// window's size unless given; padding never wins (a window of padding alone gives -inf, or the
/// least integer). The derivative goes to the first of equal elements. A window larger than the
/// padded image is a `shape_error`.
///
///   auto y = cq::max_pool2d(x, 2);  // (n, c, h, w) to (n, c, h / 2, w / 2)
template <array_operand X>
[[nodiscard]] constexpr auto max_pool2d(const X& x, const size2d& window, const size2d& stride,
                                        const size2d& padding = 0, location at = here()) {
  static_assert(detail::operand_traits<X>::rank >= 2 && detail::operand_traits<X>::rank <= 6,
                "cq::max_pool2d(x, window): x must have rank 2 to 6, rows and columns last");
  static_assert(detail::operand_traits<X>::type != dtype::boolean,
                "cq::max_pool2d(x, window): x is bool; use cq::astype first");
  if constexpr (detail::has_array<X>) {
    const shape<2> w = detail::numbers(window, "max_pool2d: a window's extent"),
                   s = detail::numbers(stride, "max_pool2d: a stride"),
                   p = detail::numbers(padding, "max_pool2d: a padding");
    return padding.is_number(0) ? detail::max_pool2d_fn<false>{}(x, w, s, p, at)
                                : detail::max_pool2d_fn<true>{}(x, w, s, p, at);
  } else {
    const auto w = detail::symbolic_shape(window), s = detail::symbolic_shape(stride),
               p = detail::symbolic_shape(padding);
    return padding.is_number(0) ? detail::max_pool2d_fn<false>{}(x, w, s, p, at)
                                : detail::max_pool2d_fn<true>{}(x, w, s, p, at);
  }
}
template <array_operand X>
[[nodiscard]] constexpr auto max_pool2d(const X& x, const size2d& window, location at = here()) {
  return max_pool2d(x, window, window, 0, at);
}

}  // namespace calque
