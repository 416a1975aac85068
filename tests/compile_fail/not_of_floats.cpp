// Not is for bool.
// expect: !x takes bool: compare first, or use cq::logical_not\(x\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::logical_not(x); });
#else
constexpr auto f = cq::trace([](auto x) { return !x; });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
