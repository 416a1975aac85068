// A negative deviation.
// expect: cq::random::normal<T>\(state, shape, mean, deviation\): deviation must be a number that
// is 0 or more
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x, auto state) { return cq::random::normal<float>(state, x.shape(), 5, 0); });
#else
constexpr auto f = cq::trace(
    [](auto x, auto state) { return cq::random::normal<float>(state, x.shape(), 5, -0.5); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3}), cq::rng{1}); }
