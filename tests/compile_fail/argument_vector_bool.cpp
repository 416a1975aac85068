// std::vector<bool> has no elements to point at; an array of bool has.
// expect: cq::trace\(f\): f was called with an argument of unsupported type; pass arrays,
// expect: variables, numbers
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto p) { return cq::where(p, 1, 2); });

int main() {
#ifdef CALQUE_TWIN
  const std::vector<bool> v{true, false};
  (void)f(cq::array<bool, 1>{v});
#else
  const std::vector<bool> v{true, false};
  (void)f(v);
#endif
}
