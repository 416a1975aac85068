// One branch cannot use what the other computed.
// expect: a value made inside cq::cond or cq::for_loop is used outside it; return it
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  const auto y = x * 2.f;
  return cq::cond(cq::sum(x) > 0, [&] { return y; }, [&] { return y + 1.f; });
});
#else
constexpr auto f = cq::trace([](auto x) {
  auto y = x;
  return cq::cond(
      cq::sum(x) > 0,
      [&] {
        y = x * 2.f;
        return y;
      },
      [&] { return y + 1.f; });
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
