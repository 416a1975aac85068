// broadcast_to adds axes and takes none away.
// expect: cq::broadcast_to\(x, shape\): the shape has fewer axes than x; reduce x first
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::broadcast_to(x, cq::shape{4, 3, 2}); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::broadcast_to(x, cq::shape{2}); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3, 2})); }
