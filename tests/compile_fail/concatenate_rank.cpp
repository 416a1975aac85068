// Operands of concatenate have one rank.
// expect: cq::concatenate<axis>\(x, y, \.\.\.\): the operands must have as many axes as each other
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::concatenate<0>(x, x); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::concatenate<0>(x, cq::sum(x, cq::axis<0>)); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
