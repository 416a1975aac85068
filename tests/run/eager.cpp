#include "calque/call/eager.hpp"

#include <doctest/doctest.h>
#include <calque/calque.hpp>

#include <cmath>

namespace cq = calque;

namespace {

int body_runs = 0;

constexpr auto norm = [](auto x, auto a) {
  auto z = a * x + 1;
  return std::tuple{cq::sqrt(cq::sum(z * z)), z};
};

}  // namespace

TEST_CASE("eager gives the traced function's values, and runs its body at every call (A11)") {
  const cq::array<float, 1> x = cq::linspace(-1.f, 2.f, 101);
  auto [n, z] = cq::eager(norm)(x, 3.f);
  auto [tn, tz] = cq::trace(norm)(x, 3.f);
  CHECK(n.item() == doctest::Approx(tn.item()).epsilon(1e-6));
  for (int i = 0; i < 101; ++i) CHECK(z(i) == doctest::Approx(tz(i)).epsilon(1e-6));
  constexpr auto counting = [](auto v) {
    ++body_runs;
    return v + 1;
  };
  (void)cq::eager(counting)(x);
  (void)cq::eager(counting)(x);
  CHECK(body_runs == 2);
}

TEST_CASE("debug reads a value in the middle of an eager body") {
  constexpr auto f = [](auto x) {
    auto y = x * 2;
    if (cq::debug(y)(1) != 4) throw cq::value_error("not 4");
    return y;
  };
  CHECK(cq::eager(f)(cq::array<float, 1>{1, 2})(1) == 4);
  CHECK_THROWS_AS((void)cq::eager(f)(cq::array<float, 1>{1, 3}), cq::value_error);
}

TEST_CASE("eager runs branches, loops, variables and gradients as the traced function does") {
  constexpr auto f = [](auto v, auto x) {
    auto y = cq::for_loop(3, x, [&](auto i, auto s) {
      v += s;
      return s * x + i;
    });
    auto c = cq::cond(cq::sum(y) > 0, [&] { return y; }, [&] { return -y; });
    auto g = cq::grad(
        [](auto a, auto b) {
          auto s = cq::for_loop(2, a, [&](auto, auto t) { return t * b; });
          return cq::sum(cq::cond(cq::sum(a) > 0, [&] { return s * s; }, [&] { return s; }));
        },
        cq::wrt<0, 1>)(x, c);
    return std::tuple{c, std::get<0>(g), std::get<1>(g)};
  };
  const cq::array<double, 1> x{0.5, -1.5, 2};
  const cq::variable<double, 1> a{cq::zeros<double>(cq::shape{3}), "a"},
      b{cq::zeros<double>(cq::shape{3}), "b"};
  auto [e0, e1, e2] = cq::eager(f)(a, x);
  auto [t0, t1, t2] = cq::trace(f)(b, x);
  for (int i = 0; i < 3; ++i) {
    CHECK(e0(i) == doctest::Approx(t0(i)));
    CHECK(e1(i) == doctest::Approx(t1(i)));
    CHECK(e2(i) == doctest::Approx(t2(i)));
    CHECK(a.value()(i) == doctest::Approx(b.value()(i)));
  }
}

TEST_CASE("eager refuses what the traced function refuses, with variables as before") {
  constexpr auto f = [](auto v, auto x, auto y) {
    v += 1;
    return x + y;
  };
  const cq::variable<float, 1> v{cq::zeros<float>(cq::shape{2}), "v"};
  const cq::array<float, 1> x{1, 2, 3}, y{1, 2};
  CHECK_THROWS_AS((void)cq::eager(f)(v, x, y), cq::shape_error);
  CHECK_THROWS_AS((void)cq::trace(f)(v, x, y), cq::shape_error);
  CHECK(v.value()(0) == 0);
}
