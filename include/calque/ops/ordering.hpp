// Sorting as operations: each line along an axis in order, the places its elements come from, and
// moves by such places, which derivatives need. `calque/ops/sort.hpp` is what programs include.
#pragma once

#include "calque/ops/accumulate.hpp"

namespace calque {
namespace detail {

/// Moves values along an axis by the places in `places`.
template <class Op>
constexpr int build_permutation(builder& b, int values, int places, int axis) {
  const node x = b.at(values);
  node n = builder::make<Op>(x.type, x.rank);
  for (int i = 0; i < x.rank; ++i) n.dims[i] = x.dims[i];
  n.axis_mask = static_cast<std::uint8_t>(1u << axis);
  return b.append_with(n, values, places);
}
template <class Op>
constexpr int build_places(builder& b, int id, int axis) {
  id = b.value_of(id);
  const node x = b.at(id);
  node n = builder::make<Op>(dtype::int64, x.rank);
  for (int i = 0; i < x.rank; ++i) n.dims[i] = x.dims[i];
  n.axis_mask = static_cast<std::uint8_t>(1u << axis);
  return b.append_with(n, id);
}

}  // namespace detail

namespace op {

/// Element i comes from place `places[i]`.
struct take_places {
  static constexpr char name[] = "take_places";
  static constexpr op_kind kind = op_kind::along_axis;
  static constexpr void gradient(gradient_rule& g);
};
/// Element i goes to place `places[i]`, each place being named once.
struct put_places {
  static constexpr char name[] = "put_places";
  static constexpr op_kind kind = op_kind::along_axis;
  static constexpr void gradient(gradient_rule& g) {
    g.flow(0, {&g.b, detail::build_permutation<take_places>(g.b, g.dy.id, g.input(1).id,
                                                            detail::axis_of(g.info()))});
  }
};
constexpr void take_places::gradient(gradient_rule& g) {
  g.flow(0, {&g.b, detail::build_permutation<put_places>(g.b, g.dy.id, g.input(1).id,
                                                         detail::axis_of(g.info()))});
}

/// Ascending or descending; stable, NaN last both ways, zeros of both signs equal.
template <bool Down>
struct argsort_of {
  static constexpr char name[] = {'a', 'r', 'g', 's', 'o', 'r', 't', Down ? '_' : '\0',
                                  'd', 'o', 'w', 'n', '\0'};
  static constexpr op_kind kind = op_kind::along_axis;
  static constexpr bool down = Down;
};
template <bool Down>
struct sort_of {
  static constexpr char name[] = {'s', 'o', 'r', 't', Down ? '_' : '\0', 'd', 'o', 'w', 'n', '\0'};
  static constexpr op_kind kind = op_kind::along_axis;
  static constexpr bool down = Down;
  /// Back to where each element came from.
  static constexpr void gradient(gradient_rule& g) {
    const int axis = detail::axis_of(g.info());
    const int places = detail::build_places<argsort_of<Down>>(g.b, g.input(0).id, axis);
    g.flow(0, {&g.b, detail::build_permutation<put_places>(g.b, g.dy.id, places, axis)});
  }
};

}  // namespace op
}  // namespace calque

CALQUE_REGISTER(calque::op::take_places);
CALQUE_REGISTER(calque::op::put_places);
CALQUE_REGISTER(calque::op::argsort_of<false>);
CALQUE_REGISTER(calque::op::argsort_of<true>);
CALQUE_REGISTER(calque::op::sort_of<false>);
CALQUE_REGISTER(calque::op::sort_of<true>);
