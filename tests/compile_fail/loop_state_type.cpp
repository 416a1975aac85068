// A loop's state keeps its element types: an integer state does not become floating.
// expect: cq::for_loop\(n, state, body\): body returns other types than the state has; cast with
// expect: cq::astype
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  return cq::for_loop(x.extent(0), 1,
                      [&](auto, auto s) { return s + cq::astype<int>(cq::sum(x)); });
});
#else
constexpr auto f = cq::trace([](auto x) {
  return cq::for_loop(x.extent(0), 1, [&](auto, auto s) { return s + cq::sum(x); });
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
