// Activation functions, each composed of other functions: relu, silu, gelu. Their derivatives
// follow.
#pragma once

#include "calque/trace/elementwise.hpp"

namespace calque {
namespace detail {

struct relu_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    if constexpr (has_array<X>) return run_on_arrays(relu_fn{}, x);
    else return where_fn{}(less_equal_fn{}(x, 0, at), 0, x, at);  // NaN is not below 0: it stays
  }
};
struct silu_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    if constexpr (has_array<X>) return run_on_arrays(silu_fn{}, x);
    else return mul_fn{}(x, sigmoid_fn{}(x, at), at);
  }
};
struct gelu_fn {
  template <class X>
  constexpr auto operator()(const X& x, location at = {}) const {
    if constexpr (has_array<X>) {
      return run_on_arrays(gelu_fn{}, x);
    } else {
      const auto y = astype_fn<type_of<floating(operand_traits<X>::type)>>{}(x, at);
      const auto z = erf_fn{}(mul_fn{}(y, 0.70710678118654752, at), at);
      return mul_fn{}(mul_fn{}(y, 0.5, at), add_fn{}(z, 1, at), at);
    }
  }
};

}  // namespace detail

/// x where it is positive, else 0; NaN stays NaN. The derivative at 0 is 0.
template <tensor X>
[[nodiscard]] constexpr auto relu(const X& x, location at = here()) {
  return detail::relu_fn{}(x, at);
}
/// x sigmoid(x), also called swish; integers in double.
template <tensor X>
[[nodiscard]] constexpr auto silu(const X& x, location at = here()) {
  return detail::silu_fn{}(x, at);
}
/// x Phi(x) with the normal distribution's Phi, by erf (D. Hendrycks, K. Gimpel 2016; not the tanh
/// approximation); integers in double.
template <tensor X>
[[nodiscard]] constexpr auto gelu(const X& x, location at = here()) {
  return detail::gelu_fn{}(x, at);
}

}  // namespace calque
