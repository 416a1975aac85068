// No integer type holds both int64 and uint64.
// expect: cq::scatter_add\(x, indices, updates, axis\): no integer type holds both int64 and uint64
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace(
    [](auto x) { return cq::scatter_add(cq::astype<std::int64_t>(x), 1, 2, cq::axis<0>); });
#else
constexpr auto f = cq::trace([](auto x) {
  return cq::scatter_add(cq::astype<std::int64_t>(x), 1,
                         cq::astype<std::uint64_t>(cq::sum(x, cq::axis<0>)), cq::axis<0>);
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
