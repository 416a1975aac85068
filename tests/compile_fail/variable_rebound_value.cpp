// A variable is written by assign, not by =.
// expect: calque: w = e on a variable in a traced function would not write the variable, .*; write
// expect: w\.assign\(e\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto w, auto x) { w.assign(w + x); });
#else
constexpr auto f = cq::trace([](auto w, auto x) { w = w + x; });
#endif

int main() {
  f(cq::variable<float, 1>{cq::ones<float>(cq::shape{3})}, cq::ones<float>(cq::shape{3}));
}
