// conv2d takes images and filters of rank 4.
// expect: cq::conv2d\(x, w\): x must have rank 4 \(images, channels, rows, columns\), w rank 4
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::conv2d(x, x, 1, 1); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::conv2d(x, cq::sum(x, cq::axis<0>), 1, 1); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{1, 2, 3, 3})); }
