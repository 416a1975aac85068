// The value of pad is not truncated.
// expect: cq::pad\(x, widths, value\): value has a higher kind than x
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::pad(cq::astype<int>(x), {{1, 0}, {0, 2}}, 1); });
#else
constexpr auto f =
    cq::trace([](auto x) { return cq::pad(cq::astype<int>(x), {{1, 0}, {0, 2}}, 0.5); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
