// Random numbers need a generator.
// expect: cq::random::uniform<T>\(state, shape\): the first argument must be a cq::rng, or its
// symbol in a traced function
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
auto draw(const cq::rng& state) { return cq::random::uniform<float>(state, cq::shape{3}); }
#else
auto draw(int state) { return cq::random::uniform<float>(state, cq::shape{3}); }
#endif
constexpr auto f = cq::trace([](auto x) { return x; });

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
