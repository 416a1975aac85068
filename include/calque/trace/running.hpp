// Running reductions along an axis, cumsum and cumprod, and both kinds of reduction with a user's
// monoid: accumulate, reduce.
#pragma once

#include "calque/ops/accumulate.hpp"
#include "calque/trace/reductions.hpp"

namespace calque {
namespace detail {

template <class Op, int Axis>
struct cumulate_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(cumulate_fn{}, x);
    } else {
      constexpr int rank = operand_traits<X>::rank;
      constexpr int axis = axis_number<rank>(axis_t<Axis>{});
      constexpr dtype t = sum_type(operand_traits<X>::type);
      builder& g = common_builder(x);
      g.where = at;
      return expr<type_of<t>, rank>{&g, build_accumulation<Op>(g, build_cast(g, x.id, t), axis)};
    }
  }
};

template <class M, class T>
concept has_identity = requires { static_cast<T>(M::template identity<T>()); };
template <class M, class T>
concept combines = requires(T a) { static_cast<T>(M{}(a, a)); };
template <class M>
concept named_monoid = requires { std::string_view(M::name); };
template <class M>
concept registered_monoid =
    !named_monoid<M> || requires { typename op_for<hash_name(M::name)>::type; };
template <class M, class X>
inline constexpr bool is_monoid =
    named_monoid<M> && registered_monoid<M> && has_identity<M, type_of<operand_traits<X>::type>> &&
    combines<M, type_of<operand_traits<X>::type>>;

template <class M, int Axis>
struct accumulate_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(accumulate_fn{}, x);
    } else {
      constexpr int rank = operand_traits<X>::rank;
      constexpr int axis = axis_number<rank>(axis_t<Axis>{});
      using T = type_of<operand_traits<X>::type>;
      builder& g = common_builder(x);
      g.where = at;
      return expr<T, rank>{&g, build_accumulation<op::accumulate_with<M, T>>(g, x.id, axis)};
    }
  }
};

template <class M, class Axes, bool Keep>
struct monoid_reduce_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    check_operands<X>();
    if constexpr (has_array<X>) {
      return run_on_arrays(monoid_reduce_fn{}, x);
    } else {
      constexpr int rank = operand_traits<X>::rank;
      constexpr unsigned mask = mask_of<Axes, X>;
      using T = type_of<operand_traits<X>::type>;
      builder& g = common_builder(x);
      g.where = at;
      return expr < T, Keep ? rank
                            : rank - bits_in(mask) > {&g, build_reduction<op::reduce_with<M, T>>(
                                                              g, x.id, mask, Keep, dtype_of<T>)};
    }
  }
};

}  // namespace detail

// Refuses what is no monoid on X's elements, and one that clusters and kernels could not find.
#define CALQUE_CHECK_MONOID(CALL, M, X)                                                     \
  static_assert(detail::named_monoid<M>,                                                    \
                CALL ": functor F needs a name: static constexpr char name[] = \"...\";");  \
  static_assert(detail::has_identity<M, type_of<detail::operand_traits<X>::type>>, CALL     \
                ": functor F needs template <class T> static constexpr T identity(): what " \
                "no elements combine to");                                                  \
  static_assert(detail::combines<M, type_of<detail::operand_traits<X>::type>>, CALL         \
                ": functor F must take two elements and return one: constexpr T "           \
                "operator()(T a, T b) const");                                              \
  static_assert(detail::registered_monoid<M>, CALL                                          \
                ": register functor F once, at global scope after its definition: "         \
                "CALQUE_REGISTER(F);")

#define CALQUE_CUMULATION(NAME)                                                                   \
  template <array_operand X, int A>                                                               \
  [[nodiscard]] constexpr auto NAME(const X& x, axis_t<A>, location at = here()) {                \
    CALQUE_CHECK_AXES("cq::" #NAME "(x, cq::axis<...>)", X, axis_t<A>);                           \
    return detail::cumulate_fn<op::NAME, A>{}(x, at);                                             \
  }                                                                                               \
  template <array_operand X>                                                                      \
  [[nodiscard]] constexpr auto NAME(const X& x, location at = here()) {                           \
    static_assert(detail::operand_traits<X>::rank == 1,                                           \
                  "cq::" #NAME "(x): x must have one axis; name the axis, as in cq::" #NAME       \
                  "(x, cq::axis<0>), or flatten x with cq::reshape");                             \
    return detail::cumulate_fn<op::NAME, 0>{}(x, at);                                             \
  }                                                                                               \
  template <array_operand X, int... A>                                                            \
    requires(sizeof...(A) != 1)                                                                   \
  constexpr auto NAME(const X& x, axis_t<A...>) {                                                 \
    static_assert(detail::never<X>, "cq::" #NAME                                                  \
                                    "(x, cq::axis<...>): it runs along one axis; name one, as in" \
                                    " cq::" #NAME "(x, cq::axis<0>)");                            \
    return x;                                                                                     \
  }                                                                                               \
  CALQUE_AXIS_NUMBER_OF(NAME)

#define CALQUE_AXIS_NUMBER_OF(NAME)                                                      \
  template <operand X, std::integral I>                                                  \
  constexpr auto NAME(const X& x, I) {                                                   \
    static_assert(detail::never<X>,                                                      \
                  "cq::" #NAME                                                           \
                  "(x, 1): the axis must be a constant of the program: write cq::" #NAME \
                  "(x, cq::axis<1>)");                                                   \
    return x;                                                                            \
  }

/// Running sums along one axis: element i is the sum of elements 0 to i. Types as for `cq::sum`:
/// integers narrower than 64 bits and bool give 64-bit sums. Float sums are blocked: the order of
/// additions depends on sizes and layout alone.
///
///   auto totals = cq::cumsum(x, cq::axis<0>);
CALQUE_CUMULATION(cumsum)
/// Running products along one axis, as `cumsum`. Its derivative is right where elements are zero.
CALQUE_CUMULATION(cumprod)
#undef CALQUE_CUMULATION
#undef CALQUE_AXIS_NUMBER_OF

/// Reduces with monoid `M`, over all axes or those of the tag; an empty axis gives the identity.
/// `M` is an empty functor with a name, `template <class T> static constexpr T identity()` and
/// `T operator()(T, T) const`, registered once: `CALQUE_REGISTER(M);`. It must be associative; it
/// need not be commutative: only neighbours are combined, the earlier one on the left. The identity
/// is never passed to it. With `template <class T, int W> static void lanes(lane<T, W>& r, const
/// lane<T, W>& a, const lane<T, W>& b)` (any arguments may be one object) it runs on vectors. There
/// is no derivative.
///
///   auto m = cq::reduce<maxabs>(x, cq::axis<1>);
template <class M, array_operand X>
[[nodiscard]] constexpr auto reduce(const X& x, location at = here()) {
  CALQUE_CHECK_MONOID("cq::reduce<F>(x)", M, X);
  return detail::monoid_reduce_fn<M, axis_t<>, false>{}(x, at);
}
template <class M, array_operand X, int... A>
[[nodiscard]] constexpr auto reduce(const X& x, axis_t<A...>, location at = here()) {
  CALQUE_CHECK_AXES("cq::reduce<F>(x, cq::axis<...>)", X, axis_t<A...>);
  CALQUE_CHECK_MONOID("cq::reduce<F>(x)", M, X);
  return detail::monoid_reduce_fn<M, axis_t<A...>, false>{}(x, at);
}
template <class M, array_operand X, int... A>
[[nodiscard]] constexpr auto reduce(const X& x, axis_t<A...>, keepdims_t, location at = here()) {
  CALQUE_CHECK_AXES("cq::reduce<F>(x, cq::axis<...>)", X, axis_t<A...>);
  CALQUE_CHECK_MONOID("cq::reduce<F>(x)", M, X);
  return detail::monoid_reduce_fn<M, axis_t<A...>, true>{}(x, at);
}
/// The running form of `reduce<M>`: element i combines elements 0 to i along the axis.
///
///   auto highest_so_far = cq::accumulate<maxabs>(x, cq::axis<0>);
template <class M, array_operand X, int A>
[[nodiscard]] constexpr auto accumulate(const X& x, axis_t<A>, location at = here()) {
  CALQUE_CHECK_AXES("cq::accumulate<F>(x, cq::axis<...>)", X, axis_t<A>);
  CALQUE_CHECK_MONOID("cq::accumulate<F>(x, axis)", M, X);
  return detail::accumulate_fn<M, A>{}(x, at);
}
#undef CALQUE_CHECK_MONOID

}  // namespace calque
