// A loop belongs to a trace: its count or its state is a symbol.
// expect: cq::for_loop\(n, state, body\): neither n nor the state is a symbol; start from one of
// expect: cq::for_loop\(n, cq::sum\(x\) \* 0, body\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::for_loop(3, x, [&](auto, auto s) { return s + x; }); });
#else
constexpr auto f = cq::trace(
    [](auto x) { return cq::for_loop(3, 0.f, [&](auto, auto s) { return s + cq::sum(x); }); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
