// There is one out for each result.
// expect: f.into\(out, \.\.\.\): name one array for each result of f: cq::outs\(a, b\)
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x) { return std::tuple{x + 1, x - 1}; });

int main() {
#ifdef CALQUE_TWIN
  cq::array<float, 1> x{1, 2, 3}, a, b;
  f.into(cq::outs(a, b), x);
#else
  cq::array<float, 1> x{1, 2, 3}, a;
  f.into(a, x);
#endif
}
