// An axis tag names each axis once.
// expect: cq::sum\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice; name each axis once
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::sum(x, cq::axis<0, 1>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::sum(x, cq::axis<1, -1>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3, 2})); }
