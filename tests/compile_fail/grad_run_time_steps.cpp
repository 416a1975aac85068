// A derivative records the states of a loop, so their number must be known when planning.
// expect: cq::grad\(f\): a derivative passes through cq::for_loop\(n, ...\) whose n is a run-time
// number; pass n as cq::static_<n>
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = [](auto x, auto n) {
  return cq::sum(cq::for_loop(n, x, [](auto, auto s) { return s * s; }));
};

int main() {
  const auto x = cq::ones<float>(cq::shape{3});
#ifdef CALQUE_TWIN
  (void)cq::grad(f)(x, cq::static_<4>);
#else
  (void)cq::grad(f)(x, 4);
#endif
}
