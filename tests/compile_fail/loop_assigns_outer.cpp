// What changes from step to step is the state, also if nothing after the loop reads it.
// expect: a value made inside cq::cond or cq::for_loop is used outside it; .* carry it as the
// loop's expect: state, and use what cond or for_loop gives
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  auto r = cq::for_loop(3, std::tuple{cq::sum(x), x}, [](auto, auto s) {
    auto [y, t] = s;
    y = y + 1.f;
    return std::tuple{y, t * y};
  });
  return std::get<1>(r);
});
#else
constexpr auto f = cq::trace([](auto x) {
  auto y = cq::sum(x);
  return cq::for_loop(3, x, [&](auto, auto s) {
    y = y + 1.f;
    return s * y;
  });
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
