// Slices are taken of arrays.
// expect: cq::slice\(x, \.\.\.\): x is a symbol, and slices are taken of arrays: slice
// expect: before the call
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return x * 2; });
const auto g = [](const cq::array<float, 1>& x) { return f(cq::slice(x, cq::range{0, 2})); };
#else
constexpr auto f = cq::trace([](auto x) { return cq::slice(x, cq::range{0, 2}) * 2; });
const auto g = f;
#endif

int main() { (void)g(cq::ones<float>(cq::shape{3})); }
