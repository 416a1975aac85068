// Updates have no more axes than what take gives.
// expect: cq::scatter_add\(x, indices, updates, cq::axis<\.\.\.>\): updates have at most the axes
// of
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::scatter_add(x, 1, cq::sum(x, cq::axis<0>), cq::axis<0>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::scatter_add(x, 1, x, cq::axis<0>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
