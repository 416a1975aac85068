// A monoid without an identity.
// expect: functor F needs template <class T> static constexpr T identity\(\): what no elements
// combine to
#include <calque/calque.hpp>

namespace cq = calque;

struct longest {
  static constexpr char name[] = "longest";
#ifdef CALQUE_TWIN
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
#endif
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
CALQUE_REGISTER(longest);

constexpr auto f = cq::trace([](auto x) { return cq::accumulate<longest>(x, cq::axis<0>); });

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
