// Labels are numbers of classes.
// expect: cq::cross_entropy\(logits, labels\): labels must be integers
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  return cq::cross_entropy(cq::reshape(x, cq::shape{1, 3}),
                           cq::argmax(x, cq::axis<0>, cq::keepdims));
});
#else
constexpr auto f = cq::trace([](auto x) {
  return cq::cross_entropy(cq::reshape(x, cq::shape{1, 3}), cq::sum(x, cq::axis<0>, cq::keepdims));
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
