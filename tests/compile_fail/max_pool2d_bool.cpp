// max_pool2d takes numbers.
// expect: cq::max_pool2d\(x, window\): x is bool; use cq::astype first
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::max_pool2d(x, 2); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::max_pool2d(x > 1, 2); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
