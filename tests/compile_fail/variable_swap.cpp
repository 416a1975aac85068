// Handles of variables do not swap.
// expect: calque: w = e on a variable in a traced function would not write the variable, .*; write
// expect: w\.assign\(e\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto a, auto b) {
  auto was = a + 0;
  a.assign(b);
  b.assign(was);
});
#else
constexpr auto f = cq::trace([](auto a, auto b) { std::swap(a, b); });
#endif

int main() {
  f(cq::variable<float, 1>{cq::ones<float>(cq::shape{3})},
    cq::variable<float, 1>{cq::ones<float>(cq::shape{3})});
}
