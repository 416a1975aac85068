// Conversion of element types: floating to integer saturates, NaN gives 0.
#pragma once

#include "calque/core/saturate.hpp"
#include "calque/ops/arithmetic.hpp"

namespace calque {
namespace op {

struct cast {
  static constexpr char name[] = "cast";
  static constexpr int arity = 1;
  static constexpr bool foldable = true;
  static constexpr map_form form = map_form::cast;
  template <class To, class From>
  CALQUE_HD static constexpr To convert(From x) {
    return detail::saturate_cast<To>(x);
  }
  template <class To, class From, int W>
  CALQUE_INLINE static void lanes(lane<To, W>& r, const lane<From, W>& x) {
    calque::lanes::convert<To, From, W>(r, x);
  }
  static constexpr void gradient(gradient_rule& g) {
    const dtype from = g.input(0).type();
    if (is_floating(from)) g.flow(0, {&g.b, g.b.map_of<cast>(from, g.dy.id)});
  }
};

}  // namespace op

namespace detail {

/// `id` as type `t`; a literal is converted at once.
constexpr int build_cast(builder& b, int id, dtype t) {
  id = b.value_of(id);
  const node& n = b.at(id);
  if (n.type == t) return id;
  if (n.op->kind == op_kind::constant) {
    const constant v = n.value;
    return b.constant_of(t, evaluate<op::cast>(n.type, t, &v));
  }
  return b.map_of<op::cast>(t, id);
}

}  // namespace detail
}  // namespace calque

CALQUE_REGISTER(calque::op::cast);
