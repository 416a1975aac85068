// Rewrites of exp, log, sqrt and tanh that must not happen; softmax against long double. The values
// of all functions are in tests/ops/elementwise.cpp.
#include "calque/ops/math.hpp"

#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

constexpr auto functions =
    cq::trace([](auto x) { return std::tuple{cq::exp(x), cq::log(x), cq::sqrt(x), cq::tanh(x)}; });

template <class F, class S>
void check_rewrites(F f, S steps, const std::vector<float>& x, const std::vector<float>& y) {
  for (std::size_t copies : {1u, 9u}) {
    std::vector<float> u, v;
    for (std::size_t i = 0; i < copies * x.size(); ++i)
      u.push_back(x[i % x.size()]), v.push_back(y[i % y.size()]);
    const cq::array<float, 1> a{std::span<const float>(u)}, b{std::span<const float>(v)};
    const auto fused = f(a, b), plain = steps(a, b);
    const auto check = [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto one = [](const auto& p, const auto& q, std::size_t i) {
        INFO("result ", i);
        CHECK(same_bits(p, q));
      };
      (one(std::get<I>(fused), std::get<I>(plain), I), ...);
    };
    check(std::make_index_sequence<std::tuple_size_v<decltype(f(a, b))>>{});
  }
}

constexpr auto algebra = [](auto x, auto y) {
  return std::tuple{x * 0,
                    x - x,
                    x / x,
                    0 / x,
                    x * 1,
                    x + 0,
                    0 + x,
                    x - 0,
                    x + -0.0f,
                    0 - x,
                    -(-x),
                    x / 1,
                    x * -1,
                    (x + y) - y,
                    (x * y) / y,
                    x * 2 - x,
                    (x * y - y * x) / (x * y - y * x)};
};
constexpr auto inverses = [](auto x, auto) {
  return std::tuple{cq::log(cq::exp(x)),      cq::exp(cq::log(x)),       cq::sqrt(x * x),
                    cq::sqrt(cq::abs(x * x)), cq::sqrt(x) * cq::sqrt(x), 1 / (1 / x),
                    cq::exp(x) * cq::exp(-x), cq::tanh(x) / cq::tanh(x), cq::log(x * x),
                    cq::exp(x) - cq::exp(x)};
};

}  // namespace

TEST_CASE("functions keep C's signs of zero and special results") {
  const cq::array<float, 1> zeros{0.f, -0.f};
  const auto [e, l, s, t] = functions(zeros);
  CHECK(e.to_vector() == std::vector<float>{1, 1});
  CHECK((std::isinf(l(0)) && l(0) < 0 && l(1) < 0));
  CHECK((!std::signbit(s(0)) && std::signbit(s(1))));
  CHECK((!std::signbit(t(0)) && std::signbit(t(1))));
}

TEST_CASE("functions of integers and bool are computed in double") {
  const cq::array<std::int32_t, 1> k{1, 4, 9};
  const auto [e, l, s, t] = functions(k);
  static_assert(std::is_same_v<decltype(e), const cq::array<double, 1>>);
  CHECK(s.to_vector() == std::vector<double>{1, 2, 3});
  CHECK(is_close(l(1), std::log(4.0L), 2));
  CHECK(is_close(t(0), std::tanh(1.0L), 2));
  CHECK(cq::sqrt(cq::array<bool, 1>{true, false}).to_vector() == std::vector<double>{1, 0});
}

TEST_CASE("a function's bits do not depend on where in a vector the element lies") {
  at_each_isa(
      [] {
        for (std::int64_t n : lengths) {
          const auto x = drawn<float>(cq::shape{n}, draws<float>(7, 0.05));
          const auto [e, l, s, t] = functions(x);
          const cq::range r{3, cq::range::open};
          const auto [e2, l2, s2, t2] = functions(cq::slice(x, r));
          CHECK(same_bits(cq::slice(e, r), e2));
          CHECK(same_bits(cq::slice(l, r), l2));
          CHECK(same_bits(cq::slice(s, r), s2));
          CHECK(same_bits(cq::slice(t, r), t2));
        }
      },
      functions);
}

TEST_CASE(
    "no rewrite changes a value: x*0, x-x, x/x, x+0 keep NaN, infinity and zeros (C046, C050)") {
  const float inf = std::numeric_limits<float>::infinity();
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  cq::detail::force_isa(cq::isa::baseline);  // where no product and sum are contracted
  check_rewrites(cq::trace(algebra), cq::trace<cq::options{.pass_level = 0}>(algebra),
                 {inf, -inf, not_a_number, 2, -0.f, 0, 3e38f, 1e-45f, 1, -7},
                 {1, 2, 3e38f, -3e38f, 0, -0.f, inf, 0.1f, 1e-30f, 5});
  cq::detail::force_isa(cq::isa::avx512);
  const auto [zero, difference, ratio, quotient, same, plus, rest, minus] = cq::trace([](auto x) {
    return std::tuple{x * 0, x - x, x / x, 0 / x, x * 1, x + 0, 0 + x, x - 0};
  })(cq::array<float, 1>{inf, -inf, not_a_number, 2, -0.f});
  for (int i = 0; i < 3; ++i) {
    CHECK(std::isnan(zero(i)));
    CHECK(std::isnan(difference(i)));
    CHECK(std::isnan(ratio(i)));
  }
  CHECK(zero(3) == 0);
  CHECK(std::isnan(ratio(4)));
  CHECK(std::isnan(quotient(4)));
  CHECK(!std::signbit(plus(4)));  // -0 + 0 is 0
  CHECK(!std::signbit(rest(4)));
  CHECK(std::signbit(minus(4)));
  CHECK(std::signbit(same(4)));
}

TEST_CASE("inverse pairs are not folded across overflow and underflow (C047, C050)") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> edges{89.f,   -104.f, 1e20f, -1e20f, 3.4028235e38f, 1e-30f,
                                 1e-45f, 0,      -0.f,  inf,    -inf,          0.7f};
  cq::detail::force_isa(cq::isa::baseline);
  check_rewrites(cq::trace(inverses), cq::trace<cq::options{.pass_level = 0}>(inverses), edges,
                 edges);
  cq::detail::force_isa(cq::isa::avx512);
  const auto at = [](auto f, float x) { return cq::trace(f)(cq::array<float, 1>{x})(0); };
  CHECK(at([](auto x) { return cq::log(cq::exp(x)); }, 89.f) == inf);
  CHECK(at([](auto x) { return cq::sqrt(x * x); }, 1e20f) == inf);
  CHECK(at([](auto x) { return cq::sqrt(cq::abs(x * x)); }, 3.4028235e38f) == inf);
  CHECK(at([](auto x) { return cq::exp(cq::log(x)); }, 0.f) == 0);
}

TEST_CASE(
    "softmax and log_softmax do not overflow, are shift invariant and sum to 1 (C052, C053)") {
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{cq::softmax(x, cq::axis<-1>), cq::log_softmax(x, cq::axis<-1>)};
  });
  const auto [p, q] = f(cq::array<float, 1>{1000, 1001});
  CHECK(p(0) == doctest::Approx(0.26894142).epsilon(1e-6));
  CHECK(p(1) == doctest::Approx(0.73105858).epsilon(1e-6));
  CHECK(q(0) == doctest::Approx(-1.31326169).epsilon(1e-6));
  const auto [even, log_even] = f(cq::array<float, 1>{1e8f, 1e8f});
  CHECK(-log_even(0) == doctest::Approx(0.6931472).epsilon(1e-6));
  const auto [far, log_far] = f(cq::array<float, 1>{1e38f, -1e38f, 1e38f});
  CHECK(far.to_vector() == std::vector<float>{0.5f, 0, 0.5f});
  CHECK(log_far(0) == doctest::Approx(-0.6931472).epsilon(1e-6));
  CHECK(log_far(1) == -2e38f);
  for (float shift : {0.f, 1e4f, 1e8f}) {
    const auto [a, b] = f(cq::array<float, 2>{{shift, shift}, {shift + 512, shift}});
    CHECK(-b(0, 0) == doctest::Approx(0.6931472).epsilon(1e-6));
    CHECK(b(1, 0) == doctest::Approx(0).epsilon(1e-6));
    CHECK(a(1, 1) == doctest::Approx(0).epsilon(1e-6));
  }
}

TEST_CASE("softmax over any axis equals a long double loop, also over size-1 and empty axes (B9)") {
  const auto check = []<int A>(cq::axis_t<A> axis) {
    constexpr auto f = cq::trace([](auto x) {
      return std::tuple{cq::softmax(x, cq::axis<A>), cq::log_softmax(x, cq::axis<A>)};
    });
    (void)axis;
    std::uint64_t seed = 0;
    for (const auto& s : shapes_of<3>()) {
      for (layout how : layouts) {
        const auto x = laid_out<double>(s, how, draws<double>(++seed));
        const auto a = dense_of(x);
        const auto total = reduce(a, 1u << ((A + 3) % 3), true, [](const auto& g) {
          long double t = 0;
          for (long double v : g) t += std::exp(v);
          return t;
        });
        INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
        const auto [p, q] = f(x);
        CALQUE_CHECK_MATCHES(p, zip([](auto v, auto t) { return std::exp(v) / t; }, a, total), 8);
        std::string why;
        const auto log = zip([](auto v, auto t) { return v - std::log(t); }, a, total);
        bool near = p.shape() == q.shape();
        const auto got = q.to_vector();
        for (std::size_t i = 0; i < got.size(); ++i)
          near = near && std::fabs(got[i] - static_cast<double>(log.data[i])) <
                             1e-14 * (1 + std::fabs(got[i]));
        CHECK(near);
      }
    }
  };
  check(cq::axis<0>);
  check(cq::axis<1>);
  check(cq::axis<-1>);
}

TEST_CASE("the loss of far logits and its derivative are exact (C052)") {
  constexpr auto loss = [](auto logits, auto target) {
    return -cq::sum(cq::log_softmax(logits, cq::axis<-1>) * cq::one_hot<float>(target, 3));
  };
  const auto r = cq::value_and_grad(loss, cq::wrt<0>)(cq::array<float, 2>{{-431, 279, 427}},
                                                      cq::array<std::int32_t, 1>{0});
  CHECK(static_cast<float>(r.value) == 858);
  CHECK(r.grad.to_vector() == std::vector<float>{-1, 0, 1});
}
