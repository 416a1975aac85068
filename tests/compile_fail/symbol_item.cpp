// A symbol's value is not known while tracing.
// expect: reading a symbol's value: it is not known while tracing; .*cq::eager
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return x + cq::max(x); });
#else
constexpr auto f = cq::trace([](auto x) { return x + x.item(); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
