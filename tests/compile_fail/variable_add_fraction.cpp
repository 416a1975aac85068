// An integer variable does not take a floating number silently.
// expect: w op= y: y has a higher kind than variable w \(bool < integer < floating\) and would be
// expect: truncated; write w.assign\(cq::astype<...>\(w op y\)\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { x += 2; });
#else
constexpr auto f = cq::trace([](auto x) { x += 2.5; });
#endif

int main() {
#ifdef CALQUE_TWIN
  f(cq::variable<int, 1>{cq::arange<int>(3)});
#else
  f(cq::variable<int, 1>{cq::arange<int>(3)});
#endif
}
