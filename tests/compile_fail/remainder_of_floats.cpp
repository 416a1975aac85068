// The remainder of floating operands has a name.
// expect: for a remainder use cq::fmod\(x, y\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::fmod(x, 2); });
#else
constexpr auto f = cq::trace([](auto x) { return x % 2; });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
