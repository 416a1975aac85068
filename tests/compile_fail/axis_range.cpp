// An axis tag names an axis that is there.
// expect: cq::sum\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have; axes
// count from 0 to expect: rank - 1
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::sum(x, cq::axis<0>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::sum(x, cq::axis<1>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
