// A slice takes at most one range an axis.
// expect: cq::slice\(x, \.\.\.\): more ranges than x has axes
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::slice(x, cq::range{}, cq::range{1}); });
#else
constexpr auto f =
    cq::trace([](auto x) { return cq::slice(x, cq::range{}, cq::range{1}, cq::range{}); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
