// transpose names each axis once.
// expect: cq::transpose<\.\.\.>\(x\): name each axis of x once
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::transpose<1, 0>(x); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::transpose<1, 1>(x); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3, 2})); }
