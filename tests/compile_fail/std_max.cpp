// std::max compares in a C++ condition.
// expect: a symbolic value in a C\+\+ condition .*use cq::cond, cq::for_loop or cq::where
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::maximum(x, x * 2); });
#else
constexpr auto f = cq::trace([](auto x) { return std::max(x, x * 2); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
