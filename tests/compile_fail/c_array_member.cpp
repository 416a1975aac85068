// The members of a model are counted by initialising them: a C array cannot be told from its
// elements. expect: cq::trace\(f\): f was called with an argument of unsupported type; pass arrays,
// expect: with std::array in place of C arrays
#include <calque/calque.hpp>

namespace cq = calque;

template <template <class, int> class A>
struct stack {
#ifdef CALQUE_TWIN
  std::array<A<float, 1>, 2> layers;
#else
  A<float, 1> layers[2];
#endif
};

int main() {
  (void)cq::trace([](auto m) { return m.layers[0] + m.layers[1]; })(
      stack<cq::array>{{cq::ones<float>(cq::shape{3}), cq::ones<float>(cq::shape{3})}});
}
