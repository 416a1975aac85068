// matmul takes vectors and matrices.
// expect: cq::matmul\(a, b\): an operand has rank 0; multiply by a number with a \* b
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::matmul(x, x) * cq::sum(x); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::matmul(x, cq::sum(x)); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
