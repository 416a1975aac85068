// Bounds in the wrong order.
// expect: cq::random::uniform<T>\(state, shape, lo, hi\): the bounds must be finite numbers, lo at
// most hi
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace(
    [](auto x, auto state) { return cq::random::uniform<float>(state, x.shape(), -1, 1); });
#else
constexpr auto f = cq::trace(
    [](auto x, auto state) { return cq::random::uniform<float>(state, x.shape(), 1, -1); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3}), cq::rng{1}); }
