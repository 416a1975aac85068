// matmul takes matrices.
// expect: cq::matmul\(a, b\): both operands must have rank 2 \(rows, columns\); reshape them
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) {
  return cq::matmul(cq::reshape(x, cq::shape{1, 3}), cq::reshape(x, cq::shape{3, 1}));
});
#else
constexpr auto f = cq::trace([](auto x) { return cq::matmul(x, x); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
