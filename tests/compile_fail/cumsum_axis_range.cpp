// An axis that the operand does not have.
// expect: names an axis that the operand does not have
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<-1>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<1>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
