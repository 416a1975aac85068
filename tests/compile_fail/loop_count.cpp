// The number of steps is an integer.
// expect: cq::for_loop\(n, state, body\): n must be an integer scalar
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto y) {
  return cq::for_loop(cq::astype<int>(y), x, [](auto, auto s) { return s * 2; });
});
#else
constexpr auto f = cq::trace(
    [](auto x, auto y) { return cq::for_loop(y, x, [](auto, auto s) { return s * 2; }); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3}), 2.f); }
