// Random numbers are floating.
// expect: cq::random::uniform<T>, normal<T>: T must be float or double
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
auto draw(const cq::rng& state) { return cq::random::uniform<float>(state, cq::shape{3}); }
#else
auto draw(const cq::rng& state) { return cq::random::uniform<int>(state, cq::shape{3}); }
#endif
constexpr auto f = cq::trace([](auto x) { return x; });

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
