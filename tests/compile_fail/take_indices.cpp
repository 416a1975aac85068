// Indices are int32 or int64.
// expect: indices must be int32 or int64; cast them with cq::astype<std::int64_t>\(indices\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::take(x, cq::astype<int>(x), cq::axis<0>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::take(x, x, cq::axis<0>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{2, 3})); }
