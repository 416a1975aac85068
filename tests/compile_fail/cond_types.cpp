// Both branches return the same element types and ranks.
// expect: cq::cond\(p, then, else\): the branches return different types; cast with
// expect: cq::astype<\.\.\.> or reshape
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  return cq::cond(cq::max(x) > 0, [&] { return cq::sum(x); }, [&] { return cq::max(x); });
});
#else
constexpr auto f = cq::trace(
    [](auto x) { return cq::cond(cq::max(x) > 0, [&] { return x; }, [&] { return cq::max(x); }); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
