// A traced function takes arrays, variables, numbers, and trees of these.
// expect: cq::trace\(f\): f was called with an argument of unsupported type; pass arrays,
// expect: variables, numbers
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x, auto) { return x; });

int main() {
#ifdef CALQUE_TWIN
  (void)f(cq::ones<float>(cq::shape{3}), 1);
#else
  (void)f(cq::ones<float>(cq::shape{3}), std::string("one"));
#endif
}
