// A step does not change what was made before the loop.
// expect: code inside cq::cond or cq::for_loop changes .* a symbol made outside it
// expect: carry it as the loop's state, return it from the branches, or change a copy
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  auto y = cq::sum(x);
  return cq::for_loop(3, x, [&](auto, auto s) {
    auto t = y;
    t += 1.f;
    return s * t;
  });
});
#else
constexpr auto f = cq::trace([](auto x) {
  auto y = cq::sum(x);
  return cq::for_loop(3, x, [&](auto, auto s) {
    y += 1.f;
    return s * y;
  });
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
