// A guard in a body belongs to a trace, which a symbol names.
// expect: cq::trace\(f\): the compiler cannot run the body of f
// expect: give guards a symbol: cq::device_guard g\{cq::gpu\(0\), x\}
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x) {
#ifdef CALQUE_TWIN
  const cq::device_guard on{cq::gpu(0), x};
#else
  const cq::device_guard on{cq::gpu(0)};
#endif
  return x + 1.f;
});

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
