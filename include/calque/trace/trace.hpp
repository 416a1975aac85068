// Tracing: a captureless function called with symbols, in the compiler, gives a graph.
//
// What a body's types show is refused by the operations themselves. What only its evaluation shows
// is noted by the builder and refused here, by `check_trace`.
#pragma once

#include "calque/graph/graph.hpp"
#include "calque/trace/structure.hpp"

namespace calque::detail {

/// Declares the arguments `A…` of a trace and calls `F` on their symbols.
template <class F, class... A>
struct trace_source {
  using symbols = std::tuple<symbols_of<A>...>;
  static_assert(
      std::is_invocable_v<F, symbols_of<A>&...>,
      "cq::trace(f): f cannot be called with these arguments: their number or their types are "
      "not those of its parameters; write the parameters as auto");
  using result = std::remove_cvref_t<decltype(std::apply(F{}, std::declval<symbols&>()))>;
  static_assert(
      result_type<result>,
      "cq::trace(f): f returns a value of unsupported type; return symbols, numbers, or tuples, "
      "std::arrays and struct templates of these, or nothing");

  /// Appends the arguments' nodes and sets the symbols to them.
  static constexpr void declare_all(builder& b, symbols& s) {
    for_each_leaf(s, [&]<class L>(L& leaf) { declare<L>(b, leaf); });
  }
  static constexpr graph trace() {
    trace_fault none{};
    return trace(none);
  }
  /// The first fault of the body.
  static constexpr trace_fault find_fault() {
    trace_fault found{};
    (void)trace(found);
    return found;
  }

 private:
  static constexpr graph trace(trace_fault& found) {
    builder b;
    b.fault = &found;
    symbols s{};
    declare_all(b, s);
    if constexpr (std::is_void_v<result>) {
      std::apply(F{}, s);
      return b.finish(nullptr, 0);
    } else {
      auto r = std::apply(F{}, s);
      b.where = {};  // what the results still need is no operation of the body
      list<std::int32_t> ids;
      for_each_leaf(r, [&]<class L>(L& leaf) {
        if constexpr (symbolic<L>) {
          ids.push(b.value_of(leaf.id));
        } else if constexpr (scalar_literal<L>) {
          ids.push(b.constant_of(
              dtype_of<scalar_element<L>>,
              make_constant<scalar_element<L>>(static_cast<scalar_element<L>>(leaf))));
        }
      });
      return b.finish(ids.begin(), ids.size());
    }
  }

  template <class L>
  static constexpr void declare(builder& b, L& leaf) {
    constexpr leaf_kind kind = leaf_traits<L>::kind;
    const int number = b.g.arguments.size();
    argument a;
    if constexpr (kind == leaf_kind::constant) {
      return;
    } else if constexpr (kind == leaf_kind::device) {
      a = {argument_kind::device, dtype::none, 0, -1};
      leaf = {&b, number};
    } else if constexpr (kind == leaf_kind::extents) {
      constexpr int rank = L::rank();
      a = {argument_kind::extents, dtype::int64, rank, -1};
      std::array<symbolic_extent, rank> e{};
      for (int i = 0; i < rank; ++i)
        e[static_cast<std::size_t>(i)] =
            symbolic_extent(scalar_expr<std::int64_t>(&b, b.extent_of(b.argument_dim(number, i))));
      leaf = L(e);
    } else {
      constexpr dtype t = operand_traits<L>::type;
      constexpr int rank = operand_traits<L>::rank;
      node n = kind == leaf_kind::array    ? builder::make<op::input>(t, rank)
               : kind == leaf_kind::scalar ? builder::make<op::scalar>(t)
                                           : builder::make<op::variable>(t, rank);
      n.index = number;
      for (int i = 0; i < rank; ++i) n.dims[i] = b.argument_dim(number, i);
      const int id = b.append_with(n);
      if constexpr (kind == leaf_kind::variable) b.declare_variable(id);
      a = {kind == leaf_kind::array    ? argument_kind::array
           : kind == leaf_kind::scalar ? argument_kind::scalar
                                       : argument_kind::variable,
           t, rank, id};
      if constexpr (kind == leaf_kind::variable) leaf.b = &b, leaf.id = id;  // has no operator=
      else leaf = L(&b, id);
    }
    b.g.arguments.push(a);
  }
};

template <class Source>
concept traceable = requires { typename std::bool_constant<(Source::find_fault(), true)>; };

/// Refuses a body that cannot be traced.
template <class Source>
constexpr bool check_trace() {
  static_assert(
      traceable<Source>,
      "cq::trace(f): the compiler cannot run the body of f: functions that it calls must be "
      "constexpr (function templates too), and it must not make arrays or variables, read "
      "run-time objects, use a symbol before it is set, or throw; pass arrays, variables, "
      "run-time numbers and devices as arguments, and give guards a symbol: cq::device_guard "
      "g{cq::gpu(0), x}");
  if constexpr (traceable<Source>) {
    constexpr trace_fault f = Source::find_fault();
    static_assert(f != trace_fault::unset, CALQUE_FAULT_UNSET);
    static_assert(f != trace_fault::literal, CALQUE_FAULT_LITERAL);
    static_assert(f != trace_fault::extent, CALQUE_FAULT_EXTENT);
    static_assert(f != trace_fault::axis, CALQUE_FAULT_AXIS);
    static_assert(f != trace_fault::escaped, CALQUE_FAULT_ESCAPED);
    static_assert(f != trace_fault::rebound, CALQUE_FAULT_REBOUND);
    static_assert(f != trace_fault::dropout, CALQUE_FAULT_DROPOUT);
    static_assert(f != trace_fault::bernoulli, CALQUE_FAULT_BERNOULLI);
    static_assert(f != trace_fault::uniform, CALQUE_FAULT_UNIFORM);
    static_assert(f != trace_fault::normal, CALQUE_FAULT_NORMAL);
    static_assert(f != trace_fault::pad, CALQUE_FAULT_PAD);
    static_assert(f != trace_fault::locked, CALQUE_FAULT_LOCKED);
  }
  return true;
}

}  // namespace calque::detail
