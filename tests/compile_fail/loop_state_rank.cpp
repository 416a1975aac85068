// A loop's state keeps its element types and ranks from step to step.
// expect: cq::for_loop\(n, state, body\): body returns other types than the state has; cast with
// expect: cq::astype
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::for_loop(3, x, [](auto, auto s) { return s * 2; }); });
#else
constexpr auto f =
    cq::trace([](auto x) { return cq::for_loop(3, x, [](auto, auto s) { return cq::sum(s); }); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
