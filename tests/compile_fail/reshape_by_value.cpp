// The value of an array is no part of a plan, so no extent.
// expect: cq::shape\{\.\.\.\}: an extent must be made of x.extent\(i\), constants .* pass
// expect: cq::static_<n>
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::reshape(x, cq::shape{x.size(), 1}); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::reshape(x, cq::shape{cq::sum(x), 1}); });
#endif

int main() { (void)f(cq::arange<int>(3)); }
