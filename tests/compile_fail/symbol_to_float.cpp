// An implicit conversion would make built-in operators compete with the symbol's, so there is none,
// and the text is the compiler's own: it names the symbol and the number.
// expect-g++: cannot convert 'calque::expr<float, 0>' to 'float' in initialization
// expect-clang++: no viable conversion from 'expr<.* to 'float'
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  auto v = cq::sum(x);
  return x + v;
});
#else
constexpr auto f = cq::trace([](auto x) {
  float v = cq::sum(x);
  return x + v;
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
