// What an operation's gradient rule is written with: untyped values, and the rule's context.
#pragma once

#include "calque/graph/builder.hpp"

namespace calque {

/// A node of a graph under construction; its element type is known to the graph alone.
struct value {
  builder* b = nullptr;
  std::int32_t id = -1;

  [[nodiscard]] constexpr const node& info() const { return b->at(id); }
  [[nodiscard]] constexpr dtype type() const { return info().type; }
};

/// Applies an elementwise operation to values of one type.
template <class Op, class... V>
constexpr value apply_op(value first, V... rest) {
  dtype t = first.type();
  if constexpr (op_info_of<Op>.form == map_form::compare) t = dtype::boolean;
  if constexpr (op_info_of<Op>.form == map_form::select)
    for (value v : {rest...}) t = v.type();
  return {first.b, first.b->map_of<Op>(t, first.id, rest.id...)};
}

/// The context of one node's rule: `dy` is the derivative with respect to its result, which has the
/// result's extents and type. A rule calls `flow(k, v)` for each input that a derivative reaches;
/// `v` may have the result's extents where the input was broadcast: the pass sums it down.
struct gradient_rule {
  builder& b;
  std::int32_t id;
  value dy;
  detail::list<std::int32_t> contribution{};  // by input; -1 or missing: none

  [[nodiscard]] constexpr value output() const { return {&b, id}; }
  [[nodiscard]] constexpr value input(int k) const { return {&b, b.input(id, k)}; }
  [[nodiscard]] constexpr const node& info() const { return b.at(id); }
  [[nodiscard]] constexpr value number(double v) const { return {&b, b.number(dy.type(), v)}; }
  constexpr void flow(int k, value v) {
    if (contribution.size() <= k) contribution.resize(k + 1, -1);
    contribution[k] = v.id;
  }
};

}  // namespace calque
