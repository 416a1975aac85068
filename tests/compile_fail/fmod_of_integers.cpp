// fmod is for floating operands.
// expect: cq::fmod\(x, y\): x or y must be floating; the remainder of integers is x % y
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::astype<int>(x) % 2; });
#else
constexpr auto f = cq::trace([](auto x) { return cq::fmod(cq::astype<int>(x), 2); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
