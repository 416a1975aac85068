// A pointer has no extents: borrow gives it some.
// expect: cq::trace\(f\): f was called with an argument of unsupported type; pass arrays,
// expect: variables, numbers
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x) { return x + 1; });

int main() {
#ifdef CALQUE_TWIN
  const float values[] = {1, 2, 3};
  (void)f(cq::borrow(values, cq::shape{3}));
#else
  const float values[] = {1, 2, 3};
  (void)f(values);
#endif
}
