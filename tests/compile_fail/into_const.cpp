// A const array is no destination.
// expect: f.into\(out, \.\.\.\): out is a read-only array or a view; pass a writable array
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x) { return x + 1; });

int main() {
#ifdef CALQUE_TWIN
  cq::array<float, 1> x{1, 2, 3}, out;
  f.into(cq::outs(out), x);
#else
  const cq::array<float, 1> x{1, 2, 3}, out;
  f.into(cq::outs(out), x);
#endif
}
