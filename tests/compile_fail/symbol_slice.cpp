// A slice takes ranges.
// expect: cq::slice\(x, \.\.\.\): each argument after x must be a cq::range
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::slice(x, cq::range{0, 1}) * 2; });
#else
constexpr auto f = cq::trace([](auto x) { return cq::slice(x, 0) * 2; });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
