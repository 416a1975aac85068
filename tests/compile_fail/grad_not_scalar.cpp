// A loss is a scalar.
// expect: cq::value_and_grad\(f\): f must return a scalar \(rank 0\); reduce it with cq::sum or
// expect: cq::mean
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto loss = [](auto x) { return cq::sum(x * x); };
#else
constexpr auto loss = [](auto x) { return x * x; };
#endif

int main() { (void)cq::value_and_grad(loss)(cq::ones<float>(cq::shape{3})); }
