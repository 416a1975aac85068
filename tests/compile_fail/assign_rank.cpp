// A variable keeps its rank.
// expect: variable.assign\(e\): e has more axes than the variable; reduce e first
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto y) { y.assign(cq::sum(x, cq::axis<0>)); });
#else
constexpr auto f = cq::trace([](auto x, auto y) { y.assign(x); });
#endif

int main() {
#ifdef CALQUE_TWIN
  const cq::variable<float, 1> v{cq::shape{2}, "v"};
  f(cq::ones<float>(cq::shape{3, 2}), v);
#else
  const cq::variable<float, 1> v{cq::shape{2}, "v"};
  f(cq::ones<float>(cq::shape{3, 2}), v);
#endif
}
