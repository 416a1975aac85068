// A symbol has no elements to take out.
// expect: calque: x\[i\] on a symbol: its elements are not known while tracing; select
// expect: with cq::where, or pass the part
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace(
    [](auto x) { return cq::sum(cq::where(cq::arange<int>(x.extent(0), x) == 0, x, 0)); });
#else
constexpr auto f = cq::trace([](auto x) { return x[0]; });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
