// A view is no destination.
// expect: f.into\(out, \.\.\.\): out is a read-only array or a view; pass a writable array
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x) { return x + 1; });

int main() {
#ifdef CALQUE_TWIN
  cq::array<float, 1> x{1, 2, 3}, out;
  f.into(out, x);
#else
  cq::array<float, 1> x{1, 2, 3};
  auto out = cq::slice(x, cq::range{0, 3});
  f.into(out, x);
#endif
}
