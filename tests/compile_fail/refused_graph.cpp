// A call that is refused may leave a trace that breaks rules: no pass is blamed for it, and what
// went wrong is said first.
// expect: cq::for_loop\(n, state, body\): body returns other types than the state has
// never: internal error
#include <calque/calque.hpp>

namespace cq = calque;

constexpr auto f = cq::trace([](auto x) {
  return cq::for_loop(3, x, [](auto, auto s) {
#ifdef CALQUE_TWIN
    return s * 2;
#else
    return cq::astype<int>(s * 2);
#endif
  });
});

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
