// Derivatives are taken with respect to floating arguments.
// expect: cq::grad\(f, wrt\): an argument that derivatives are taken with respect to must be
// expect: floating; cast it
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto loss = [](auto x) { return cq::sum(x * 0.5); };

int main() {
#ifdef CALQUE_TWIN
  (void)cq::grad(loss)(cq::ones<double>(cq::shape{3}));
#else
  (void)cq::grad(loss)(cq::arange<int>(3));
#endif
}
