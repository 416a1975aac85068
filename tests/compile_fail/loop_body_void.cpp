// A step returns the next state.
// expect: cq::for_loop\(n, state, body\): body returns nothing; return the state of the next step
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto w, auto x) {
  (void)cq::for_loop(3, x, [&](auto, auto s) {
    w += s;
    return s;
  });
});
#else
constexpr auto f =
    cq::trace([](auto w, auto x) { (void)cq::for_loop(3, x, [&](auto, auto s) { w += s; }); });
#endif

int main() {
  f(cq::variable<float, 1>{cq::ones<float>(cq::shape{3})}, cq::ones<float>(cq::shape{3}));
}
