// Symbols have no values for && and ||; conditions are joined by & and |.
// expect: a symbolic value in a C\+\+ condition .*use cq::cond, cq::for_loop or cq::where
// expect: join conditions with & and \| instead of && and \|\|
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return (x > 0) & (x < 1); });
#else
constexpr auto f = cq::trace([](auto x) { return x > 0 && x < 1; });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
