// Each axis once.
// expect: cq::sum, max, var, reduce<F>, ...\(x, cq::axis<...>\): cq::axis<...> names an axis
// twice; name each axis once
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::var(x, cq::axis<0>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::var(x, cq::axis<0, -1>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
