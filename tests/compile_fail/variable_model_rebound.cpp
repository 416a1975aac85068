// A model of variables is copied member by member.
// expect: calque: w = e on a variable in a traced function would not write the variable, .*; write
// expect: w\.assign\(e\)
#include <calque/calque.hpp>

namespace cq = calque;

template <template <class, int> class A>
struct net {
  A<float, 1> w, b;
};

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto target, auto m) {
  target.w.assign(m.w);
  target.b.assign(m.b);
});
#else
constexpr auto f = cq::trace([](auto target, auto m) { target = m; });
#endif

int main() {
  using v = cq::variable<float, 1>;
  const auto x = cq::ones<float>(cq::shape{3});
  f(net<cq::variable>{v{x}, v{x}}, net<cq::variable>{v{x}, v{x}});
}
