// cq::max of two arrays is cq::maximum.
// expect: cq::max\(a, b\): .*cq::maximum\(a, b\), for one axis cq::max\(a, cq::axis<1>\)
#include <calque/calque.hpp>

namespace cq = calque;

int main() {
  const cq::variable<float, 1> w{cq::ones<float>(cq::shape{3})};
  const auto x = w.value();
#ifdef CALQUE_TWIN
  (void)cq::maximum(x, x);
#else
  (void)cq::max(x, x);
#endif
  (void)x;
}
