// cond has two branches.
// expect: cq::cond\(p, then\): the branch for else is missing; add one, as in
// expect: cq::cond\(p, then, \[\] \{\}\)
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f =
    cq::trace([](auto w, auto x) { cq::cond(cq::sum(x) > 0, [&] { w += x; }, [] {}); });
#else
constexpr auto f = cq::trace([](auto w, auto x) { cq::cond(cq::sum(x) > 0, [&] { w += x; }); });
#endif

int main() {
  f(cq::variable<float, 1>{cq::ones<float>(cq::shape{3})}, cq::ones<float>(cq::shape{3}));
}
