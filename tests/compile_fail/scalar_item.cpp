// A scalar symbol's value is not known while tracing.
// expect: reading a symbol's value: it is not known while tracing; .*cq::eager
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto y) { return x + y; });
#else
constexpr auto f = cq::trace([](auto x, auto y) { return x + y.item(); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3}), 1.f); }
