// dot takes vectors.
// expect: cq::dot\(a, b\): both operands must have rank 1; use cq::matmul for more axes
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::dot(cq::sum(x, cq::axis<0>), cq::max(x, cq::axis<0>)); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::dot(x, cq::max(x, cq::axis<0>)); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
