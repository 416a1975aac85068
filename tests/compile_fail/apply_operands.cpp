// A functor takes as many operands as it is applied to.
// expect: cq::apply<F>\(x, ...\): F cannot be called with so many operands of their common element
// type
#include <calque/calque.hpp>

namespace cq = calque;

struct cube {
  static constexpr char name[] = "cube";
  template <class T>
  constexpr T operator()(T x) const {
    return x * x * x;
  }
};
CALQUE_REGISTER(cube);
#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::apply<cube>(x); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::apply<cube>(x, 2); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
