// into and plan refuse what a call refuses.
// expect: cq::trace\(f\): f was called with an argument of unsupported type; pass arrays,
// expect: variables, numbers
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x, auto) { return x + 1; });

int main() {
#ifdef CALQUE_TWIN
  cq::array<float, 1> out;
  f.into(out, cq::ones<float>(cq::shape{3}), 2.0);
#else
  cq::array<float, 1> out;
  f.into(out, cq::ones<float>(cq::shape{3}), 2.0L);
#endif
}
