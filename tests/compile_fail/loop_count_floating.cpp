// Steps are counted in integers.
// expect: cq::for_loop\(n, state, body\): n must be an integer scalar, .*; convert it first
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::for_loop(2, x, [&](auto, auto s) { return s + x; }); });
#else
constexpr auto f =
    cq::trace([](auto x) { return cq::for_loop(2.5, x, [&](auto, auto s) { return s + x; }); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
