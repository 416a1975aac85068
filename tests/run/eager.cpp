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

TEST_CASE("eager refuses a value that leaves its branch or loop through a captured symbol (C086)") {
  constexpr auto branch = [](auto x) {
    auto y = x;
    cq::cond(cq::sum(x) > 0, [&] { y = x * 2.f; }, [&] { y = x * 3.f; });
    return y;
  };
  constexpr auto sibling = [](auto x) {
    auto y = x;
    return cq::cond(
        cq::sum(x) > 100,
        [&] {
          y = x * 2.f;
          return y;
        },
        [&] { return y + 1.f; });
  };
  constexpr auto loop = [](auto x) {
    auto y = x;
    cq::for_loop(3, x, [&](auto, auto s) {
      y = s * 5.f;
      return s;
    });
    return cq::sum(y);
  };
  const cq::array<float, 1> x{1, 2};
  const auto text = [](auto&& call) {
    try {
      call();
    } catch (const cq::value_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const std::string& t :
       {text([&] { (void)cq::eager(branch)(x); }), text([&] { (void)cq::eager(sibling)(x); }),
        text([&] { (void)cq::eager(loop)(x); })}) {
    CAPTURE(t);
    CHECK(t.find("is used outside it") != t.npos);
  }
}

namespace {
constexpr auto slope = cq::grad([](auto y) { return cq::sum(y * y * y); });
}  // namespace

TEST_CASE(
    "eager differentiates twice, and inside branches and loops, as the traced function does") {
  constexpr auto twice = [](auto x) {
    return cq::grad([](auto y) { return cq::sum(slope(y)); })(x);
  };
  constexpr auto inside = [](auto x) {
    const auto a = cq::cond(cq::sum(x) > 0, [&] { return slope(x); }, [&] { return x; });
    return cq::for_loop(2, a, [&](auto, auto s) { return slope(s) * 0.125; });
  };
  constexpr auto outside = [](auto x) {
    return cq::grad([](auto y) {
      return cq::sum(cq::for_loop(2, y, [&](auto, auto s) { return slope(s) * 0.125; }));
    })(x);
  };
  const cq::array<double, 1> x{1, 2};
  CHECK(cq::eager(twice)(x).to_vector() == std::vector<double>{6, 12});
  CHECK(cq::trace(twice)(x).to_vector() == std::vector<double>{6, 12});
  const auto e = cq::eager(inside)(x), t = cq::trace(inside)(x);
  const auto d = cq::eager(outside)(x), u = cq::trace(outside)(x);
  for (int i = 0; i < 2; ++i) {
    CHECK(e(i) == doctest::Approx(t(i)));
    CHECK(d(i) == doctest::Approx(u(i)));
    CHECK(std::fabs(d(i)) > 1e-3);
  }
}

TEST_CASE("an eager body may assign a variable without a value, and reads none") {
  constexpr auto set = [](auto w, auto x) {
    w.assign(x * 2);
    return cq::sum(w);
  };
  constexpr auto add = [](auto w, auto x) {
    w += x;
    return cq::sum(w);
  };
  const cq::array<float, 1> x{1, 2};
  const cq::variable<float, 1> w{cq::shape{2}, "w"}, untouched{cq::shape{2}, "u"};
  CHECK_THROWS_AS((void)cq::eager(add)(w, x), cq::value_error);
  CHECK(cq::eager(set)(w, x).item() == 6);
  CHECK(w.value().to_vector() == std::vector<float>{2, 4});
  constexpr auto ignores = [](auto, auto y) { return y + 1; };
  (void)cq::eager(ignores)(untouched, x);
  CHECK_THROWS_AS((void)untouched.value(), cq::value_error);
}

TEST_CASE("eager refuses a derivative through a run-time number of steps, as tracing does") {
  constexpr auto f = [](auto x, auto n) {
    return cq::grad([](auto y, auto k) {
      return cq::sum(cq::for_loop(k, y, [&](auto, auto s) { return s * y; }));
    })(x, n);
  };
  CHECK_THROWS_AS((void)cq::eager(f)(cq::array<float, 1>{1, 2}, 3), cq::value_error);
}
