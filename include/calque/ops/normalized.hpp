// What a normalisation of rows is made of beside plain arithmetic: a power of two that brings a row
// to magnitude 1, variances that rounding does not spoil, and a value with the derivative of a
// whole normalisation.
//
// Separate from ops/math.hpp because no public function is one of these. trace/composed.hpp builds
// `layer_norm` of them.
#pragma once

#include "calque/core/lane_format.hpp"
#include "calque/ops/reduce.hpp"

namespace calque {
namespace lanes {

/// r = 2^-e where 2^e <= x < 2^(e + 1), for x >= 0; no less than the least normal number, and no
/// more than a square root of the largest takes twice.
template <class T, int W>
CALQUE_INLINE void to_unit(lane<T, W>& r, const lane<T, W>& x) {
  using format = detail::floating_format<T>;
  using S = detail::mask_of<T>;
  constexpr S one = S{1} << format::fraction_bits, bias = static_cast<S>(format::bias);
  constexpr S most = (sizeof(T) == sizeof(float) ? 2 * bias : bias + 500) * one;
  lane<S, W> low, high;
  low = lane<S, W>{} + one;
  high = lane<S, W>{} + most;
  const lane<S, W> exponent = (lane<S, W>)x & ~static_cast<S>(format::fraction);
  lane<S, W> bits = 2 * bias * one - exponent;
  bits = bits < low ? low : bits;
  r = (lane<T, W>)(bits > high ? high : bits);
}

}  // namespace lanes

namespace detail {

CALQUE_LANE_TWIN(to_unit)
#if CALQUE_ON_DEVICE()
template <class T>
CALQUE_HD T to_unit_of(T x) {
  int e = 0;
  (void)::frexp(x, &e);
  constexpr int least = sizeof(T) == sizeof(float) ? -126 : -1022;
  constexpr int most = sizeof(T) == sizeof(float) ? 127 : 500;
  const int n = x < T(0) || x > T(0) ? 1 - e : x == T(0) ? most : least;
  return static_cast<T>(::ldexp(T(1), n < least ? least : n > most ? most : n));
}
#else
template <class T>
T to_unit_of(T x) {
  return scalar_to_unit<T>(x);
}
#endif

}  // namespace detail

namespace op {

struct to_unit {
  static constexpr char name[] = "to_unit";
  static constexpr int arity = 1, cost = 2;
  template <class T>
    requires std::is_floating_point_v<T>
  CALQUE_HD T operator()(T x) const {
    return detail::to_unit_of(x);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& x) {
    calque::lanes::to_unit<T, W>(r, x);
  }
};

/// a - b^2, the variance of which a is a mean of squares and b the mean; 0 where that is rounding
/// alone, as of equal numbers.
struct spread {
  static constexpr char name[] = "spread";
  static constexpr int arity = 2, cost = 3;
  template <class T>
    requires std::is_floating_point_v<T>
  CALQUE_HD constexpr T operator()(T a, T b) const {
    const T square = b * b, rest = a - square;
    return rest > square * noise<T> || rest != rest ? rest : T(0);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
    using S = calque::lanes::detail::mask_of<T>;
    const lane<T, W> square = b * b, rest = a - square, none{};
    r = (lane<S, W>)(rest <= square * noise<T>) ? none : rest;
  }
  static constexpr void gradient(gradient_rule& g) {
    g.flow(0, g.dy);
    g.flow(1, -(g.dy * (g.input(1) + g.input(1))));
  }

 private:
  template <class T>
  static constexpr T noise = 8 * std::numeric_limits<T>::epsilon();
};

/// Its first operand: (x - mean(x)) / s, however that was computed, with x and 1 / s as the others,
/// s the root of the mean square and maybe a constant; means over the axes where s has extent 1.
/// The derivative is that of the definition, in a third of the operations that following every step
/// of a careful computation takes.
struct normalized {
  static constexpr char name[] = "normalized";
  static constexpr int arity = 3, cost = 0;
  template <class T>
    requires std::is_floating_point_v<T>
  CALQUE_HD constexpr T operator()(T h, T, T) const {
    return h;
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& h, const lane<T, W>&,
                                  const lane<T, W>&) {
    r = h;
  }
  static constexpr void gradient(gradient_rule& g) {
    const value h = g.output(), inverse = g.input(2);
    const node n = inverse.info();
    unsigned mask = 0;
    for (int i = 0; i < n.rank; ++i)
      if (g.b.literal_dim(1) == n.dims[i]) mask |= 1u << i;
    const value count = {
        &g.b, detail::build_cast(g.b, detail::build_count(g.b, h.id, mask), g.dy.type())};
    const auto mean = [&](value v) {
      return value{&g.b, detail::build_reduction<sum>(g.b, v.id, mask, true, v.type())} / count;
    };
    g.flow(1, (g.dy - mean(g.dy) - h * mean(g.dy * h)) * inverse);
  }
};

}  // namespace op
}  // namespace calque

CALQUE_REGISTER(calque::op::to_unit);
CALQUE_REGISTER(calque::op::spread);
CALQUE_REGISTER(calque::op::normalized);
