// An integer scalar does not take a floating number silently.
// expect: x op= y: y has a higher kind than x \(bool < integer < floating\) and would be
// expect: truncated; write x = cq::astype
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto y) {
  y += 2;
  return x * y;
});
#else
constexpr auto f = cq::trace([](auto x, auto y) {
  y += 2.5;
  return x * y;
});
#endif

int main() { (void)f(cq::arange<int>(3), 3); }
