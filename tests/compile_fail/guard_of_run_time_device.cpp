// A device of the program is no constant: it is passed as an argument.
// expect: cq::trace\(f\): the compiler cannot run the body of f
// expect: run-time numbers and devices as arguments
#include <calque/calque.hpp>

namespace cq = calque;

const cq::device chosen = cq::cpu();

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto d) {
  const cq::device_guard on{d, x};
  return x + 1.f;
});
int main() { (void)f(cq::ones<float>(cq::shape{3}), chosen); }
#else
constexpr auto f = cq::trace([](auto x) {
  const cq::device_guard on{chosen};
  return x + 1.f;
});
int main() { (void)f(cq::ones<float>(cq::shape{3})); }
#endif
