// max_pool2d takes rows and columns.
// expect: cq::max_pool2d\(x, window\): x must have rank 2 to 6, rows and columns last
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::max_pool2d(x, {1, 2}); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::max_pool2d(cq::sum(x, cq::axis<0>), 2); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
