// Labels are integers.
// expect: cq::one_hot\(labels, depth\): labels must be integers; cast them with cq::astype
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::one_hot<float>(cq::astype<int>(x), 10); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::one_hot<float>(x, 10); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
