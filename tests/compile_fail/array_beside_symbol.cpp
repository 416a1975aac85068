// An array of the program is no part of a trace.
// expect: a real array or variable beside a symbol inside a traced function; pass it as an
// expect: argument
#include <calque/calque.hpp>

namespace cq = calque;

const cq::array<float, 1> weights{1, 2, 3};

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto w) { return x + w; });
#else
constexpr auto f = cq::trace([](auto x, auto) { return x + weights; });
#endif

int main() { (void)f(weights, weights); }
