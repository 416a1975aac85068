// A view is not written through.
// expect: x op= y: x is a view or a read-only array; write to the array it views, or to
// expect: x.clone\(\)
#include <calque/calque.hpp>

namespace cq = calque;

int main() {
#ifdef CALQUE_TWIN
  cq::array<float, 1> x{1, 2, 3};
  x += 1;
#else
  cq::array<float, 1> x{1, 2, 3};
  cq::slice(x, cq::range{0, 2}) += 1;
#endif
}
