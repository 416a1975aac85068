// An integer symbol does not take a floating number silently.
// expect: x op= y: y has a higher kind than x \(bool < integer < floating\) and would be
// expect: truncated; write x = cq::astype
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  x = cq::astype<int>(x + 2.5);
  return x;
});
#else
constexpr auto f = cq::trace([](auto x) {
  x += 2.5;
  return x;
});
#endif

int main() { (void)f(cq::arange<int>(3)); }
