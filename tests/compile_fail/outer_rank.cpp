// outer takes vectors.
// expect: cq::outer\(a, b\): both operands must have rank 1; flatten them with cq::reshape
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::outer(cq::sum(x, cq::axis<0>), cq::max(x, cq::axis<0>)); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::outer(x, cq::max(x, cq::axis<0>)); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
