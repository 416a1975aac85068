// An element of a view is a value, so assigning to it is the compiler's own error (C071).
// expect-g++: lvalue required as left operand of assignment
// expect-clang++: expression is not assignable
#include <calque/calque.hpp>

namespace cq = calque;

int main() {
#ifdef CALQUE_TWIN
  cq::array<float, 1> x{1, 2, 3};
  x(0) = 4;
#else
  cq::array<float, 1> x{1, 2, 3};
  auto v = cq::slice(x, cq::range{0, 2});
  v(0) = 4;
#endif
}
