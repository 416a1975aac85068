// The predicate is a bool scalar.
// expect: cq::cond\(p, then, else\): p must be a bool scalar; compare, and reduce
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace(
    [](auto x) { return cq::cond(cq::max(x) > 0, [&] { return x; }, [&] { return -x; }); });
#else
constexpr auto f =
    cq::trace([](auto x) { return cq::cond(cq::max(x), [&] { return x; }, [&] { return -x; }); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
