// Elementwise functions of floating types: their functors, and their derivatives from the textbook.
//
// floor, ceil and round have none: they are steps, whose derivative is zero. What an infinite slope
// does beside a choice that was not taken is for passes/backward.hpp to settle.
#pragma once

#include "calque/core/lane_atan.hpp"
#include "calque/core/lane_erf.hpp"
#include "calque/core/lane_exp.hpp"
#include "calque/core/lane_math.hpp"
#include "calque/core/lane_pow.hpp"
#include "calque/core/lane_round.hpp"
#include "calque/core/lane_trig.hpp"
#include "calque/ops/select.hpp"

namespace calque {
namespace detail {

// On a device CUDA's own functions, which have overloads for float and double; on the host ours.
#if CALQUE_ON_DEVICE()
#define CALQUE_CHOOSE(DEVICE, HOST) return DEVICE
#else
#define CALQUE_CHOOSE(DEVICE, HOST) return HOST
#endif
#define CALQUE_ON_ONE(NAME, DEVICE)             \
  template <class T>                            \
  CALQUE_HD T NAME##_of(T x) {                  \
    CALQUE_CHOOSE(DEVICE, scalar_##NAME<T>(x)); \
  }
#define CALQUE_ON_TWO(NAME, DEVICE)                  \
  template <class T>                                 \
  CALQUE_HD T NAME##_of(T x, T y) {                  \
    CALQUE_CHOOSE(DEVICE, (scalar_##NAME<T>(x, y))); \
  }
CALQUE_ON_ONE(exp, ::exp(x))
CALQUE_ON_ONE(exp_nonpositive, ::exp(x))
CALQUE_ON_ONE(log, ::log(x))
CALQUE_ON_ONE(tanh, ::tanh(x))
CALQUE_ON_ONE(erf, ::erf(x))
CALQUE_ON_ONE(sin, ::sin(x))
CALQUE_ON_ONE(cos, ::cos(x))
CALQUE_ON_ONE(tan, ::tan(x))
CALQUE_ON_ONE(expm1, ::expm1(x))
CALQUE_ON_ONE(log1p, ::log1p(x))
CALQUE_ON_ONE(sigmoid, (x < T(0) ? ::exp(x) / (T(1) + ::exp(x)) : T(1) / (T(1) + ::exp(-x))))
CALQUE_ON_ONE(rsqrt, T(1) / ::sqrt(x))
CALQUE_ON_ONE(floor, ::floor(x))
CALQUE_ON_ONE(ceil, ::ceil(x))
CALQUE_ON_ONE(round, ::rint(x))
CALQUE_ON_TWO(pow, ::pow(x, y))
CALQUE_ON_TWO(atan2, ::atan2(x, y))
CALQUE_ON_TWO(fmod, ::fmod(x, y))
#undef CALQUE_ON_ONE
#undef CALQUE_ON_TWO
template <class T>
CALQUE_HD T sqrt_of(T x) {
  CALQUE_CHOOSE(::sqrt(x), (sizeof(T) == sizeof(float)
                                ? static_cast<T>(__builtin_sqrtf(static_cast<float>(x)))
                                : static_cast<T>(__builtin_sqrt(static_cast<double>(x)))));
}
#undef CALQUE_CHOOSE

}  // namespace detail
namespace op {

#define CALQUE_FLOATING_STEP(NAME)                                      \
  static constexpr char name[] = #NAME;                                 \
  static constexpr int arity = 1;                                       \
  template <class T>                                                    \
    requires std::is_floating_point_v<T>                                \
  CALQUE_HD T operator()(T x) const {                                   \
    return detail::NAME##_of(x);                                        \
  }                                                                     \
  template <class T, int W>                                             \
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& x) { \
    calque::lanes::NAME<T, W>(r, x);                                    \
  }
// `weight`: see lower/program.hpp.
#define CALQUE_FLOATING_FUNCTION(NAME, WEIGHT, RULE)         \
  struct NAME {                                              \
    CALQUE_FLOATING_STEP(NAME)                               \
    static constexpr int weight = WEIGHT;                    \
    static constexpr void gradient(gradient_rule& g) {       \
      const value x = g.input(0), y = g.output(), dy = g.dy; \
      (void)x, (void)y;                                      \
      g.flow(0, RULE);                                       \
    }                                                        \
  }
CALQUE_FLOATING_FUNCTION(exp, 2, dy* y);
// exp where a composed function knows that x <= 0: of x less the largest x
CALQUE_FLOATING_FUNCTION(exp_nonpositive, 2, dy* y);
CALQUE_FLOATING_FUNCTION(log, 2, dy / x);
CALQUE_FLOATING_FUNCTION(sqrt, 1, dy / (y + y));
CALQUE_FLOATING_FUNCTION(tanh, 2, dy*(g.number(1) - y * y));
CALQUE_FLOATING_FUNCTION(erf, 2, dy*(apply_op<exp>(-(x* x)) * g.number(0x1.20dd750429b6dp0)));
CALQUE_FLOATING_FUNCTION(tan, 2, dy*(y* y + g.number(1)));
CALQUE_FLOATING_FUNCTION(expm1, 2, dy*(y + g.number(1)));
CALQUE_FLOATING_FUNCTION(log1p, 2, dy / (x + g.number(1)));
CALQUE_FLOATING_FUNCTION(sigmoid, 2, dy*(y*(g.number(1) - y)));
CALQUE_FLOATING_FUNCTION(rsqrt, 1, dy*(y / x * g.number(-0.5)));
#undef CALQUE_FLOATING_FUNCTION

struct sin {
  CALQUE_FLOATING_STEP(sin)
  static constexpr int weight = 2;
  static constexpr void gradient(gradient_rule& g);
};
struct cos {
  CALQUE_FLOATING_STEP(cos)
  static constexpr int weight = 2;
  static constexpr void gradient(gradient_rule& g);
};
constexpr void sin::gradient(gradient_rule& g) { g.flow(0, g.dy * apply_op<cos>(g.input(0))); }
constexpr void cos::gradient(gradient_rule& g) { g.flow(0, -(g.dy * apply_op<sin>(g.input(0)))); }

struct floor {
  CALQUE_FLOATING_STEP(floor)
};
struct ceil {
  CALQUE_FLOATING_STEP(ceil)
};
struct round {
  CALQUE_FLOATING_STEP(round)
};
#undef CALQUE_FLOATING_STEP

#define CALQUE_FLOATING_PAIR(NAME)                                                           \
  static constexpr char name[] = #NAME;                                                      \
  static constexpr int weight = 2;                                                           \
  static constexpr int arity = 2;                                                            \
  template <class T>                                                                         \
    requires std::is_floating_point_v<T>                                                     \
  CALQUE_HD T operator()(T x, T y) const {                                                   \
    return detail::NAME##_of(x, y);                                                          \
  }                                                                                          \
  template <class T, int W>                                                                  \
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& x, const lane<T, W>& y) { \
    calque::lanes::NAME<T, W>(r, x, y);                                                      \
  }
struct pow {
  CALQUE_FLOATING_PAIR(pow)
  /// y x^(y-1), 0 where y is 0; x^y ln x, 0 where x is 0.
  static constexpr void gradient(gradient_rule& g) {
    const value x = g.input(0), y = g.input(1), zero = g.number(0), one = g.number(1);
    const value slope = g.dy * (y * apply_op<pow>(x, y - one));
    g.flow(0, apply_op<where>(apply_op<equal>(y, zero), zero, slope));
    const value base = apply_op<where>(apply_op<equal>(x, zero), one, x);
    g.flow(1, g.dy * (g.output() * apply_op<log>(base)));
  }
};
struct atan2 {
  CALQUE_FLOATING_PAIR(atan2)
  static constexpr void gradient(gradient_rule& g) {
    const value y = g.input(0), x = g.input(1), square = y * y + x * x;
    g.flow(0, g.dy * (x / square));
    g.flow(1, -(g.dy * (y / square)));
  }
};
struct fmod {
  CALQUE_FLOATING_PAIR(fmod)
  static constexpr void gradient(gradient_rule& g) {
    g.flow(0, g.dy);
    g.flow(1, -(g.dy * apply_op<round>((g.input(0) - g.output()) / g.input(1))));
  }
};
#undef CALQUE_FLOATING_PAIR

}  // namespace op
}  // namespace calque

CALQUE_REGISTER(calque::op::exp);
CALQUE_REGISTER(calque::op::exp_nonpositive);
CALQUE_REGISTER(calque::op::log);
CALQUE_REGISTER(calque::op::sqrt);
CALQUE_REGISTER(calque::op::tanh);
CALQUE_REGISTER(calque::op::erf);
CALQUE_REGISTER(calque::op::sin);
CALQUE_REGISTER(calque::op::cos);
CALQUE_REGISTER(calque::op::tan);
CALQUE_REGISTER(calque::op::expm1);
CALQUE_REGISTER(calque::op::log1p);
CALQUE_REGISTER(calque::op::sigmoid);
CALQUE_REGISTER(calque::op::rsqrt);
CALQUE_REGISTER(calque::op::floor);
CALQUE_REGISTER(calque::op::ceil);
CALQUE_REGISTER(calque::op::round);
CALQUE_REGISTER(calque::op::pow);
CALQUE_REGISTER(calque::op::atan2);
CALQUE_REGISTER(calque::op::fmod);
