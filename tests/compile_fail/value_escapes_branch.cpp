// A value made in a branch leaves it as the branch's result, not through a captured symbol.
// expect: a value made inside cq::cond or cq::for_loop is used outside it; return it
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  return cq::cond(cq::sum(x) > 0, [&] { return x * 2.f; }, [&] { return x * 3.f; });
});
#else
constexpr auto f = cq::trace([](auto x) {
  auto y = x;
  cq::cond(cq::sum(x) > 0, [&] { y = x * 2.f; }, [&] { y = x * 3.f; });
  return y;
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
