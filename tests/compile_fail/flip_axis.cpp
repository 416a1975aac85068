// flip reverses axes that exist.
// expect: cq::flip\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::flip(x, cq::axis<-2>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::flip(x, cq::axis<2>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
