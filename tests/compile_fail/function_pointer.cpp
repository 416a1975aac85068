// A function of symbols is a type of its own, so that the compiler can run it.
// expect: cq::trace\(f\): f is a pointer to a function; wrap it: \[\]\(auto x\) \{ return f\(x\);
// \}
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto twice(cq::expr<float, 1> x) { return x + x; }

int main() {
#ifdef CALQUE_TWIN
  constexpr auto f = cq::trace([](auto x) { return twice(x); });
#else
  constexpr auto f = cq::trace(&twice);
#endif
  (void)f(cq::ones<float>(cq::shape{3}));
}
