// A symbol that is used was given a value.
// expect: a symbol is used or returned before it was given a value; initialise it
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  decltype(x) y = x;
  return x + y;
});
#else
constexpr auto f = cq::trace([](auto x) {
  decltype(x) y;
  return x + y;
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
