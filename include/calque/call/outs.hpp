// Destinations of a call: where `f.into(out, args…)` writes, and whether they fit f's results.
#pragma once

#include <tuple>
#include <utility>

#include "calque/array/access.hpp"
#include "calque/array/variable.hpp"
#include "calque/trace/structure.hpp"

namespace calque {

/// Destinations of `f.into(cq::outs(a, b), args…)`: references to arrays, in the order of the
/// results.
template <class... X>
class outs_t {
 public:
  constexpr explicit outs_t(X&... x) : arrays(x...) {}
  std::tuple<X&...> arrays;
};
template <class... X>
[[nodiscard]] constexpr outs_t<X...> outs(X&... arrays) {
  return outs_t<X...>(arrays...);
}

namespace detail {

/// Calls `f(array)` for every array of a result or of `outs`.
template <class X, class F>
void for_each_out(X& x, F&& f) {
  for_each_leaf(x, [&]<class L>(L& leaf) {
    if constexpr (has_array<L>) f(leaf);
  });
}
template <class... X, class F>
void for_each_out(const outs_t<X...>& o, F&& f) {
  std::apply([&](auto&... x) { (for_each_out(x, f), ...); }, o.arrays);
}
template <class... X, class F>
void for_each_out(outs_t<X...>& o, F&& f) {
  for_each_out(std::as_const(o), f);
}

/// The symbols that would stand for the arrays of `out`.
template <class X>
struct out_symbols {};
template <has_symbols X>
struct out_symbols<X> {
  static constexpr bool writable = true;
  using type = symbols_of<X>;
};
template <class X>
struct out_symbols<const X> : out_symbols<X> {
  static constexpr bool writable = false;
};
template <class T, int Rank>
struct out_symbols<array<const T, Rank>> {
  static constexpr bool writable = false;
  using type = expr<T, Rank>;
};
template <class... X>
struct out_symbols<outs_t<X...>> {
  static constexpr bool writable = (out_symbols<X>::writable && ...);
  using type = std::tuple<typename out_symbols<X>::type...>;
};
template <class... X>
struct out_symbols<const outs_t<X...>> : out_symbols<outs_t<X...>> {};

/// Element types and ranks of a tree's leaves, in order.
template <class Tree>
constexpr list<std::int32_t> leaf_types() {
  list<std::int32_t> types;
  Tree tree{};
  for_each_leaf(tree, [&]<class L>(L&) {
    if constexpr (leaf_traits<L>::kind != leaf_kind::constant)
      types.push(static_cast<int>(operand_traits<L>::type) * 16 + operand_traits<L>::rank);
  });
  return types;
}
template <class A, class B>
constexpr bool same_leaf_types() {
  const list<std::int32_t> a = leaf_types<A>(), b = leaf_types<B>();
  bool same = a.size() == b.size();
  for (int i = 0; same && i < a.size(); ++i) same = a[i] == b[i];
  return same;
}

template <class Result, class Out>
constexpr bool check_outs() {
  constexpr bool arrays = requires { typename out_symbols<Out>::type; };
  static_assert(
      arrays, "f.into(out, ...): out must be an array, cq::outs(a, b), or an aggregate of arrays");
  if constexpr (arrays) {
    constexpr bool writable = out_symbols<Out>::writable;
    static_assert(writable,
                  "f.into(out, ...): out is a read-only array or a view; pass a writable array, as "
                  "cq::array<T, Rank> out");
    using symbols = typename out_symbols<Out>::type;
    constexpr bool count = leaf_types<symbols>().size() == count_leaves<Result>();
    static_assert(count, "f.into(out, ...): name one array for each result of f: cq::outs(a, b)");
    constexpr bool fit = !count || same_leaf_types<symbols, Result>();
    static_assert(
        fit,
        "f.into(out, ...): an out has another element type or rank than f's result; declare it "
        "with those of the result, or cast in f with cq::astype<...>");
    return writable && count && fit;
  } else {
    return false;
  }
}

}  // namespace detail
}  // namespace calque
