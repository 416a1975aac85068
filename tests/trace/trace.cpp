// What a trace is made of: arguments in order, callees inlined, only what results need (A1, A9,
// A15).
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

namespace cq = calque;
using graphs::count;

namespace {

using vector = cq::array<float, 1>;

template <class X>
constexpr auto plain_square(const X& x) {
  return x * x;
}
struct functor {
  template <class X>
  constexpr auto operator()(X x) const {
    return x - 1;
  }
};
constexpr auto h = cq::trace([](auto x) { return cq::exp(x); });
constexpr auto g = cq::trace([](auto x, auto a) { return a * h(plain_square(x)); });
constexpr auto f = cq::trace([](auto x) { return functor{}(g(x, 2.f)) + g(x, 2.f); });

constexpr auto three = cq::trace([](auto x) {
  return std::tuple{cq::sum(x), cq::matmul(x, x), cq::argmax(cq::exp(x), cq::axis<0>)};
});

constexpr auto typed =
    cq::trace([](cq::expr<float, 1> x, cq::scalar_expr<float> a) { return x * a; });
constexpr auto by_reference = cq::trace([](auto& x, const auto& y, auto&& z) { return x + y + z; });

int host_runs = 0;

}  // namespace

static_assert(std::is_empty_v<decltype(f)>);
static_assert(cq::graph_of<f, vector>().kernels() == 1);
static_assert(count(cq::graph_of<f, vector>(), "exp") == 1);  // both uses of g are one
static_assert(cq::graph_of<f, vector>().argument_count == 1);
static_assert(cq::graph_of<[](auto x) { return x + x; }, vector>().kernels() == 1);

TEST_CASE("plain, functor and traced callees inline: one graph, one plan, one kernel (A9)") {
  const auto y = f(vector{0, 1});
  CHECK(y(0) == 3);
  CHECK(y(1) == doctest::Approx(4 * 2.718281828 - 1));
  CHECK(f.stats().misses == 1);
  CHECK(f.stats().launches == 1);
  CHECK(g.graphs() == 0);
  CHECK(h.graphs() == 0);
}

TEST_CASE("what a picked result does not need is neither traced into the plan nor launched (A15)") {
  constexpr auto first = cq::pick<0>(three);
  using matrix = cq::array<float, 2>;
  static_assert(cq::graph_of<three, matrix>().kernels() >= 3);
  static_assert(cq::graph_of<first, matrix>().kernels() == 1);
  static_assert(count(cq::graph_of<first, matrix>(), "matmul") == 0);
  CHECK(first(matrix{{1, 2}, {3, 4}}).item() == 10);
  CHECK(first.stats().launches == 1);
}

TEST_CASE("parameters may be symbols by name, references and values") {
  CHECK(typed(vector{1, 2}, 3.f).to_vector() == std::vector<float>{3, 6});
  CHECK(by_reference(vector{1}, vector{2}, vector{3})(0) == 6);
}

TEST_CASE("host code of a body runs in the compiler, once a trace (C082)") {
  constexpr auto counted = cq::trace([](auto x, auto v) {
    int n = 0;
    for (int i = 0; i < 3; ++i) ++n;  // state of the body: known when tracing ends
    v += 1;                           // state of the program: counts calls
    return x + n;
  });
  const cq::variable<int, 0> calls{cq::array<int, 0>{0}, "calls"};
  for (int i = 1; i <= 3; ++i) {
    CHECK(counted(vector{1}, calls)(0) == 4);
    CHECK(calls.value().item() == i);
  }
  CHECK(counted(cq::array<double, 1>{1}, calls)(0) == 4);  // another trace, the same variable
  CHECK(calls.value().item() == 4);
  CHECK(counted.graphs() == 2);
  CHECK(host_runs == 0);
}

TEST_CASE("levels of passes give the same values; level 0 keeps every operation (A16)") {
  constexpr auto body = [](auto x) {
    auto y = x * x + x * x;
    (void)cq::exp(x);
    return cq::sum(y * 1);
  };
  constexpr auto l0 = cq::trace<cq::options{.pass_level = 0}>(body);
  constexpr auto l1 = cq::trace<cq::options{.pass_level = 1}>(body);
  constexpr auto l2 = cq::trace(body);
  constexpr auto g0 = cq::graph_of<l0, vector>(), g1 = cq::graph_of<l1, vector>(),
                 g2 = cq::graph_of<l2, vector>();
  static_assert(g0.nodes() == 8 && count(g0, "mul") == 3 && count(g0, "exp") == 1);
  static_assert(g1.nodes() == 4 && count(g1, "exp") == 0);
  static_assert(g2.kernels() == 1);
  const vector x{1, 2, 3};
  CHECK(l0(x).item() == 28);
  CHECK(l1(x).item() == 28);
  CHECK(l2(x).item() == 28);
}
