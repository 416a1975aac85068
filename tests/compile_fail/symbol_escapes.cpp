// A symbol means nothing outside its trace, so a body cannot keep it (C086).
// expect: cq::trace\(f\): the compiler cannot run the body of f
// expect: read run-time objects
#include <calque/calque.hpp>

namespace cq = calque;

cq::expr<float, 1> kept;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return std::tuple{x + 1, x}; });
#else
constexpr auto f = cq::trace([](auto x) {
  kept = x;
  return x + 1;
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
