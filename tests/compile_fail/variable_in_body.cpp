// A variable is made once, outside, and passed as an argument (C098).
// expect: cq::trace\(f\): the compiler cannot run the body of f: functions that it calls must be
// expect: constexpr
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto v) { return x + v; });
#else
constexpr auto f = cq::trace([](auto x, auto) {
  const cq::variable<float, 0> v{cq::array<float, 0>{1.f}, "v"};
  (void)v;
  return x;
});
#endif

int main() {
  (void)f(cq::ones<float>(cq::shape{3}), cq::variable<float, 0>{cq::array<float, 0>{1.f}, "v"});
}
