// A variable of the program is no part of a trace.
// expect: a real array or variable beside a symbol inside a traced function; pass it as an
// expect: argument
#include <calque/calque.hpp>

namespace cq = calque;

const cq::variable<float, 1> weight{cq::ones<float>(cq::shape{3}), "weight"};

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto w) { return x * w; });
#else
constexpr auto f = cq::trace([](auto x, auto) { return x * weight; });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3}), weight); }
