// Widths of padding count elements.
// expect: cq::pad\(x, \{\{before, after\}, ...\}\): a width is negative; .*cq::slice
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::pad(x, {{0, 1}}); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::pad(x, {{-1, 2}}); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
