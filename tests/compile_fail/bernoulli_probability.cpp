// A literal that is no probability.
// expect: cq::random::bernoulli\(state, shape, p\): p must be a probability, a number from 0 to 1
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x, auto state) { return cq::random::bernoulli(state, x.shape(), 1); });
#else
constexpr auto f =
    cq::trace([](auto x, auto state) { return cq::random::bernoulli(state, x.shape(), -1); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3}), cq::rng{1}); }
