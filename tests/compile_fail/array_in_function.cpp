// Functions of several operands refuse an array beside a symbol as operators do.
// expect: a real array or variable beside a symbol inside a traced function; pass it as an
// expect: argument
#include <calque/calque.hpp>

namespace cq = calque;

const cq::array<float, 1> weights{1, 2, 3};

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto w) { return cq::where(x > 0, w, x); });
#else
constexpr auto f = cq::trace([](auto x, auto) { return cq::where(x > 0, weights, x); });
#endif

int main() { (void)f(weights, weights); }
