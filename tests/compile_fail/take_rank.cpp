// The result of take has at most 8 axes.
// expect: cq::take\(x, indices, cq::axis<\.\.\.>\): the result, .*must have rank 0 to 8
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace(
    [](auto x) { return cq::take(x, cq::astype<int>(cq::sum(x, cq::axis<0>)), cq::axis<0>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::take(x, cq::astype<int>(x), cq::axis<0>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{1, 1, 1, 1, 1})); }
