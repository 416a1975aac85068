// Derivatives through broadcasting and through regions: cond and for_loop, nested in each other,
// with tuples, captured values, integers beside floats, no steps.
#include "calque/passes/backward.hpp"

#include "support/slopes.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

/// Sums of a op b for each arithmetic operation; `choice` has 1 for one of them.
constexpr auto arithmetic = [](auto a, auto b, auto w, auto plus, auto minus, auto times, auto by) {
  return plus * cq::sum((a + b) * w) + minus * cq::sum((a - b) * w) + times * cq::sum(a * b * w) +
         by * cq::sum(a / b * w);
};

template <int R, int From>
cq::shape<R> squeezed(const cq::shape<From>& s, unsigned ones) {
  std::array<std::int64_t, R> e{};
  for (int i = 0; i < R; ++i)
    e[static_cast<std::size_t>(i)] = ((ones >> i) & 1u) ? 1 : s[From - R + i];
  return cq::shape<R>(e);
}

template <int RA, int RB>
void check_patterns() {
  constexpr int R = RA > RB ? RA : RB;
  const cq::shape<3> full{2, 3, 2};
  for (unsigned p = 0; p < (1u << RA); ++p)
    for (unsigned q = 0; q < (1u << RB); ++q) {
      const auto a = drawn<double>(squeezed<RA>(full, p), between(-2, 2, p + 1));
      const auto b = drawn<double>(squeezed<RB>(full, q), between(0.5, 2, q + 9));
      const auto w = drawn<double>((a + b).shape(), between(-1, 1, 7));
      INFO("extents ", cq::to_string(a.shape()), " and ", cq::to_string(b.shape()));
      for (int op = 0; op < 4; ++op) {
        INFO("operator ", "+-*/"[op]);
        check_slopes<0, 1>(arithmetic, a, b, w, op == 0 ? 1. : 0., op == 1 ? 1. : 0.,
                           op == 2 ? 1. : 0., op == 3 ? 1. : 0.);
      }
    }
  static_assert(R <= 3);
}

const cq::array<double, 1> xs{0.7, -1.3, 2.1};
const cq::array<double, 1> ys{1.1, 0.4, -0.6};

}  // namespace

TEST_CASE("the derivative of a broadcast operand has the operand's extents (C056)") {
  const auto g = cq::grad([](auto a, auto b) { return cq::sum(a + b); }, cq::wrt<0, 1>)(
      cq::ones<float>(cq::shape{3, 4}), cq::ones<float>(cq::shape{1, 4}));
  CHECK(std::get<1>(g).shape() == cq::shape{1, 4});
  CHECK(std::get<1>(g).to_vector() == std::vector<float>{3, 3, 3, 3});
  CHECK(std::get<0>(g).to_vector() == std::vector<float>(12, 1.f));
}
TEST_CASE("+ - * / have right derivatives for every broadcast of ranks 0 to 2 (C056)") {
  check_patterns<0, 0>();
  check_patterns<0, 1>();
  check_patterns<1, 0>();
  check_patterns<1, 1>();
  check_patterns<2, 1>();
  check_patterns<0, 2>();
  check_patterns<2, 2>();
}
TEST_CASE("+ - * / have right derivatives for every broadcast with rank 3 (C056)") {
  check_patterns<3, 0>();
  check_patterns<1, 3>();
  check_patterns<3, 2>();
  check_patterns<3, 3>();
}

TEST_CASE("the derivative of cond is that of the branch taken, in both operands and captures") {
  constexpr auto f = [](auto x, auto y, auto limit) {
    const auto c = cq::sum(x) > limit;
    const auto r = cq::cond(
        c, [&] { return std::tuple{x * y, cq::sum(x * x)}; },
        [&] { return std::tuple{y * y, cq::sum(y * 3)}; });
    return cq::sum(std::get<0>(r) * std::get<0>(r)) * std::get<1>(r) + cq::sum(x);
  };
  check_slopes<0, 1>(f, xs, ys, 0.0);
  check_slopes<0, 1>(f, xs, ys, 9.0);
}

TEST_CASE("conds nest, read what outer branches computed, and may ignore an operand") {
  constexpr auto f = [](auto x, auto y, auto p, auto q) {
    const auto t = cq::tanh(x * y);
    return cq::sum(cq::cond(
        p,
        [&] {
          const auto u = t * t + x;
          return cq::cond(q, [&] { return u * y * t; }, [&] { return u / (2 + u * u); });
        },
        [&] { return cq::cond(q, [&] { return y; }, [&] { return t; }); }));
  };
  for (bool p : {false, true})
    for (bool q : {false, true}) check_slopes<0, 1>(f, xs, ys, p, q);
}

TEST_CASE("the branch that is not taken adds nothing, even where its slope is infinite (C055)") {
  constexpr auto f = [](auto x) {
    const auto y = cq::sqrt(x);  // slope infinite at 0
    return cq::sum(cq::cond(cq::sum(x) > 0, [&] { return y * y; }, [&] { return x * 3; }));
  };
  CHECK(cq::grad(f)(cq::array<double, 1>{0, 0}).to_vector() == std::vector<double>{3, 3});
  check_slopes<0>(f, cq::array<double, 1>{1.5, 2});
  constexpr auto g = [](auto x) { return cq::sum(cq::where(x > 0, cq::sum(x) * cq::log(x), 0)); };
  CHECK(cq::grad(g)(cq::array<double, 1>{1, 0, -1})(2) == 0);
}

TEST_CASE("a loop's derivative goes back through its steps: state, captures, the step's number") {
  constexpr auto f = [](auto x, auto y) {
    const auto s =
        cq::for_loop(4, x, [&](auto i, auto v) { return v * y + cq::tanh(v) * (i + 1); });
    return cq::sum(s * s) + cq::sum(y);
  };
  check_slopes<0, 1>(f, xs, ys);
  constexpr auto power = [](auto x, auto n) {
    return cq::sum(cq::for_loop(n, x, [](auto, auto v) { return v * v; }));
  };
  CHECK(cq::grad(power)(cq::array<double, 1>{3}, cq::static_<3>)(0) == 8 * 2187);
  CHECK(cq::grad(power)(cq::array<double, 1>{3}, cq::static_<1>)(0) == 6);
}

TEST_CASE(
    "a loop of no step or of a negative number of steps passes derivatives on unchanged (C035)") {
  constexpr auto f = [](auto x, auto y, auto n) {
    const auto s = cq::for_loop(n, std::tuple{x, x * y}, [&](auto, auto v) {
      return std::tuple{std::get<1>(v) * y, std::get<0>(v) / y};
    });
    return cq::sum(std::get<0>(s) * 2 + std::get<1>(s) * std::get<1>(s));
  };
  check_slopes<0, 1>(f, xs, ys, cq::static_<0>);
  check_slopes<0, 1>(f, xs, ys, cq::static_<-3>);
  check_slopes<0, 1>(f, xs, ys, cq::static_<1>);
  CHECK(cq::grad(f)(xs, ys, cq::static_<0>)(0) == doctest::Approx(2 + 2 * xs(0) * ys(0) * ys(0)));
}

TEST_CASE("loops carry tuples with integers and several types; unread states have no derivative") {
  constexpr auto f = [](auto x, auto y) {
    const auto k = cq::sum(cq::astype<std::int64_t>(x > 0));
    const auto s = cq::for_loop(
        3, std::tuple{x, k, cq::astype<float>(y), cq::sum(x * y)}, [&](auto i, auto v) {
          const auto [a, n, b, t] = v;
          return std::tuple{a * cq::astype<double>(n) / 4 + y, n + i, b * 0.5f, t + cq::sum(a * a)};
        });
    return cq::sum(std::get<0>(s)) * std::get<3>(s);
  };
  check_slopes<0, 1>(f, xs, ys);
}

TEST_CASE("loops nest, also with captures of both levels") {
  constexpr auto f = [](auto x, auto y) {
    const auto s = cq::for_loop(3, x, [&](auto i, auto outer) {
      const auto t = outer * y;
      const auto inner =
          cq::for_loop(2, t, [&](auto j, auto v) { return v * outer / (1 + t * t) + x * (j + i); });
      return inner + outer * 0.5;
    });
    return cq::sum(s * y);
  };
  check_slopes<0, 1>(f, xs, ys);
}

TEST_CASE("cond in a loop and a loop in cond have right derivatives") {
  constexpr auto inside = [](auto x, auto y) {
    return cq::sum(cq::for_loop(4, x, [&](auto i, auto v) {
      return cq::cond(i < 2, [&] { return v * y; }, [&] { return v + x * x; });
    }));
  };
  check_slopes<0, 1>(inside, xs, ys);
  constexpr auto outside = [](auto x, auto y, auto p) {
    const auto u = x * y;
    return cq::sum(cq::cond(
        p, [&] { return cq::for_loop(3, u, [&](auto, auto v) { return v * x + u; }); },
        [&] { return u * u; }));
  };
  check_slopes<0, 1>(outside, xs, ys, true);
  check_slopes<0, 1>(outside, xs, ys, false);
}

TEST_CASE("a loop over an extent has a derivative; matrices and reductions in its body too") {
  constexpr auto f = [](auto x, auto w) {
    const auto s = cq::for_loop(x.extent(0), x, [&](auto, auto v) {
      const auto u = cq::matmul(v, w);
      return u / (1 + cq::sum(u * u, cq::axis<1>, cq::keepdims));
    });
    return cq::sum(s * s);
  };
  check_slopes<0, 1>(f, drawn<double>(cq::shape{2, 3}, between(-1, 1, 1)),
                     drawn<double>(cq::shape{3, 3}, between(-1, 1, 2)));
}

TEST_CASE("a loop's result that only a reduction in a later loop reads still counts") {
  constexpr auto f = [](auto x) {
    const auto a = cq::for_loop(2, x, [](auto, auto v) { return v * v + 1; });
    const auto b =
        cq::for_loop(2, cq::sum(a), [&](auto, auto v) { return v * 0.5 + cq::sum(a * x); });
    return b;
  };
  check_slopes<0>(f, xs);
}

TEST_CASE("derivatives of derivatives pass through cond and loops") {
  constexpr auto f = [](auto x, auto y) {
    constexpr auto inner = [](auto v, auto u) {
      return cq::sum(cq::for_loop(3, v, [&](auto, auto s) {
        return cq::cond(cq::sum(s) > 0, [&] { return s * u + s * s; }, [&] { return s * s * v; });
      }));
    };
    const auto g = cq::grad(inner)(x, y);
    return cq::sum(g * g * y);
  };
  check_slopes<0, 1>(f, cq::array<double, 1>{0.3, 0.5}, cq::array<double, 1>{0.7, -0.2});
}

TEST_CASE("a derivative may be taken inside a branch and inside a loop") {
  constexpr auto loss = [](auto w, auto x) { return cq::sum((w * x - 1) * (w * x - 1)); };
  constexpr auto descend = cq::trace([](auto w, auto x, auto n) {
    constexpr auto f = [](auto u, auto v) { return cq::sum((u * v - 1) * (u * v - 1)); };
    return cq::for_loop(n, w, [&](auto, auto u) { return u - 0.1 * cq::grad(f)(u, x); });
  });
  const cq::array<double, 1> w{0, 0}, x{1, 0.5};
  auto by_hand = w;
  for (int i = 0; i < 5; ++i) by_hand = by_hand - 0.1 * cq::grad(loss)(by_hand, x);
  const auto r = descend(w, x, 5);
  for (int i = 0; i < 2; ++i) CHECK(r(i) == doctest::Approx(by_hand(i)));
  constexpr auto branch = cq::trace([](auto p, auto v) {
    constexpr auto square = [](auto u) { return cq::sum(u * u); };
    return cq::cond(p, [&] { return cq::grad(square)(v); }, [&] { return v; });
  });
  CHECK(branch(true, x).to_vector() == std::vector<double>{2, 1});
  CHECK(branch(false, x).to_vector() == std::vector<double>{1, 0.5});
}

TEST_CASE("effects in branches and loops happen once, not again on the way back (B5, C094)") {
  constexpr auto f = cq::trace([](auto v, auto x, auto p) {
    const auto g = cq::grad(
        [](auto u, auto y, auto q) {
          const auto s = cq::for_loop(3, y, [&](auto, auto t) {
            u += 1;
            return t * cq::sum(u);
          });
          return cq::sum(cq::cond(
              q,
              [&] {
                u *= 2;
                return s * 2;
              },
              [&] { return s; }));
        },
        cq::wrt<1>)(v, x, p);
    return g;
  });
  for (bool p : {true, false}) {
    const cq::variable<double, 1> v{cq::array<double, 1>{0, 0}, "v"};
    const auto g = f(v, xs, p);
    CHECK(g.to_vector() == std::vector<double>(3, (p ? 2. : 1.) * 2 * 4 * 6));
    CHECK(v.value().to_vector() == std::vector<double>(2, p ? 6. : 3.));
  }
}
