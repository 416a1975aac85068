// User elementwise operations: `cq::apply<F>(x, …)` calls a functor of scalars at every element.
//
// F is registered by its name like the library's own operations, so it may stand in clusters and
// has a derivative if it says which. What a node points to is `user_op`: F at one element type, so
// that F is instantiated for the types that it is used with and no others.
#pragma once

#include <tuple>
#include <type_traits>

#include "calque/trace/functions.hpp"

namespace calque {
namespace detail {

template <class F>
inline constexpr bool is_predicate = requires { typename F::result_type; };

template <class F, class T>
struct user_result {
  using type = T;
};
template <class F, class T>
  requires is_predicate<F>
struct user_result<F, T> {
  using type = typename F::result_type;
};

template <class T, int... Ranks>
inline constexpr int largest_rank = [] {
  int most = 0;
  ((most = Ranks > most ? Ranks : most), ...);
  return most;
}();

template <class F, class T, int... Ranks>
concept has_user_gradient =
    is_floating(dtype_of<T>) &&
    requires(expr<T, largest_rank<T, Ranks...>> dy) { F::gradient(expr<T, Ranks>{}..., dy); };

template <class R>
inline constexpr bool has_tuple_size = requires { std::tuple_size<R>::value; };

/// F at element type T on operands of these ranks: what a node points to.
template <class F, class T, int... Ranks>
struct user_op {
  static constexpr const char* name = F::name;
  static constexpr int arity = static_cast<int>(sizeof...(Ranks));
  static constexpr map_form form = is_predicate<F> ? map_form::compare : map_form::same;
  using result = typename user_result<F, T>::type;
  static constexpr bool may_throw =
      !noexcept(std::declval<const F&>()((static_cast<void>(Ranks), T{})...));

  static constexpr constant evaluate(dtype, dtype, const constant* x) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return make_constant<result>(static_cast<result>(F{}(constant_as<T>(x[K])...)));
    }(std::make_integer_sequence<int, arity>{});
  }
  static constexpr void gradient(gradient_rule& g)
    requires has_user_gradient<F, T, Ranks...>
  {
    [&]<int... K>(std::integer_sequence<int, K...>) {
      constexpr int rank = largest_rank<T, Ranks...>;
      const auto slopes =
          F::gradient(expr<T, Ranks>(&g.b, g.input(K).id)..., expr<T, rank>(&g.b, g.dy.id));
      using slopes_type = std::remove_cvref_t<decltype(slopes)>;
      if constexpr (has_tuple_size<slopes_type>) {
        static_assert(
            std::tuple_size_v<slopes_type> == sizeof...(K),
            "cq::apply<F>(x, ...): F::gradient must return a derivative for each operand");
        (flow(g, K, std::get<K>(slopes)), ...);
      } else {
        static_assert(
            sizeof...(K) == 1,
            "cq::apply<F>(x, ...): F::gradient must return a derivative for each operand: "
            "a std::tuple");
        flow(g, 0, slopes);
      }
    }(std::make_integer_sequence<int, arity>{});
  }

 private:
  template <class E>
  static constexpr void flow(gradient_rule& g, int k, const E& slope) {
    g.flow(k, {&g.b, broadcast_like(g.b, node_of<T>(g.b, slope), g.dy.id)});
  }
};

/// The type that all operands share; weak ones yield.
template <class... X>
constexpr dtype joint_type() {
  dtype strong = dtype::none, weak = dtype::none;
  const auto add = [&](dtype t, bool is_weak) {
    dtype& to = is_weak ? weak : strong;
    to = to == dtype::none ? t : is_weak ? promote_scalars(to, t) : promote(to, t);
  };
  (add(operand_traits<X>::type, weak_operand<X>), ...);
  if (strong == dtype::none) return weak;
  return weak == dtype::none ? strong : promote_weak(strong, weak);
}

template <class F>
constexpr bool is_registered() {
  if constexpr (requires { typename op_for<hash_name(F::name)>::type; })
    return std::is_same_v<typename op_for<hash_name(F::name)>::type, F>;
  else return false;
}

template <class F>
struct apply_fn {
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    return run({}, x...);
  }
  template <class... X>
  constexpr auto run(location at, const X&... x) const {
    check_operands<X...>();
    static_assert(sizeof...(X) >= 1 && sizeof...(X) <= 3,
                  "cq::apply<F>(x, ...): F takes 1 to 3 operands");
    static_assert(
        is_registered<F>(),
        "cq::apply<F>(x): F is not known: write CALQUE_REGISTER(F); at global scope, after "
        "its definition and before its use");
    static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                  "cq::apply<F>(x): F must be empty: give it what it needs as operands");
    if constexpr (has_array<X...>) {
      return run_on_arrays(apply_fn{}, x...);
    } else {
      constexpr dtype t = joint_type<X...>();
      static_assert(t != dtype::none,
                    "calque: no integer type holds both int64 and uint64; cast one operand with "
                    "cq::astype<...>(x)");
      using T = type_of<t>;
      using op = user_op<F, T, operand_traits<X>::rank...>;
      static_assert(
          std::is_invocable_v<const F&, decltype(operand_traits<X>::rank, T{})...>,
          "cq::apply<F>(x, ...): F cannot be called with so many operands of their common "
          "element type");
      static_assert(!is_predicate<F> || std::is_same_v<typename op::result, bool>,
                    "cq::apply<F>(x): F::result_type, if there is one, is bool");
      builder& g = common_builder(x...);
      g.where = at;
      const std::int32_t ids[] = {node_of<T>(g, x)...};
      using result = typename symbol_for<(weak_operand<X> && ...), dtype_of<typename op::result>,
                                         largest_rank<T, operand_traits<X>::rank...>>::type;
      return result{&g, g.map(op_info_of<op>, dtype_of<typename op::result>, ids,
                              static_cast<int>(sizeof...(X)))};
    }
  }
};

}  // namespace detail

/// F at every element of one to three operands, which broadcast and take their common type; the
/// result has that type, or is bool where F has `using result_type = bool`. F may throw: the call
/// ends by that exception. `gradient`, written with calque functions, returns the derivative by the
/// operand, or a tuple of those by each; without it no derivative flows. `lanes` (see
/// core/lane.hpp) makes F work on vectors.
///
///   struct softsign {
///     static constexpr char name[] = "softsign";
///     template <class T> constexpr T operator()(T x) const { return x / (1 + (x < 0 ? -x : x)); }
///     static constexpr auto gradient(auto x, auto dy) { return dy / cq::square(1 + cq::abs(x)); }
///   };
///   CALQUE_REGISTER(softsign);
///   auto y = cq::apply<softsign>(x);
template <class F, operand X>
  requires(tensor<X>)
[[nodiscard]] constexpr auto apply(const X& x, location at = here()) {
  return detail::apply_fn<F>{}.run(at, x);
}
template <class F, operand X, operand Y>
  requires(tensor<X> || tensor<Y>)
[[nodiscard]] constexpr auto apply(const X& x, const Y& y, location at = here()) {
  return detail::apply_fn<F>{}.run(at, x, y);
}
template <class F, operand X, operand Y, operand Z>
  requires(tensor<X> || tensor<Y> || tensor<Z>)
[[nodiscard]] constexpr auto apply(const X& x, const Y& y, const Z& z, location at = here()) {
  return detail::apply_fn<F>{}.run(at, x, y, z);
}

}  // namespace calque
