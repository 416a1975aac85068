// A callee that is a function template is constexpr.
// expect: cq::trace\(f\): the compiler cannot run the body of f: functions that it calls must be
// expect: constexpr
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
template <class X>
constexpr auto twice(X x) {
  return x + x;
}
#else
template <class X>
auto twice(X x) {
  return x + x;
}
#endif

int main() {
  (void)cq::trace([](auto x) { return twice(x); })(cq::ones<float>(cq::shape{3}));
}
