// Elementwise functions of floating types: exp, log, sqrt, tanh.
#pragma once

#include "calque/core/lane_math.hpp"
#include "calque/ops/arithmetic.hpp"

namespace calque {
namespace detail {

template <class T>
CALQUE_HD T scalar_sqrt(T x) {
  if constexpr (sizeof(T) == sizeof(float)) return __builtin_sqrtf(x);
  else return __builtin_sqrt(x);
}

}  // namespace detail
namespace op {

#define CALQUE_FLOATING_FUNCTION(NAME, SCALAR, RULE)                              \
  struct NAME {                                                                   \
    static constexpr char name[] = #NAME;                                         \
    static constexpr int arity = 1;                                               \
    template <class T>                                                            \
      requires std::is_floating_point_v<T>                                        \
    CALQUE_HD T operator()(T x) const {                                           \
      return SCALAR(x);                                                           \
    }                                                                             \
    template <class T, int W>                                                     \
    CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& x) {         \
      calque::lanes::NAME<T, W>(r, x);                                            \
    }                                                                             \
    static constexpr void gradient(gradient_rule& g) {                            \
      const value x = g.input(0), y = g.output(), dy = g.dy;                      \
      (void)x, (void)y;                                                           \
      g.flow(0, RULE);                                                            \
    }                                                                             \
  }
CALQUE_FLOATING_FUNCTION(exp, detail::scalar_exp, dy * y);
CALQUE_FLOATING_FUNCTION(log, detail::scalar_log, dy / x);
CALQUE_FLOATING_FUNCTION(sqrt, detail::scalar_sqrt, dy / (y + y));
CALQUE_FLOATING_FUNCTION(tanh, detail::scalar_tanh, dy * (g.number(1) - y * y));
#undef CALQUE_FLOATING_FUNCTION

}  // namespace op
}  // namespace calque

CALQUE_REGISTER(calque::op::exp);
CALQUE_REGISTER(calque::op::log);
CALQUE_REGISTER(calque::op::sqrt);
CALQUE_REGISTER(calque::op::tanh);
