// grad and value_and_grad as functions: what they return for which arguments, and what they leave
// alone.
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

namespace cq = calque;
using graphs::count;

namespace {

template <template <class, int> class A>
struct line {
  A<float, 1> slope;
  A<float, 0> offset;
};
using vector = cq::array<float, 1>;

constexpr auto square = [](auto x) { return cq::sum(x * x); };
constexpr auto product = [](auto x, auto y, auto k) { return cq::sum(x * y * k); };
constexpr auto fit = [](auto m, auto x) { return cq::sum(m.slope * x) + m.offset * m.offset; };

constexpr auto twice = cq::trace([](auto x) {
  return cq::grad([](auto y) { return cq::sum(cq::grad(square)(y) * y); })(x);  // (2y^2)' = 4y
});
// the same value reaches two arguments: each derivative is with respect to one of them
constexpr auto shared = cq::trace([](auto x) {
  auto r = cq::value_and_grad(product, cq::wrt<0, 1>)(x, x, 3);
  return std::tuple{std::get<0>(r.grad), std::get<1>(r.grad), r.value};
});
constexpr auto with_effect = cq::trace([](auto w, auto n) {
  auto r = cq::value_and_grad([](auto v, auto c) {
    c += 1;
    auto before = cq::sum(v * v);
    v.assign(v * 10);
    return before + cq::sum(v);  // reads the version written: 10 v
  })(w, n);
  return std::tuple{r.value, r.grad};
});
constexpr auto through = cq::trace([](auto x, auto p) {
  return cq::grad([](auto y, auto q) {
    auto z = cq::cond(q, [&] { return y * y; }, [&] { return 3 * y; });
    return cq::sum(cq::for_loop(3, z, [&](auto, auto s) { return s * y; }));
  })(x, p);
});

}  // namespace

static_assert(
    std::is_same_v<decltype(cq::grad(square)(cq::expr<double, 2>{})), cq::expr<double, 2>>);
static_assert(
    std::is_same_v<decltype(cq::grad([](auto x) { return x * x; })(cq::scalar_expr<float>{})),
                   cq::expr<float, 0>>);
static_assert(
    std::is_same_v<decltype(cq::grad(square)(cq::var_expr<float, 1>{})), cq::expr<float, 1>>);
static_assert(std::is_same_v<decltype(cq::grad(fit)(line<cq::var_expr>{}, cq::expr<float, 1>{})),
                             line<cq::expr>>);

TEST_CASE("outside a trace, derivatives are arrays in the argument's structure") {
  const auto r = cq::value_and_grad(fit)(line<cq::array>{vector{1, 2}, 3.f}, vector{5, 7});
  static_assert(std::is_same_v<std::remove_cv_t<decltype(r.grad)>, line<cq::array>>);
  CHECK(r.value.item() == 28);
  CHECK(r.grad.slope.to_vector() == std::vector<float>{5, 7});
  CHECK(r.grad.offset.item() == 6);
  const auto [x, k] = cq::grad(product, cq::wrt<0, 2>)(vector{1, 2}, vector{3, 4}, 2.f);
  CHECK(x.to_vector() == std::vector<float>{6, 8});
  CHECK(k.item() == 11);
}

TEST_CASE("derivatives of derivatives") {
  CHECK(twice(vector{1, -2}).to_vector() == std::vector<float>{4, -8});
}

TEST_CASE("one value as two arguments has a derivative for each of them") {
  const auto [a, b, value] = shared(vector{1, 2});
  CHECK(value.item() == 15);
  CHECK(a.to_vector() == std::vector<float>{3, 6});
  CHECK(b.to_vector() == std::vector<float>{3, 6});
}

TEST_CASE("a loss's effects happen once, and derivatives are at the versions that it read") {
  const cq::variable<float, 1> w{vector{1, 2}, "w"};
  const cq::variable<int, 0> n{cq::array<int, 0>{0}, "n"};
  const auto [value, slope] = with_effect(w, n);
  CHECK(value.item() == 35);
  CHECK(slope.to_vector() == std::vector<float>{12, 14});  // 2 w + 10
  CHECK(n.value().item() == 1);
  CHECK(w.value().to_vector() == std::vector<float>{10, 20});
}

TEST_CASE("derivatives pass through cond and for_loop") {
  // (y^2 y^3)' = 5 y^4 and (3 y y^3)' = 12 y^3
  CHECK(through(vector{1, 2}, true).to_vector() == std::vector<float>{5, 80});
  CHECK(through(vector{1, 2}, false).to_vector() == std::vector<float>{12, 96});
}

TEST_CASE("a gradient stands on the line of its loss") {
  constexpr int line = __LINE__;
  constexpr auto f = [](auto x) {
    auto y = x + 1;
    return cq::grad([](auto z) {
      auto s = cq::sum(z * z);  // line + 4
      return s;
    })(y);
  };
  const cq::graph g = cq::detail::trace_source<decltype(f), cq::array<float, 1>>::trace();
  CHECK(graphs::node(g.view(), "gradient").line == line + 4);
}
