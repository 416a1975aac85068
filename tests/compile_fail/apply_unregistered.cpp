// A functor has to be registered by its name.
// expect: cq::apply<F>\(x\): F is not known: write CALQUE_REGISTER\(F\); at global scope
#include <calque/calque.hpp>

namespace cq = calque;

struct cube {
  static constexpr char name[] = "cube";
  template <class T>
  constexpr T operator()(T x) const {
    return x * x * x;
  }
};
#ifdef CALQUE_TWIN
CALQUE_REGISTER(cube);
#endif
constexpr auto f = cq::trace([](auto x) { return cq::apply<cube>(x); });

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
