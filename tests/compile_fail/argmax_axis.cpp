// argmax goes along one axis.
// expect: cq::argmax\(x\): x must have one axis; name the axis, as in
// expect: cq::argmax\(x, cq::axis<0>\), or flatten
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::argmax(x, cq::axis<1>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::argmax(x); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3, 2})); }
