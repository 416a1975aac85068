// No integer type holds both int64 and uint64.
// expect: no integer type holds both int64 and uint64; cast one operand with cq::astype
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x, auto y) { return x + cq::astype<std::int64_t>(y); });
#else
constexpr auto f = cq::trace([](auto x, auto y) { return x + y; });
#endif

int main() { (void)f(cq::arange<std::int64_t>(3), cq::arange<std::uint64_t>(3)); }
