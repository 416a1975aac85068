// State reaches a traced function as an argument, not by capture.
// expect: cq::trace\(f\): f must be captureless; pass state as an argument of the traced function
#include <calque/calque.hpp>

namespace cq = calque;

int main() {
#ifdef CALQUE_TWIN
  const float k = 2;
  (void)cq::trace([](auto x, auto a) { return a * x; })(cq::ones<float>(cq::shape{3}), k);
#else
  const float k = 2;
  (void)cq::trace([k](auto x) { return k * x; })(cq::ones<float>(cq::shape{3}));
#endif
}
