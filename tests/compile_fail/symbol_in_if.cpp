// A symbol has no value to branch on while tracing.
// expect: a symbolic value in a C\+\+ condition .*use cq::cond, cq::for_loop or cq::where
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace(
    [](auto x) { return cq::cond(cq::sum(x) > 0, [&] { return x; }, [&] { return -x; }); });
#else
constexpr auto f = cq::trace([](auto x) {
  if (cq::sum(x) > 0) return x;
  return -x;
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
