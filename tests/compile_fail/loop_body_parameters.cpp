// A step is given its number and the state.
// expect: cq::for_loop\(n, state, body\): body must take the number of the step and the state
// expect: as in \[&\]\(auto i, auto s\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::for_loop(3, x, [&](auto, auto s) { return s + x; }); });
#else
constexpr auto f =
    cq::trace([](auto x) { return cq::for_loop(3, x, [&](auto s) { return s + x; }); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
