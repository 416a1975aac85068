// An axis is a tag.
// expect: cq::sum\(x, 1\): the axis must be a constant of the program: write
// expect: cq::sum\(x, cq::axis<1>\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::sum(x, cq::axis<0>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::sum(x, 0); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
