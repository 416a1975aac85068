// Branches are functions; of two values where chooses.
// expect: cq::cond\(p, then, else\): then and else must be functions without parameters, as in
// expect: for two values use cq::where\(p, a, b\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace(
    [](auto x) { return cq::cond(cq::sum(x) > 0, [&] { return x; }, [&] { return -x; }); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::cond(cq::sum(x) > 0, x, -x); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
