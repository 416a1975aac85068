// A value that changes from step to step is the loop's state, in a differentiated loss too.
// expect: a value made inside cq::cond or cq::for_loop is used outside it; return it
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto loss = [](auto x) {
  return cq::for_loop(3, cq::sum(x), [&](auto, auto s) { return s * s; });
};
#else
constexpr auto loss = [](auto x) {
  auto y = cq::sum(x);
  cq::for_loop(3, cq::sum(x), [&](auto, auto s) {
    y = s * s;
    return s;
  });
  return y;
};
#endif

int main() { (void)cq::grad(loss)(cq::ones<float>(cq::shape{3})); }
