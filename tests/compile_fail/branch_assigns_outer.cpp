// A branch returns its value; it does not assign it to a symbol outside.
// expect: code inside cq::cond or cq::for_loop changes .* a symbol made outside it
// expect: return it from the branches
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  auto two = x * 2, three = x * 3;
  return cq::cond(cq::sum(x) > 0, [&] { return two; }, [&] { return three; });
});
#else
constexpr auto f = cq::trace([](auto x) {
  auto y = x, two = x * 2, three = x * 3;
  cq::cond(cq::sum(x) > 0, [&] { y = two; }, [&] { y = three; });
  return y;
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
