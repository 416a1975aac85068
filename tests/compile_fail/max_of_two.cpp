// cq::max reduces; the larger of two is cq::maximum.
// expect: cq::max\(a, b\): cq::max reduces one array over its axes; for the larger of two values
// expect: use cq::maximum
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::maximum(1, x); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::max(1, x); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
