// Both branches return something, or neither does.
// expect: cq::cond\(p, then, else\): one branch returns a value and the other does not
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace(
    [](auto x) { return cq::cond(cq::max(x) > 0, [&] { return x; }, [&] { return -x; }); });
#else
constexpr auto f = cq::trace([](auto x) { cq::cond(cq::max(x) > 0, [&] { return x; }, [] {}); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
