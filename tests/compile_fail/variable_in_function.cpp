// On the host array functions take the value of a variable.
// expect: a variable in an operation outside a traced function; use its present value v.value\(\)
#include <calque/calque.hpp>

namespace cq = calque;

int main() {
  const cq::variable<float, 1> w{cq::ones<float>(cq::shape{3})};
  const auto x = w.value();
#ifdef CALQUE_TWIN
  (void)cq::exp(w.value());
#else
  (void)cq::exp(w);
#endif
  (void)x;
}
