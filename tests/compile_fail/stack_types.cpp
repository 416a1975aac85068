// No type holds both int64 and uint64.
// expect: cq::stack<axis>\(x, y, \.\.\.\): no type holds the elements of all operands; cast
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::stack<0>(cq::astype<std::int64_t>(x), cq::astype<int>(x)); });
#else
constexpr auto f = cq::trace(
    [](auto x) { return cq::stack<0>(cq::astype<std::int64_t>(x), cq::astype<std::uint64_t>(x)); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
