// take gathers along an axis that exists.
// expect: cq::take\(x, indices, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis
// that x does not
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::take(x, 1, cq::axis<1>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::take(x, 1, cq::axis<2>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
