// A limit says its unit.
// expect: f.plan_limit\(count, bytes\): sizes are typed; write cq::bytes\{n\}, or 64_MiB
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x) { return x + 1; });

int main() {
#ifdef CALQUE_TWIN
  f.plan_limit(8, cq::bytes{1 << 20});
#else
  f.plan_limit(8, 1 << 20);
#endif
}
