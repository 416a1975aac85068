// A running sum has one axis.
// expect: cq::cumsum\(x, cq::axis<...>\): it runs along one axis; name one, as in cq::cumsum\(x,
// cq::axis<0>\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<0>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<0, 1>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
