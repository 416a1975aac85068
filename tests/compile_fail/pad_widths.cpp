// pad takes a pair for each axis.
// expect: cq::pad\(x, \{\{before, after\}, \.\.\.\}\): give one pair of widths for each axis of x
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::pad(x, {{1, 0}, {0, 2}}); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::pad(x, {{1, 0}}); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
