// Floating operands have no bits to join.
// expect: x & y, .*take integers and bool: compare floating operands first, as in \(x > 0\) & \(y >
// 0\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return (x > 0) & (x < 1); });
#else
constexpr auto f = cq::trace([](auto x) { return x & (x < 1); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
