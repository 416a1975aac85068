// A symbol has no value to loop on while tracing.
// expect: a symbolic value in a C\+\+ condition .*use cq::cond, cq::for_loop or cq::where
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace(
    [](auto x, auto n) { return cq::for_loop(n, x, [](auto, auto s) { return s * 2; }); });
#else
constexpr auto f = cq::trace([](auto x, auto n) {
  while (n > 0) {
    x *= 2;
    n -= 1;
  }
  return x;
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3}), 3); }
