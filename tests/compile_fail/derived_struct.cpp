// The members of a model with a base class cannot be told one from another.
// expect: cq::trace\(f\): f was called with an argument of unsupported type; pass arrays,
// expect: variables, numbers
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
template <template <class, int> class A>
struct offset {
  A<float, 1> b;
};
template <template <class, int> class A>
struct line {
  offset<A> at;
  A<float, 1> a;
};
#else
template <template <class, int> class A>
struct offset {
  A<float, 1> b;
};
template <template <class, int> class A>
struct line : offset<A> {
  A<float, 1> a;
};
#endif

int main() {
  (void)cq::trace([](auto m) { return m.a; })(
      line<cq::array>{{cq::ones<float>(cq::shape{3})}, cq::ones<float>(cq::shape{3})});
}
