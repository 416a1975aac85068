// concatenate takes an axis that exists.
// expect: cq::concatenate<axis>\(x, y, \.\.\.\): no such axis; axes count from 0 to rank - 1
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::concatenate<-2>(x, x); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::concatenate<2>(x, x); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
