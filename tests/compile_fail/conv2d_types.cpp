// No integer type holds both int64 and uint64.
// expect: cq::conv2d\(x, w\): no integer type holds both int64 and uint64; cast one
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::conv2d(cq::astype<std::int64_t>(x), cq::astype<int>(x)); });
#else
constexpr auto f = cq::trace(
    [](auto x) { return cq::conv2d(cq::astype<std::int64_t>(x), cq::astype<std::uint64_t>(x)); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{1, 2, 3, 3})); }
