// What a caller has locked, no callee overrides.
// expect: cq::device_guard g\{d, x\}: it names another device than cq::lock_device around it allows
// expect: remove one of the two
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x) {
  const cq::lock_device all{cq::gpu(0), x};
#ifdef CALQUE_TWIN
  const cq::device_guard on{cq::gpu(0), x};
#else
  const cq::device_guard on{cq::gpu(1), x};
#endif
  return x + 1.f;
});

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
