// An integer array does not take a floating number silently.
// expect: x op= y: y has a higher kind than x \(bool < integer < floating\) and would be
// expect: truncated; write x = cq::astype
#include <calque/calque.hpp>

namespace cq = calque;

int main() {
#ifdef CALQUE_TWIN
  cq::array<int, 1> x{1, 2};
  x = cq::astype<int>(x + 2.5);
#else
  cq::array<int, 1> x{1, 2};
  x += 2.5;
#endif
}
