// On the host a variable is written by assign.
// expect: calque: w op= e on a variable outside a traced function; write
// expect: w\.assign\(w\.value\(\) op e\)
#include <calque/calque.hpp>

namespace cq = calque;

int main() {
  const cq::variable<float, 1> w{cq::ones<float>(cq::shape{3})};
  const auto x = w.value();
#ifdef CALQUE_TWIN
  w.assign(w.value() + x);
#else
  w += x;
#endif
  (void)x;
}
