// An index is an integer.
// expect: cq::take\(x, i, cq::axis<0>\), scatter_add: an index must be an integer
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::take(x, 1, cq::axis<0>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::take(x, 1.0, cq::axis<0>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
