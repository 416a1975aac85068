// A symbol's elements are not known while tracing (C086).
// expect: reading a symbol's value: it is not known while tracing; .*cq::eager
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return x + 1; });
#else
constexpr auto f = cq::trace([](auto x) { return x + x(0); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
