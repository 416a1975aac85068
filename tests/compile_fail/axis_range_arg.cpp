// argmax and softmax check their axis as sum does.
// expect: cq::axis<\.\.\.> names an axis that the operand does not have; axes count from 0 to
// expect: rank - 1
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return cq::argmax(x, cq::axis<-1>); });
#else
constexpr auto f = cq::trace([](auto x) { return cq::argmax(x, cq::axis<-2>); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
