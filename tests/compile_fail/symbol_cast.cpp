// A symbol does not convert to its element type.
// expect: reading a symbol's value: it is not known while tracing; .*cq::eager
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return x + cq::sum(x); });
#else
constexpr auto f = cq::trace([](auto x) { return x + static_cast<float>(cq::sum(x)); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
