// A traced callee inside a trace takes symbols; an array comes in as an argument.
// expect: a real array or variable beside a symbol inside a traced function; pass it as an
// expect: argument
#include <calque/calque.hpp>

namespace cq = calque;

const cq::array<float, 1> weights{1, 2, 3};
constexpr auto add = cq::trace([](auto x, auto y) { return x + y; });

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto w) { return add(x, w); });
#else
constexpr auto f = cq::trace([](auto x, auto) { return add(x, weights); });
#endif

int main() { (void)f(weights, weights); }
