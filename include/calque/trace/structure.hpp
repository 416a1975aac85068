// Arguments and results as trees: arrays, variables and numbers, alone or in tuples, std::arrays
// and aggregates, nested. Rebinding maps the tree of arrays to the tree of symbols and back.
//
// A model is a struct template over its members' kind, `template <template <class, int> class A>
// struct net { A<float, 2> w; A<float, 1> b; };`, or over their types; both can be rebound.
#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "calque/core/device.hpp"
#include "calque/core/shape.hpp"
#include "calque/trace/members.hpp"
#include "calque/trace/symbol.hpp"
#include "calque/trace/tags.hpp"

namespace calque {

/// The symbol of a device that is an argument: `cq::device_guard g{d, x}` takes it.
struct device_symbol {
  builder* b = nullptr;
  int argument = -1;
};

}  // namespace calque

namespace calque::detail {

/// Elements of a std::vector or a std::span that is taken as an array.
template <class T>
concept vector_element = element<T> && !std::is_same_v<T, bool>;
template <class T>
concept span_element = element<std::remove_const_t<T>> && !std::is_volatile_v<T>;

/// What a leaf of a tree is.
enum class leaf_kind : std::uint8_t { none, array, variable, scalar, extents, device, constant };

template <class X>
struct leaf_traits {
  static constexpr leaf_kind kind = leaf_kind::none;
};
template <class T, int R>
struct leaf_traits<array<T, R>> {
  static constexpr leaf_kind kind = leaf_kind::array;
};
template <class T, int R>
struct leaf_traits<expr<T, R>> {
  static constexpr leaf_kind kind = leaf_kind::array;
};
template <vector_element T>
struct leaf_traits<std::vector<T>> {
  static constexpr leaf_kind kind = leaf_kind::array;
};
template <span_element T>
struct leaf_traits<std::span<T>> {
  static constexpr leaf_kind kind = leaf_kind::array;
};
template <class T, int R>
struct leaf_traits<variable<T, R>> {
  static constexpr leaf_kind kind = leaf_kind::variable;
};
template <class T, int R>
struct leaf_traits<var_expr<T, R>> {
  static constexpr leaf_kind kind = leaf_kind::variable;
};
template <scalar_literal T>
struct leaf_traits<T> {
  static constexpr leaf_kind kind = leaf_kind::scalar;
};
template <class T>
struct leaf_traits<scalar_expr<T>> {
  static constexpr leaf_kind kind = leaf_kind::scalar;
};
template <int R, class E>
struct leaf_traits<shape<R, E>> {
  static constexpr leaf_kind kind = leaf_kind::extents;
};
template <>
struct leaf_traits<device> {
  static constexpr leaf_kind kind = leaf_kind::device;
};
template <>
struct leaf_traits<device_symbol> {
  static constexpr leaf_kind kind = leaf_kind::device;
};
template <auto N>
struct leaf_traits<static_t<N>> {
  static constexpr leaf_kind kind = leaf_kind::constant;
};

template <class X>
concept leaf_type = leaf_traits<X>::kind != leaf_kind::none;

template <class X>
inline constexpr bool is_tuple = false;
template <class... X>
inline constexpr bool is_tuple<std::tuple<X...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class X, std::size_t N>
inline constexpr bool is_tuple<std::array<X, N>> = true;

// --- rebinding: a type function applied to every leaf
// ----------------------------------------------

/// Arrays, variables and numbers to symbols.
struct to_symbols {
  template <class X>
  struct leaf;
  template <class T, int R>
  struct leaf<array<T, R>> {
    using type = expr<std::remove_const_t<T>, R>;
  };
  template <vector_element T>
  struct leaf<std::vector<T>> {
    using type = expr<T, 1>;
  };
  template <span_element T>
  struct leaf<std::span<T>> {
    using type = expr<std::remove_const_t<T>, 1>;
  };
  template <class T, int R>
  struct leaf<variable<T, R>> {
    using type = var_expr<T, R>;
  };
  template <scalar_literal T>
  struct leaf<T> {
    using type = scalar_expr<scalar_element<T>>;
  };
  template <int R, class E>
  struct leaf<shape<R, E>> {
    using type = shape<R, symbolic_extent>;
  };
  template <std::same_as<device> D>
  struct leaf<D> {
    using type = device_symbol;
  };
  template <auto N>
  struct leaf<static_t<N>> {
    using type = static_t<N>;
  };
};
/// Symbols to arrays: the type of a result.
struct to_arrays {
  template <class X>
  struct leaf;
  template <symbolic X>
  struct leaf<X> {
    using type = array<type_of<operand_traits<X>::type>, operand_traits<X>::rank>;
  };
  template <scalar_literal T>
  struct leaf<T> {
    using type = array<scalar_element<T>, 0>;
  };
  template <auto N>
  struct leaf<static_t<N>> {
    using type = static_t<N>;
  };
};
/// Symbols and handles to plain symbols: the type of a gradient.
struct to_exprs {
  template <class X>
  struct leaf;
  template <symbolic X>
  struct leaf<X> {
    using type = expr<type_of<operand_traits<X>::type>, operand_traits<X>::rank>;
  };
  template <auto N>
  struct leaf<static_t<N>> {
    using type = static_t<N>;
  };
};

template <class Rule, class X>
struct rebind {};
template <class Rule, class X>
  requires requires { typename Rule::template leaf<X>::type; }
struct rebind<Rule, X> : Rule::template leaf<X> {};
template <class Rule, class A, class B>
struct rebind<Rule, std::pair<A, B>> {
  using type = std::pair<typename rebind<Rule, A>::type, typename rebind<Rule, B>::type>;
};
template <class Rule, class X, std::size_t N>
struct rebind<Rule, std::array<X, N>> {
  using type = std::array<typename rebind<Rule, X>::type, N>;
};
template <class Rule, template <class...> class M, class... X>
  requires(!leaf_type<M<X...>> && (is_tuple<M<X...>> || plain_aggregate<M<X...>>) &&
           requires { typename std::tuple<typename rebind<Rule, X>::type...>; })
struct rebind<Rule, M<X...>> {
  using type = M<typename rebind<Rule, X>::type...>;
};
// a struct template over the kind of its members: the kind of leaf decides the whole
template <template <template <class, int> class> class M>
  requires plain_aggregate<M<array>>
struct rebind<to_symbols, M<array>> {
  using type = M<expr>;
};
template <template <template <class, int> class> class M>
  requires plain_aggregate<M<variable>>
struct rebind<to_symbols, M<variable>> {
  using type = M<var_expr>;
};
template <template <template <class, int> class> class M>
struct rebind<to_arrays, M<expr>> {
  using type = M<array>;
};
template <template <template <class, int> class> class M>
struct rebind<to_arrays, M<var_expr>> {
  using type = M<array>;
};
template <template <template <class, int> class> class M>
struct rebind<to_exprs, M<expr>> {
  using type = M<expr>;
};
template <template <template <class, int> class> class M>
struct rebind<to_exprs, M<var_expr>> {
  using type = M<expr>;
};

template <class X, template <class> class Allowed>
constexpr bool every_leaf();
template <template <class> class Allowed>
struct every_leaf_of {
  template <class... M>
  auto operator()(M&...) const {
    return std::bool_constant<(every_leaf<std::remove_const_t<M>, Allowed>() && ...)>{};
  }
};
/// Whether every leaf of tree `X` is `Allowed`.
template <class X, template <class> class Allowed>
constexpr bool every_leaf() {
  using each = every_leaf_of<Allowed>;
  if constexpr (leaf_type<X>) return Allowed<X>::value;
  else if constexpr (is_tuple<X>) return decltype(std::apply(each{}, std::declval<X&>()))::value;
  else if constexpr (plain_aggregate<X>)
    return decltype(with_members(std::declval<X&>(), each{}))::value;
  else return false;
}
template <class X>
using is_symbol = std::bool_constant<symbolic<X> || leaf_traits<X>::kind == leaf_kind::constant ||
                                     leaf_traits<X>::kind == leaf_kind::device ||
                                     leaf_traits<X>::kind == leaf_kind::extents>;
template <class X>
using is_returned = std::bool_constant<symbolic<X> || scalar_literal<X> ||
                                       leaf_traits<X>::kind == leaf_kind::constant>;
template <class X>
using is_result = std::bool_constant<has_array<X> || leaf_traits<X>::kind == leaf_kind::constant>;

/// A tree all of whose leaves can be symbols: what a trace takes.
template <class X>
concept has_symbols = requires { typename rebind<to_symbols, X>::type; } &&
                      every_leaf<typename rebind<to_symbols, X>::type, is_symbol>();
/// A tree all of whose leaves can be arrays: what a trace returns.
template <class X>
concept result_type =
    std::is_void_v<X> ||
    (requires { typename rebind<to_arrays, X>::type; } && every_leaf<X, is_returned>() &&
     every_leaf<typename rebind<to_arrays, X>::type, is_result>());
template <class X>
using symbols_of = typename rebind<to_symbols, X>::type;
template <class X>
using arrays_of = typename rebind<to_arrays, X>::type;
template <class X>
using exprs_of = typename rebind<to_exprs, X>::type;

// --- walking
// -----------------------------------------------------------------------------------------

/// Calls `f(leaf)` for every leaf of `x`, in order.
template <class X, class F>
constexpr void for_each_leaf(X& x, F&& f) {
  using P = std::remove_const_t<X>;
  if constexpr (leaf_type<P>) f(x);
  else if constexpr (is_tuple<P>) std::apply([&](auto&... e) { (for_each_leaf(e, f), ...); }, x);
  else for_each_member(x, [&](auto& m) { for_each_leaf(m, f); });
}
/// Whether any leaf of type `X` is of kind `K`.
template <class X>
constexpr int count_leaves() {
  if constexpr (leaf_type<X>) {
    return leaf_traits<X>::kind == leaf_kind::constant ? 0 : 1;
  } else {
    X x{};
    int n = 0;
    for_each_leaf(x,
                  [&]<class L>(L&) { n += leaf_traits<L>::kind == leaf_kind::constant ? 0 : 1; });
    return n;
  }
}

/// Whether `X` holds symbols rather than arrays.
template <class X>
struct holds_symbols : std::bool_constant<symbolic<X>> {};
template <int R, class E>
struct holds_symbols<shape<R, E>> : std::bool_constant<std::is_same_v<E, symbolic_extent>> {};
template <template <class...> class M, class... X>
struct holds_symbols<M<X...>> : std::bool_constant<(holds_symbols<X>::value || ...)> {};
template <class T>
struct holds_symbols<scalar_expr<T>> : std::true_type {};
template <>
struct holds_symbols<device_symbol> : std::true_type {};
template <class X, std::size_t N>
struct holds_symbols<std::array<X, N>> : holds_symbols<X> {};
template <template <template <class, int> class> class M>
struct holds_symbols<M<expr>> : std::true_type {};
template <template <template <class, int> class> class M>
struct holds_symbols<M<var_expr>> : std::true_type {};

template <class Tree>
constexpr bool any_array_symbol() {
  Tree tree{};
  bool any = false;
  for_each_leaf(tree, [&]<class L>(L&) {
    any = any || leaf_traits<L>::kind == leaf_kind::array ||
          leaf_traits<L>::kind == leaf_kind::variable;
  });
  return any;
}
/// Whether `X` holds real arrays or variables.
template <class X>
inline constexpr bool holds_real = false;
template <has_symbols X>
inline constexpr bool holds_real<X> = any_array_symbol<symbols_of<X>>();

}  // namespace calque::detail
