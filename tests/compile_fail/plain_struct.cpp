// A model is a struct template, so that its members can be symbols.
// expect: cq::trace\(f\): f was called with an argument of unsupported type; pass arrays,
// expect: variables, numbers
// expect: struct template: template <template <class, int> class A> struct model
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
template <template <class, int> class A>
struct line {
  A<float, 1> a, b;
};
using model = line<cq::array>;
#else
struct model {
  cq::array<float, 1> a, b;
};
#endif

int main() {
  (void)cq::trace([](auto m) { return m.a + m.b; })(
      model{cq::ones<float>(cq::shape{3}), cq::ones<float>(cq::shape{3})});
}
