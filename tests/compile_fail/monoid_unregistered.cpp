// A monoid that CALQUE_REGISTER has not seen.
// expect: register functor F once, at global scope after its definition: CALQUE_REGISTER\(F\);
#include <calque/calque.hpp>

namespace cq = calque;

struct longest {
  static constexpr char name[] = "longest";
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
#ifdef CALQUE_TWIN
CALQUE_REGISTER(longest);
#endif

constexpr auto f = cq::trace([](auto x) { return cq::reduce<longest>(x, cq::axis<0>); });

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
