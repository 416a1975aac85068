// Array functions on parts: slice, flip, concatenate, stack, pad.
//
// `slice` and `flip` of a symbol are nodes that move no data: strides and offset are read in place
// by what uses them. Those of arrays are views (array/views.hpp).
#pragma once

#include <array>
#include <tuple>

#include "calque/ops/parts.hpp"
#include "calque/ops/take.hpp"
#include "calque/trace/shaping.hpp"

namespace calque {

/// How far `pad` extends one axis: elements before it and after it.
struct pad_width {
  symbolic_size before, after;
};

namespace detail {

/// The dim of a bound: literals far out are brought to where they clamp the same.
constexpr int bound_dim(builder& g, std::int64_t number, std::int32_t symbol) {
  constexpr std::int64_t far = std::int64_t{1} << 62;
  if (symbol >= 0) return dim_of_node(g, symbol);
  return g.literal_dim(number == range::open ? number : number < -far ? -far : number);
}
template <class R>
constexpr dim range_dim(builder& g, const R& r) {
  static_assert(std::same_as<R, range>,
                "cq::slice(x, ...): each argument after x must be a cq::range, as in "
                "cq::slice(x, cq::range{0, 2}, cq::range{}); cq::range{i, i + 1} keeps one index");
  const int lo = bound_dim(g, r.lo, r.symbolic_lo), hi = bound_dim(g, r.hi, r.symbolic_hi);
  return {dim_kind::range, lo, hi, r.step};
}

template <class A, class... B>
constexpr dtype joined_type() {
  if constexpr (sizeof...(B) == 0) {
    return operand_traits<A>::type;
  } else {
    dtype t = operand_traits<A>::type;
    for (dtype u : {operand_traits<B>::type...}) t = t == dtype::none ? dtype::none : promote(t, u);
    return t;
  }
}
template <class A, class... B>
inline constexpr bool one_rank = ((operand_traits<A>::rank == operand_traits<B>::rank) && ...);

template <int Axis>
struct concatenate_fn {
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    return build({}, x...);
  }
  template <class A, class... B>
  static constexpr auto build(location at, const A& a, const B&... b) {
    check_operands<A, B...>();
    constexpr int rank = operand_traits<A>::rank;
    static_assert(
        one_rank<A, B...>,
        "cq::concatenate<axis>(x, y, ...): the operands must have as many axes as each other; "
        "reshape or broadcast them");
    static_assert(
        axis_exists(Axis, rank),
        "cq::concatenate<axis>(x, y, ...): no such axis; axes count from 0 to rank - 1 of the "
        "result, or back from -1 to -rank");
    static_assert(
        joined_type<A, B...>() != dtype::none,
        "cq::concatenate<axis>(x, y, ...): no type holds the elements of all operands; cast "
        "them with cq::astype<...>(x)");
    if constexpr (has_array<A, B...>) {
      return run_on_arrays(concatenate_fn{}, a, b...);
    } else {
      constexpr dtype t = joined_type<A, B...>();
      builder& g = common_builder(a, b...);
      g.where = at;
      const std::int32_t ids[] = {build_cast(g, a.id, t), build_cast(g, b.id, t)...};
      return expr<type_of<t>, rank>{
          &g, op::concatenate::build(g, ids, 1 + sizeof...(B), Axis < 0 ? Axis + rank : Axis)};
    }
  }
};

template <int Axis>
struct stack_fn {
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    return build({}, x...);
  }
  template <class A, class... B>
  static constexpr auto build(location at, const A& a, const B&... b) {
    check_operands<A, B...>();
    constexpr int rank = operand_traits<A>::rank + 1, axis = Axis < 0 ? Axis + rank : Axis;
    static_assert(rank <= max_rank,
                  "cq::stack<axis>(x, y, ...): the operands must have rank 0 to 7");
    static_assert(one_rank<A, B...>,
                  "cq::stack<axis>(x, y, ...): the operands must have as many axes as each other; "
                  "reshape or broadcast them");
    static_assert(axis_exists(Axis, rank),
                  "cq::stack<axis>(x, y, ...): no such axis; axes count from 0 to rank - 1 of the "
                  "result, or back from -1 to -rank");
    static_assert(joined_type<A, B...>() != dtype::none,
                  "cq::stack<axis>(x, y, ...): no type holds the elements of all operands; cast "
                  "them with cq::astype<...>(x)");
    if constexpr (has_array<A, B...>) {
      return run_on_arrays(stack_fn{}, a, b...);
    } else {
      constexpr dtype t = joined_type<A, B...>();
      builder& g = common_builder(a, b...);
      g.where = at.in("stack");
      const auto with_axis = [&](int id) {
        const node x = g.at(g.value_of(id));
        std::int32_t dims[max_rank]{};
        for (int i = 0; i < rank; ++i)
          dims[i] = i == axis ? g.literal_dim(1) : x.dims[i < axis ? i : i - 1];
        return op::reshape::build(g, build_cast(g, id, t), rank, dims);
      };
      const std::int32_t ids[] = {with_axis(a.id), with_axis(b.id)...};
      return expr<type_of<t>, rank>{&g, op::concatenate::build(g, ids, 1 + sizeof...(B), axis)};
    }
  }
};

// Refuses indices and axes by the name of the function that was called.
#define CALQUE_CHECK_INDICES(CALL, I)                                                 \
  static_assert(weak_operand<I> || detail::operand_traits<I>::type == dtype::int32 || \
                    detail::operand_traits<I>::type == dtype::int64,                  \
                CALL                                                                  \
                ": indices must be int32 or int64; cast them with "                   \
                "cq::astype<std::int64_t>(indices)");                                 \
  static_assert(!weak_operand<I> || is_integer(detail::operand_traits<I>::type),      \
                CALL ": an index must be an integer")
template <class I>
inline constexpr bool are_indices = weak_operand<I> ? is_integer(operand_traits<I>::type)
                                                    : operand_traits<I>::type == dtype::int32 ||
                                                          operand_traits<I>::type == dtype::int64;
/// Indices as a node: numbers are counted in 64 bits.
template <class I>
constexpr int index_node(builder& g, const I& i) {
  if constexpr (weak_operand<I>) return node_of<std::int64_t>(g, i);
  else return i.id;
}
template <int Axis>
struct take_fn {
  template <class X, class I>
  constexpr auto operator()(const X& x, const I& indices, location at = {}) const {
    check_operands<X, I>();
    if constexpr (!are_indices<I>) {
      return x;
    } else if constexpr (has_array<X, I>) {
      return run_on_arrays(take_fn{}, x, indices);
    } else {
      constexpr int axis = axis_number<operand_traits<X>::rank>(axis_t<Axis>{});
      constexpr int rank = operand_traits<X>::rank - 1 + operand_traits<I>::rank;
      static_assert(rank <= max_rank,
                    "cq::take(x, indices, cq::axis<...>): the result, with the axes of indices in "
                    "place of one of x, must have rank 0 to 8");
      builder& g = common_builder(x, indices);
      g.where = at;
      return expr<type_of<operand_traits<X>::type>, rank>{
          &g, op::take::build(g, x.id, index_node(g, indices), axis)};
    }
  }
};
template <int Axis>
struct scatter_add_fn {
  template <class X, class I, class U>
  constexpr auto operator()(const X& x, const I& indices, const U& updates,
                            location at = {}) const {
    check_operands<X, I, U>();
    if constexpr (!are_indices<I>) {
      return x;
    } else if constexpr (has_array<X, I, U>) {
      return run_on_arrays(scatter_add_fn{}, x, indices, updates);
    } else {
      constexpr int axis = axis_number<operand_traits<X>::rank>(axis_t<Axis>{});
      constexpr int rank = operand_traits<X>::rank;
      constexpr int part = rank - 1 + operand_traits<I>::rank;
      static_assert(part <= max_rank && operand_traits<U>::rank <= part,
                    "cq::scatter_add(x, indices, updates, cq::axis<...>): updates have at most the "
                    "axes of cq::take(x, indices, cq::axis<...>), at most 8");
      static_assert(has_common_type<X, U>,
                    "cq::scatter_add(x, indices, updates, axis): no integer type holds both int64 "
                    "and uint64; cast one");
      constexpr dtype t = arithmetic(common_type<X, U>());
      builder& g = common_builder(x, indices, updates);
      g.where = at.in("scatter_add");
      const int to = build_cast(g, x.id, t);
      const int i = g.value_of(index_node(g, indices));
      int from = node_of<type_of<t>>(g, updates);
      std::int32_t dims[max_rank]{};
      (void)taken_extents(g.at(to), g.at(i), axis, dims);
      if constexpr (operand_traits<U>::rank < part)
        from = op::broadcast_to::build(g, from, part, dims);
      return expr<type_of<t>, rank>{&g, op::scatter_add::build(g, to, i, from, axis)};
    }
  }
};

/// The widths of `pad` come as extents: on arrays too they are part of the plan.
struct pad_fn {
  template <class X, class Extent, int Rank, class V>
  constexpr auto operator()(const X& x, const shape<Rank, Extent>& before,
                            const shape<Rank, Extent>& after, const V& value,
                            location at = {}) const {
    check_operands<X>();
    static_assert(kind_of(operand_traits<V>::type) <= kind_of(operand_traits<X>::type),
                  "cq::pad(x, widths, value): value has a higher kind than x (bool < integer < "
                  "floating) and would be truncated; cast x first with cq::astype<...>(x)");
    if constexpr (has_array<X>) {
      return run_on_arrays(pad_fn{}, x, before, after, value);
    } else {
      constexpr int rank = operand_traits<X>::rank;
      using T = type_of<operand_traits<X>::type>;
      builder& g = common_builder(x);
      g.where = at.in("pad");
      const int id = g.value_of(x.id);
      const node from = g.at(id);
      dim ranges[max_rank]{};
      std::int32_t dims[max_rank]{};
      bool same = true;
      for (int i = 0; i < rank; ++i) {
        const int lead = dim_from(g, before[i]), trail = dim_from(g, after[i]);
        for (const int width : {lead, trail})
          if (const dim& d = g.g.dims[g.canonical(width)];
              d.kind == dim_kind::literal && d.value < 0)
            g.fail(trace_fault::pad);
        same = same && g.is_literal(lead, 0) && g.is_literal(trail, 0);
        ranges[i] = part_range(g, lead, from.dims[i]);
        dims[i] = g.arithmetic_dim(dim_kind::add, ranges[i].b, trail);
      }
      if (same) return expr<T, rank>{&g, id};
      const int base = op::broadcast_to::build(g, node_of<T>(g, value), rank, dims);
      return expr<T, rank>{&g, op::insert::build(g, base, id, ranges, true)};
    }
  }
};

template <int Rank, int... A>
constexpr std::array<range, static_cast<std::size_t>(Rank)> flipped_ranges(axis_t<A...>) {
  static_assert(
      (axis_exists(A, Rank) && ...),
      "cq::flip(x, cq::axis<...>): cq::axis<...> names an axis that x does not have; axes "
      "count from 0 to rank - 1, or back from -1 to -rank");
  // each is built whole: g++ 12 loses the members that have defaults of an array's elements where a
  // constant expression changes only others
  const auto of = [](int axis) {
    const bool back = sizeof...(A) == 0 || (((A < 0 ? A + Rank : A) == axis) || ...);
    return range(range::open, range::open, back ? -1 : 1);
  };
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return std::array<range, sizeof...(I)>{of(I)...};
  }(std::make_integer_sequence<int, Rank>{});
}

}  // namespace detail

/// The elements that one range for each axis keeps; missing trailing ranges keep everything. Bounds
/// past an axis are clamped to it. Moves no data: what uses the slice reads x in place.
///
///   auto half = cq::slice(x, cq::range{0, x.extent(0) / 2});
template <array_symbol X, class... Range>
[[nodiscard]] constexpr auto slice(const X& x, const Range&... ranges) {
  detail::check_operands<X>();
  constexpr int rank = detail::operand_traits<X>::rank;
  static_assert(sizeof...(Range) <= rank,
                "cq::slice(x, ...): more ranges than x has axes; give one range for each axis, or "
                "fewer");
  builder& g = detail::common_builder(x);
  g.where = {};
  const dim all[] = {detail::range_dim(g, ranges)..., dim{}};
  dim each[max_rank]{};
  for (int i = 0; i < rank; ++i)
    each[i] = i < static_cast<int>(sizeof...(Range)) ? all[i] : detail::whole_range(g);
  return expr<type_of<detail::operand_traits<X>::type>, rank>{&g, op::slice::build(g, x.id, each)};
}
/// The axes of the tag reversed (all of them if it names none). Moves no data.
///
///   auto back = cq::flip(x, cq::axis<0>);
template <array_symbol X, int... A>
[[nodiscard]] constexpr auto flip(const X& x, axis_t<A...> axes) {
  return std::apply([&](const auto&... r) { return slice(x, r...); },
                    detail::flipped_ranges<detail::operand_traits<X>::rank>(axes));
}

/// The elements of x at `indices` (int32 or int64) along an axis: the result has the axes of
/// `indices` in place of that one. An index outside 0 … extent - 1 throws `index_error`, and then
/// results and variables are as before the call.
///
///   auto rows = cq::take(table, words, cq::axis<0>);
template <array_operand X, operand I, int A>
[[nodiscard]] constexpr auto take(const X& x, const I& indices, axis_t<A>, location at = here()) {
  CALQUE_CHECK_INDICES("cq::take(x, indices, cq::axis<...>)", I);
  CALQUE_CHECK_AXES("cq::take(x, indices, cq::axis<...>)", X, axis_t<A>);
  return detail::take_fn<A>{}(x, indices, at);
}
/// x plus `updates` at `indices` along an axis: `updates` has the extents of `take(x, indices,
/// axis)`, or fewer axes. Updates of one element are added in order, so sums of floats are
/// repeatable to the bit. An index out of range throws `index_error`, as in `take`.
///
///   auto counts = cq::scatter_add(cq::zeros<int>(cq::shape{10}), labels, 1, cq::axis<0>);
template <array_operand X, operand I, operand U, int A>
[[nodiscard]] constexpr auto scatter_add(const X& x, const I& indices, const U& updates, axis_t<A>,
                                         location at = here()) {
  CALQUE_CHECK_INDICES("cq::scatter_add(x, indices, updates, cq::axis<...>)", I);
  CALQUE_CHECK_AXES("cq::scatter_add(x, indices, updates, cq::axis<...>)", X, axis_t<A>);
  return detail::scatter_add_fn<A>{}(x, indices, updates, at);
}

// Of two and of three operands the line is known, and named in errors.
#define CALQUE_JOINED(NAME)                                                                     \
  template <int Axis, array_operand A, array_operand B>                                         \
  [[nodiscard]] constexpr auto NAME(const A& a, const B& b, location at = here()) {             \
    return detail::NAME##_fn<Axis>::build(at, a, b);                                            \
  }                                                                                             \
  template <int Axis, array_operand A, array_operand B, array_operand C>                        \
  [[nodiscard]] constexpr auto NAME(const A& a, const B& b, const C& c, location at = here()) { \
    return detail::NAME##_fn<Axis>::build(at, a, b, c);                                         \
  }                                                                                             \
  template <int Axis, array_operand A, array_operand... B>                                      \
    requires(sizeof...(B) != 1 && sizeof...(B) != 2)                                            \
  [[nodiscard]] constexpr auto NAME(const A& a, const B&... b) {                                \
    return detail::NAME##_fn<Axis>::build({}, a, b...);                                         \
  }

/// Operands of one rank put one after the other along an axis; their other extents must be equal,
/// else `shape_error`. Types are promoted. Each operand is written to its place once.
///
///   auto both = cq::concatenate<0>(x, y);
CALQUE_JOINED(concatenate)
/// Operands of equal extents along a new axis of the result, else `shape_error`. Types are
/// promoted.
///
///   auto rows = cq::stack<0>(x, y, z);  // (3, n)
CALQUE_JOINED(stack)
#undef CALQUE_JOINED

/// x with `value` around it: for each axis how many elements come before it and after it. As
/// NumPy's `pad` with a constant.
///
///   auto framed = cq::pad(image, {{1, 1}, {2, 0}});
template <array_operand X, std::size_t Count, weak_operand V = int>
[[nodiscard]] constexpr auto pad(const X& x, const pad_width (&widths)[Count], const V& value = V{},
                                 location at = here()) {
  constexpr int rank = detail::operand_traits<X>::rank;
  static_assert(static_cast<int>(Count) == rank,
                "cq::pad(x, {{before, after}, ...}): give one pair of widths for each axis of x");
  if constexpr (detail::has_array<X>) {
    std::array<std::int64_t, Count> before{}, after{};
    for (std::size_t i = 0; i < Count; ++i)
      before[i] = detail::checked_size(widths[i].before.literal, "pad: a width"),
      after[i] = detail::checked_size(widths[i].after.literal, "pad: a width");
    return detail::pad_fn{}(x, shape<rank>(before), shape<rank>(after), value, at);
  } else {
    std::array<symbolic_extent, Count> before{}, after{};
    for (std::size_t i = 0; i < Count; ++i)
      before[i] = widths[i].before, after[i] = widths[i].after;
    return detail::pad_fn{}(x, shape<rank, symbolic_extent>(before),
                            shape<rank, symbolic_extent>(after), value, at);
  }
}

#undef CALQUE_CHECK_INDICES

}  // namespace calque
