// A number beside an integer array fits its type.
// expect: a C\+\+ number beside an integer array does not fit the array's type; cast the array
// expect: first
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return x + 127; });
#else
constexpr auto f = cq::trace([](auto x) { return x + 128; });
#endif

int main() { (void)f(cq::array<std::int8_t, 1>{1, 2}); }
