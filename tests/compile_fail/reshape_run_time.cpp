// A run-time number is no part of a plan, so no extent.
// expect: cq::shape\{\.\.\.\}: an extent must be made of x.extent\(i\), constants .* pass
// expect: cq::static_<n>
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto y) { return cq::reshape(x, cq::shape{y.value, 2}); });
#else
constexpr auto f = cq::trace([](auto x, auto y) { return cq::reshape(x, cq::shape{y, 2}); });
#endif

int main() {
#ifdef CALQUE_TWIN
  (void)f(cq::ones<float>(cq::shape{4}), cq::static_<2>);
#else
  (void)f(cq::ones<float>(cq::shape{4}), 2);
#endif
}
