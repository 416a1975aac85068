// Outside a trace there is no loop.
// expect: cq::for_loop\(n, state, body\): the state holds a real array or variable; call it inside
// expect: inside a traced function
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::for_loop(2, x, [](auto, auto s) { return s * 2; }); });
#else
inline auto f(cq::array<float, 1> x) {
  return cq::for_loop(2, x, [](auto, auto s) { return s * 2; });
}
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
