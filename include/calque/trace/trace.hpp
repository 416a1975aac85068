// Tracing: a captureless function called with symbols, in the compiler, gives a graph.
#pragma once

#include "calque/graph/graph.hpp"
#include "calque/trace/structure.hpp"

namespace calque::detail {

/// Declares the arguments `A…` of a trace and calls `F` on their symbols.
template <class F, class... A>
struct trace_source {
  using symbols = std::tuple<symbols_of<A>...>;
  using result = decltype(std::apply(F{}, std::declval<symbols&>()));

  /// Appends the arguments' nodes and sets the symbols to them.
  static constexpr void declare_all(builder& b, symbols& s) {
    for_each_leaf(s, [&]<class L>(L& leaf) { declare<L>(b, leaf); });
  }
  static constexpr graph trace() {
    builder b;
    symbols s{};
    declare_all(b, s);
    if constexpr (std::is_void_v<result>) {
      std::apply(F{}, s);
      return b.finish(nullptr, 0);
    } else {
      auto r = std::apply(F{}, s);
      list<std::int32_t> ids;
      for_each_leaf(r, [&]<class L>(L& leaf) {
        if constexpr (symbolic<L>) {
          if (!leaf.b) throw value_error("cq::trace(f): f returns a symbol that was never set");
          ids.push(b.value_of(leaf.id));
        } else if constexpr (scalar_literal<L>) {
          ids.push(b.constant_of(dtype_of<scalar_element<L>>,
                                 make_constant<scalar_element<L>>(static_cast<scalar_element<L>>(leaf))));
        }
      });
      return b.finish(ids.begin(), ids.size());
    }
  }

 private:
  template <class L>
  static constexpr void declare(builder& b, L& leaf) {
    constexpr leaf_kind kind = leaf_traits<L>::kind;
    const int number = b.g.arguments.size();
    argument a;
    if constexpr (kind == leaf_kind::constant) {
      return;
    } else if constexpr (kind == leaf_kind::extents) {
      constexpr int rank = L::rank();
      a = {argument_kind::extents, dtype::int64, rank, -1};
      std::array<symbolic_extent, rank> e{};
      for (int i = 0; i < rank; ++i)
        e[static_cast<std::size_t>(i)] = symbolic_extent(
            scalar_expr<std::int64_t>(&b, b.extent_of(b.argument_dim(number, i))));
      leaf = L(e);
    } else {
      constexpr dtype t = operand_traits<L>::type;
      constexpr int rank = operand_traits<L>::rank;
      node n = kind == leaf_kind::array     ? builder::make<op::input>(t, rank)
               : kind == leaf_kind::scalar ? builder::make<op::scalar>(t)
                                           : builder::make<op::variable>(t, rank);
      n.index = number;
      for (int i = 0; i < rank; ++i) n.dims[i] = b.argument_dim(number, i);
      const int id = b.append_with(n);
      if constexpr (kind == leaf_kind::variable) b.declare_variable(id);
      a = {kind == leaf_kind::array     ? argument_kind::array
           : kind == leaf_kind::scalar ? argument_kind::scalar
                                       : argument_kind::variable,
           t, rank, id};
      leaf = L(&b, id);
    }
    b.g.arguments.push(a);
  }
};

}  // namespace calque::detail
