// where selects by a bool.
// expect: cq::where\(p, a, b\): p must be bool: compare first, as in cq::where\(x > 0, a, b\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::where(x > 0, x, 0); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::where(x, x, 0); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
