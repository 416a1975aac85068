// One training step of softmax regression, as bench_networks and bench_debug run it.
#pragma once

#include <calque/calque.hpp>

namespace bench {

template <template <class, int> class A>
struct softmax_model {
  A<float, 2> w;
  A<float, 1> b;
};

inline constexpr auto regression_loss = [](auto m, auto x, auto labels) {
  return calque::cross_entropy(calque::matmul(x, m.w) + m.b, labels);
};
inline constexpr auto regression_step = calque::trace([](auto m, auto x, auto labels, auto rate) {
  auto r = calque::value_and_grad(regression_loss, calque::wrt<0>)(m, x, labels);
  m.w -= rate * r.grad.w;
  m.b -= rate * r.grad.b;
  return r.value;
});

}  // namespace bench
