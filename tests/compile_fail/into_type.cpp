// An out has the element type of its result.
// expect: f.into\(out, \.\.\.\): an out has another element type or rank than f's result;
// expect: declare it
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x) { return x + 1; });

int main() {
#ifdef CALQUE_TWIN
  cq::array<float, 1> x{1, 2, 3}, out;
  f.into(out, x);
#else
  cq::array<float, 1> x{1, 2, 3};
  cq::array<double, 1> out;
  f.into(out, x);
#endif
}
