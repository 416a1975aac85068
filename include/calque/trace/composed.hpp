// Functions composed of others: softmax, log_softmax; and stop_gradient, which they need.
#pragma once

#include "calque/trace/shaping.hpp"

namespace calque {

/// `x` itself, through which no derivative flows.
template <symbolic X>
[[nodiscard]] constexpr X stop_gradient(const X& x, location at = here()) {
  builder& g = detail::common_builder(x);
  g.where = at;
  const int id = g.value_of(x.id);
  node n = builder::make<op::stop_gradient>(g.at(id).type, g.at(id).rank);
  for (int i = 0; i < g.at(id).rank; ++i) n.dims[i] = g.at(id).dims[i];
  return X{&g, g.append_with(n, id)};
}

namespace detail {

/// x - max(x), floating: integers are cast first, since their difference would wrap.
template <int Axis, class X>
constexpr auto shifted(const X& x, location at) {
  const auto y = astype_fn<type_of<floating(operand_traits<X>::type)>>{}(x, at);
  return sub_fn{}(y, stop_gradient(calque::max(y, axis<Axis>, keepdims, at), at), at);
}

template <int Axis>
struct log_softmax_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    if constexpr (has_array<X>) {
      return run_on_arrays(log_softmax_fn{}, x);
    } else {
      const auto y = shifted<Axis>(x, at);
      return sub_fn{}(y, calque::log(calque::sum(calque::exp(y, at), axis<Axis>, keepdims, at), at),
                      at);
    }
  }
};
template <int Axis>
struct softmax_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    if constexpr (has_array<X>) {
      return run_on_arrays(softmax_fn{}, x);
    } else {
      const auto e = calque::exp(shifted<Axis>(x, at), at);
      return div_fn{}(e, calque::sum(e, axis<Axis>, keepdims, at), at);
    }
  }
};

}  // namespace detail

/// exp(x) over its sum along one axis, of the shifted x - max(x), so that nothing overflows.
/// Integers are computed in double.
template <array_operand X, int A>
[[nodiscard]] constexpr auto softmax(const X& x, axis_t<A>, location at = here()) {
  return detail::softmax_fn<A>{}(x, at);
}
/// log(softmax(x)) along one axis, without forming the softmax; integers in double.
template <array_operand X, int A>
[[nodiscard]] constexpr auto log_softmax(const X& x, axis_t<A>, location at = here()) {
  return detail::log_softmax_fn<A>{}(x, at);
}

}  // namespace calque
