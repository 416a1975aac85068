// Array functions that rearrange extents, on symbols: transpose reshape broadcast_to; constants
// made in a body: zeros ones full arange; matmul; one_hot.
#pragma once

#include "calque/ops/extents.hpp"
#include "calque/ops/matmul.hpp"
#include "calque/trace/running.hpp"

namespace calque {
namespace detail {

template <class Extent>
constexpr int dim_from(builder& g, const Extent& e) {
  if constexpr (std::is_same_v<Extent, symbolic_extent>)
    return e.b ? dim_of_node(g, e.id) : g.literal_dim(e.literal);
  else return g.literal_dim(e);
}
template <int Rank, class Extent>
constexpr std::array<std::int32_t, max_rank> dims_from(builder& g, const shape<Rank, Extent>& s) {
  std::array<std::int32_t, max_rank> dims{};
  for (int i = 0; i < Rank; ++i) dims[static_cast<std::size_t>(i)] = dim_from(g, s[i]);
  return dims;
}

/// A number that a function takes as a size; `what` names both.
constexpr std::int64_t checked_size(std::int64_t size, const char* what) {
  if (size < 0)
    throw shape_error(std::string(what) + " is " + std::to_string(size) +
                      "; sizes count elements and start at 0");
  return size;
}

template <std::integral N>
constexpr N checked_depth(N depth) {
  if constexpr (std::is_signed_v<N>) (void)checked_size(depth, "one_hot: the number of classes");
  return depth;
}

template <class Op, class X, int Rank, class Extent>
constexpr auto shaped(const X& x, const shape<Rank, Extent>& s, location at) {
  check_operands<X>();
  builder& g = common_builder(x);
  g.where = at;
  const auto dims = dims_from(g, s);
  return expr<type_of<operand_traits<X>::type>, Rank>{&g, Op::build(g, x.id, Rank, dims.data())};
}

/// A value of `T` everywhere.
template <class T, int Rank, class Extent, class V>
constexpr expr<T, Rank> filled(const shape<Rank, Extent>& s, const V& v, builder& g, location at) {
  g.where = at;
  const auto dims = dims_from(g, s);
  return {&g, op::broadcast_to::build(g, node_of<T>(g, v), Rank, dims.data())};
}

template <bool Dot>
struct product_fn {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b, location at = {}) const {
    constexpr int p = operand_traits<A>::rank, q = operand_traits<B>::rank;
    static_assert(p >= 1 && q >= 1,
                  "cq::matmul(a, b): an operand has rank 0; multiply by a number with a * b");
    check_operands<A, B>();
    if constexpr (has_array<A, B>) {
      return run_on_arrays(product_fn{}, a, b);
    } else {
      static_assert(has_common_type<A, B>,
                    "cq::matmul(a, b): no integer type holds both int64 and uint64; cast one");
      constexpr dtype t = arithmetic(common_type<A, B>());
      builder& g = common_builder(a, b);
      g.where = at.in(Dot ? "dot" : "matmul");
      const int x = build_cast(g, a.id, t), y = build_cast(g, b.id, t);
      constexpr int rank = p == 1 && q == 1 ? 0 : p == 1 ? q - 1 : q == 1 ? p - 1 : p > q ? p : q;
      if constexpr (p == 1 && q == 1) {  // a sum of products: one reduction
        g.unify(g.at(x).dims[0], g.at(y).dims[0]);
        return expr<type_of<t>, 0>{
            &g, build_reduction<op::sum>(g, g.map_of<op::mul>(t, x, y), 1u, false, t)};
      } else {
        int product =
            op::matmul::build(g, p == 1 ? with_axis(g, x, 0) : x, q == 1 ? with_axis(g, y, 1) : y);
        if constexpr (p == 1 || q == 1) {
          const node n = g.at(product);
          std::int32_t dims[max_rank]{};
          for (int i = 0; i < n.rank - 1; ++i)
            dims[i] = n.dims[p == 1 && i == n.rank - 2 ? i + 1 : i];
          product = op::reshape::build(g, product, n.rank - 1, dims);
        }
        return expr<type_of<t>, rank>{&g, product};
      }
    }
  }

 private:
  /// A vector as a matrix of one row (`at` 0) or one column (1).
  static constexpr int with_axis(builder& g, int id, int at) {
    std::int32_t dims[2];
    dims[at] = g.literal_dim(1);
    dims[1 - at] = g.at(g.value_of(id)).dims[0];
    return op::reshape::build(g, id, 2, dims);
  }
};
using matmul_fn = product_fn<false>;
using dot_fn = product_fn<true>;

/// x with new axes of extent 1 after its own, times y.
struct outer_fn {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b, location at = {}) const {
    check_operands<A, B>();
    if constexpr (has_array<A, B>) {
      return run_on_arrays(outer_fn{}, a, b);
    } else {
      builder& g = common_builder(a, b);
      g.where = at = at.in("outer");
      const std::int32_t dims[] = {g.at(g.value_of(a.id)).dims[0], g.literal_dim(1)};
      using column = expr<type_of<operand_traits<A>::type>, 2>;
      return mul_fn{}(column{&g, op::reshape::build(g, a.id, 2, dims)}, b, at);
    }
  }
};

template <class T, bool Wraps = false>
struct one_hot_fn {
  template <class X, class Extent>
  constexpr auto operator()(const X& labels, const shape<1, Extent>& depth,
                            location at = {}) const {
    static_assert(is_integer(operand_traits<X>::type),
                  "cq::one_hot(labels, depth): labels must be integers; cast them with "
                  "cq::astype<int>(labels)");
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(one_hot_fn{}, labels, depth);
    } else {
      constexpr int rank = operand_traits<X>::rank;
      builder& g = common_builder(labels);
      g.where = at.in("one_hot");
      std::int32_t dims[max_rank]{};
      for (int i = 0; i < rank; ++i) dims[i] = g.at(g.value_of(labels.id)).dims[i];
      dims[rank] = g.literal_dim(1);
      const std::int32_t row[] = {dim_from(g, depth[0])};
      // Classes are counted in a type that holds them all; 32 bits keep lanes wide. `Wraps`: labels
      // and classes may be taken modulo 2^32.
      const dim& n = g.g.dims[g.canonical(row[0])];
      const bool few = Wraps || (n.kind == dim_kind::literal && n.value <= (std::int64_t{1} << 31));
      constexpr dtype t = operand_traits<X>::type;
      const dtype counts = (size_of(t) == 8 && !Wraps) || (few && size_of(t) == 4) ? t
                           : few                                                   ? dtype::int32
                                                                                   : dtype::int64;
      const int column = op::reshape::build(g, build_cast(g, labels.id, counts), rank + 1, dims);
      const int classes = g.iota(counts, 1, row, 0);
      const int hit = g.map_of<op::equal>(dtype::boolean, column, classes);
      return expr<T, rank + 1>{&g, build_cast(g, hit, dtype_of<T>)};
    }
  }
};

struct sum_to_fn {
  template <class X, int Rank, class Extent>
  constexpr auto operator()(const X& x, const shape<Rank, Extent>& s, location at = {}) const {
    static_assert(Rank <= operand_traits<X>::rank,
                  "cq::sum_to(x, shape): the shape has more axes than x; use cq::broadcast_to");
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(sum_to_fn{}, x, s);
    } else {
      constexpr dtype t = sum_type(operand_traits<X>::type);
      builder& g = common_builder(x);
      g.where = at = at.in("sum_to");
      return shaped<op::sum_to>(
          expr<type_of<t>, operand_traits<X>::rank>{&g, build_cast(g, x.id, t)}, s, at);
    }
  }
};

template <int... P>
struct transpose_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    constexpr int rank = operand_traits<X>::rank;
    std::int8_t perm[max_rank]{};
    if constexpr (sizeof...(P) == 0) {
      for (int i = 0; i < rank; ++i) perm[i] = static_cast<std::int8_t>(rank - 1 - i);
    } else {
      static_assert(sizeof...(P) == rank && (axis_exists(P, rank) && ...) &&
                        ((1u << ((P + rank) % rank)) | ...) == (1u << rank) - 1u,
                    "cq::transpose<...>(x): name each axis of x once; axes count from 0 to rank - "
                    "1, or back from -1 to -rank");
      int i = 0;
      ((perm[i++] = static_cast<std::int8_t>((P + rank) % rank)), ...);
    }
    builder& g = common_builder(x);
    g.where = at;
    return expr<type_of<operand_traits<X>::type>, rank>{&g, op::transpose::build(g, x.id, perm)};
  }
};

}  // namespace detail

/// The axes in reverse order, or in the order given: `cq::transpose<1, 0, 2>(x)`; negative ones
/// count from the end. Moves no data.
template <int... P, array_symbol X>
[[nodiscard]] constexpr auto transpose(const X& x, location at = here()) {
  return detail::transpose_fn<P...>{}(x, at);
}
/// The same elements in row-major order under other extents; as many elements, else `shape_error`.
///
///   auto rows = cq::reshape(x, cq::shape{x.extent(0), 784});
template <array_symbol X, int Rank, class Extent>
[[nodiscard]] constexpr auto reshape(const X& x, const shape<Rank, Extent>& s,
                                     location at = here()) {
  return detail::shaped<op::reshape>(x, s, at);
}
/// Repeats along new and size-1 axes, by NumPy's rule. Moves no data.
template <array_symbol X, int Rank, class Extent>
[[nodiscard]] constexpr auto broadcast_to(const X& x, const shape<Rank, Extent>& s,
                                          location at = here()) {
  static_assert(Rank >= detail::operand_traits<X>::rank,
                "cq::broadcast_to(x, shape): the shape has fewer axes than x; reduce x first");
  return detail::shaped<op::broadcast_to>(x, s, at);
}
/// Sums away what broadcasting `shape` to x's extents would add: the inverse of `broadcast_to` in
/// gradients. The result's type is that of `cq::sum`: 64 bits for bool and narrow integers.
template <array_operand X, int Rank, class Extent>
[[nodiscard]] constexpr auto sum_to(const X& x, const shape<Rank, Extent>& s,
                                    location at = here()) {
  return detail::sum_to_fn{}(x, s, at);
}

/// Zeros of type T, inside a traced function; any symbol of the trace comes last.
template <element T, int Rank, class Extent, symbolic X>
[[nodiscard]] constexpr auto zeros(const shape<Rank, Extent>& s, const X& x, location at = here()) {
  return detail::filled<T>(s, T{}, detail::common_builder(x), at.in("zeros"));
}
/// Ones of type T, inside a traced function; any symbol of the trace comes last.
template <element T, int Rank, class Extent, symbolic X>
[[nodiscard]] constexpr auto ones(const shape<Rank, Extent>& s, const X& x, location at = here()) {
  return detail::filled<T>(s, T{1}, detail::common_builder(x), at.in("ones"));
}
/// `v` everywhere, inside a traced function; any symbol of the trace comes last.
template <int Rank, class Extent, weak_operand V, symbolic X>
[[nodiscard]] constexpr auto full(const shape<Rank, Extent>& s, const V& v, const X& x,
                                  location at = here()) {
  return detail::filled<type_of<detail::operand_traits<V>::type>>(s, v, detail::common_builder(x),
                                                                  at.in("full"));
}
/// 0, 1, …, n - 1 of type T, inside a traced function; any symbol of the trace comes last.
template <element T, class N, symbolic X>
  requires(std::integral<N> || symbolic<N>)
[[nodiscard]] constexpr expr<T, 1> arange(const N& n, const X& x, location at = here()) {
  builder& g = detail::common_builder(x);
  g.where = at.in("arange");
  const std::int32_t dims[] = {detail::dim_from(g, symbolic_extent(n))};
  return {&g, g.iota(dtype_of<T>, 1, dims, 0)};
}
/// Zeros of x's type and extents.
template <array_symbol X>
[[nodiscard]] constexpr auto zeros_like(const X& x, location at = here()) {
  detail::check_operands<X>();
  using T = type_of<detail::operand_traits<X>::type>;
  return detail::filled<T>(x.shape(at), T{}, detail::common_builder(x), at);
}

/// Ones of x's type and extents.
template <array_symbol X>
[[nodiscard]] constexpr auto ones_like(const X& x, location at = here()) {
  detail::check_operands<X>();
  using T = type_of<detail::operand_traits<X>::type>;
  return detail::filled<T>(x.shape(at), T{1}, detail::common_builder(x), at);
}

/// Product of two matrices, (m, k) by (k, n), or of batches of them, (…, m, k) by (…, k, n), whose
/// leading axes broadcast; inner extents must agree, else `shape_error`. As in NumPy a vector is a
/// row on the left and a column on the right, and leaves no axis. Integers wrap. Transposed and
/// sliced operands are read in place.
///
///   auto logits = cq::matmul(x, w) + b;
template <operand A, operand B>
  requires(tensor<A> || tensor<B>)
[[nodiscard]] constexpr auto matmul(const A& a, const B& b, location at = here()) {
  return detail::matmul_fn{}(a, b, at);
}

/// Sum of the products of two vectors' elements: rank 0. Lengths must agree, else `shape_error`.
///
///   auto length = cq::sqrt(cq::dot(x, x));
template <array_operand A, array_operand B>
[[nodiscard]] constexpr auto dot(const A& a, const B& b, location at = here()) {
  static_assert(detail::operand_traits<A>::rank == 1 && detail::operand_traits<B>::rank == 1,
                "cq::dot(a, b): both operands must have rank 1; use cq::matmul for more axes");
  CALQUE_CHECK_TYPES("cq::dot(a, b)", A, B);
  return detail::dot_fn{}(a, b, at);
}
/// Products of each element of one vector with each of another: (m) and (n) give (m, n).
///
///   auto table = cq::outer(x, y);
template <array_operand A, array_operand B>
[[nodiscard]] constexpr auto outer(const A& a, const B& b, location at = here()) {
  static_assert(detail::operand_traits<A>::rank == 1 && detail::operand_traits<B>::rank == 1,
                "cq::outer(a, b): both operands must have rank 1; flatten them with cq::reshape");
  CALQUE_CHECK_TYPES("cq::outer(a, b)", A, B);
  return detail::outer_fn{}(a, b, at);
}

/// 1 at each label's class and 0 elsewhere, along a new last axis of `depth` classes; a label
/// outside [0, depth) gives zeros.
///
///   auto target = cq::one_hot<float>(labels, 10);
template <element T, array_operand X, class N>
  requires(std::integral<N> || symbolic<N>)
[[nodiscard]] constexpr auto one_hot(const X& labels, const N& depth, location at = here()) {
  if constexpr (std::integral<N>)
    return detail::one_hot_fn<T>{}(labels, shape{detail::checked_depth(depth)}, at);
  else return detail::one_hot_fn<T>{}(labels, shape{depth}, at);
}

}  // namespace calque
