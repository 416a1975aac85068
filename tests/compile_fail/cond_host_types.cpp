// A branch chosen while tracing returns the type of the other one.
// expect: cq::cond\(p, then, else\): the branches return different types; cast with
// expect: cq::astype<\.\.\.> or reshape
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto x) { return cq::cond(true, [&] { return x; }, [&] { return -x; }); });
#else
constexpr auto f =
    cq::trace([](auto x) { return cq::cond(true, [&] { return x; }, [&] { return 1; }); });
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
