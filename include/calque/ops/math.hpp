// Elementwise functions of floating types: exp, log, sqrt, tanh.
#pragma once

#include "calque/core/lane_math.hpp"
#include "calque/ops/arithmetic.hpp"

namespace calque {
namespace detail {

// On a device CUDA's own functions, which have overloads for float and double; on the host ours.
#if CALQUE_ON_DEVICE()
#define CALQUE_CHOOSE(DEVICE, HOST) return DEVICE(x)
#else
#define CALQUE_CHOOSE(DEVICE, HOST) return HOST
#endif
template <class T>
CALQUE_HD T exp_of(T x) {
  CALQUE_CHOOSE(::exp, scalar_exp(x));
}
template <class T>
CALQUE_HD T log_of(T x) {
  CALQUE_CHOOSE(::log, scalar_log(x));
}
template <class T>
CALQUE_HD T tanh_of(T x) {
  CALQUE_CHOOSE(::tanh, scalar_tanh(x));
}
template <class T>
CALQUE_HD T sqrt_of(T x) {
  CALQUE_CHOOSE(::sqrt, (sizeof(T) == sizeof(float)
                             ? static_cast<T>(__builtin_sqrtf(static_cast<float>(x)))
                             : static_cast<T>(__builtin_sqrt(static_cast<double>(x)))));
}
#undef CALQUE_CHOOSE

}  // namespace detail
namespace op {

#define CALQUE_FLOATING_FUNCTION(NAME, SCALAR, RULE)                      \
  struct NAME {                                                           \
    static constexpr char name[] = #NAME;                                 \
    static constexpr int arity = 1;                                       \
    template <class T>                                                    \
      requires std::is_floating_point_v<T>                                \
    CALQUE_HD T operator()(T x) const {                                   \
      return SCALAR(x);                                                   \
    }                                                                     \
    template <class T, int W>                                             \
    CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& x) { \
      calque::lanes::NAME<T, W>(r, x);                                    \
    }                                                                     \
    static constexpr void gradient(gradient_rule& g) {                    \
      const value x = g.input(0), y = g.output(), dy = g.dy;              \
      (void)x, (void)y;                                                   \
      g.flow(0, RULE);                                                    \
    }                                                                     \
  }
CALQUE_FLOATING_FUNCTION(exp, detail::exp_of, dy* y);
CALQUE_FLOATING_FUNCTION(log, detail::log_of, dy / x);
CALQUE_FLOATING_FUNCTION(sqrt, detail::sqrt_of, dy / (y + y));
CALQUE_FLOATING_FUNCTION(tanh, detail::tanh_of, dy*(g.number(1) - y * y));
#undef CALQUE_FLOATING_FUNCTION

}  // namespace op
}  // namespace calque

CALQUE_REGISTER(calque::op::exp);
CALQUE_REGISTER(calque::op::log);
CALQUE_REGISTER(calque::op::sqrt);
CALQUE_REGISTER(calque::op::tanh);
