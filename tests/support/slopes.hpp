// Derivatives against central differences, in double.
#pragma once

#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "support/reference.hpp"

namespace calque::test {

namespace detail {

template <class X>
[[nodiscard]] X own(const X& x) {
  return x;
}
template <class T, int R>
[[nodiscard]] array<std::remove_const_t<T>, R> own(const array<T, R>& x) {
  return x.clone();
}

/// Compares `got`, the derivative with respect to `x`, with differences of `value()`.
template <int R, class F>
void compare_slopes(const array<double, R>& got, array<double, R>& x, F value, double tolerance,
                    int argument) {
  CHECK_MESSAGE(got.shape() == x.shape(), "argument " << argument << ": the derivative has extents "
                                                      << to_string(got.shape()) << " instead of "
                                                      << to_string(x.shape()));
  if (got.shape() != x.shape()) return;
  const std::vector<double> slopes = got.to_vector();
  double* const to = x.data();
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const double old = to[i], h = 1e-5 * (1 + std::fabs(old));
    to[i] = old + h;
    const double above = value();
    to[i] = old - h;
    const double below = value();
    to[i] = old;
    const double expected = (above - below) / (2 * h);
    if (std::fabs(slopes[i] - expected) <= tolerance * (1 + std::fabs(expected))) continue;
    FAIL_CHECK("argument ", argument, ", element ", i, ": the derivative is ", slopes[i],
               " instead of ", expected);
    return;
  }
}

}  // namespace detail

/// Checks the derivatives of loss `f` at `args` with respect to arguments `W…`, arrays of double.
template <int... W, class F, class... A>
void check_slopes(F f, const A&... args) {
  const auto with_slopes = value_and_grad(f, wrt<W...>);
  std::tuple<decltype(detail::own(args))...> at{detail::own(args)...};
  const auto run = [&] {
    return std::apply([&](const auto&... x) { return with_slopes(x...); }, at);
  };
  const auto value = [&] { return static_cast<double>(run().value); };
  const auto r = run();
  if constexpr (sizeof...(W) == 1) {
    (detail::compare_slopes(r.grad, std::get<W>(at), value, 2e-7, W), ...);
  } else {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (detail::compare_slopes(std::get<K>(r.grad), std::get<W>(at), value, 2e-7, W), ...);
    }(std::make_index_sequence<sizeof...(W)>{});
  }
}

/// Numbers in [lo, hi), never within 1e-3 of a multiple of 1/4: clear of ties and kinks.
class between {
 public:
  between(double lo, double hi, std::uint64_t seed = 1) : random_(seed), range_(lo, hi) {}
  double operator()() {
    while (true) {
      const double v = range_(random_), quarter = v * 4 - std::round(v * 4);
      if (std::fabs(quarter) > 4e-3) return v;
    }
  }

 private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> range_;
};

}  // namespace calque::test
