// Functions of <cmath> are no templates that a symbol could explain itself to: the text is the
// compiler's own, and names the call and the symbol. Unqualified calls find calque's functions.
// expect-g++: no matching function for call to 'exp\(calque::expr<float, 1>&\)'
// expect-clang++: no matching function for call to 'exp'
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return exp(x); });
#else
constexpr auto f = cq::trace([](auto x) { return std::exp(x); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
