// An array of bools chooses element by element.
// expect: cq::cond\(p, then, else\): p must be a bool scalar; .*cq::where\(p, a, b\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::where(x > 0, x, -x); });
#else
constexpr auto f =
    cq::trace([](auto x) { return cq::cond(x > 0, [&] { return x; }, [&] { return -x; }); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
