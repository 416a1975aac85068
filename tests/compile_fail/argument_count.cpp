// A call gives as many arguments as the body has parameters.
// expect: cq::trace\(f\): f cannot be called with these arguments: their number or their types
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x, auto y) { return x + y; });

int main() {
#ifdef CALQUE_TWIN
  const auto x = cq::ones<float>(cq::shape{3});
  (void)f(x, x);
#else
  const auto x = cq::ones<float>(cq::shape{3});
  (void)f(x);
#endif
}
