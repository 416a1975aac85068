// x.extent(i) asks for an axis that is there.
// expect: x.extent\(i\): x has no axis i; axes count from 0 to rank - 1
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return x * x.extent(0); });
#else
constexpr auto f = cq::trace([](auto x) { return x * x.extent(1); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
