// wrt names arguments of the call.
// expect: cq::value_and_grad\(f, cq::wrt<\.\.\.>\): wrt names an argument that the call lacks
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto loss = [](auto x) { return cq::sum(x * x); };

int main() {
#ifdef CALQUE_TWIN
  (void)cq::grad(loss, cq::wrt<0>)(cq::ones<float>(cq::shape{3}));
#else
  (void)cq::grad(loss, cq::wrt<1>)(cq::ones<float>(cq::shape{3}));
#endif
}
