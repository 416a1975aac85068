// A function that returns nothing has no destination.
// expect: f.into\(out, \.\.\.\): f returns nothing; call it as f\(\.\.\.\)
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto v) { v += 1; });

int main() {
#ifdef CALQUE_TWIN
  const cq::variable<float, 1> v{cq::array<float, 1>{1, 2, 3}};
  f(v);
#else
  const cq::variable<float, 1> v{cq::array<float, 1>{1, 2, 3}};
  cq::array<float, 1> out;
  f.into(out, v);
#endif
}
