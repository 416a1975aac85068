// prod, all, any, var, std, vector_norm, logsumexp, softmax and its kin against wide loops: axes,
// layouts, empty axes, extremes of the number range.
#include "calque/trace/statistics.hpp"

#include "support/slopes.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

using wide_list = std::vector<long double>;
const float nan_f = std::numeric_limits<float>::quiet_NaN();
const float inf = std::numeric_limits<float>::infinity();

long double variance(const wide_list& g, int less = 0) {
  long double sum = 0, spread = 0;
  for (long double v : g) sum += v;
  const long double mean = sum / static_cast<long double>(g.size());
  for (long double v : g) spread += (v - mean) * (v - mean);
  return spread / (static_cast<long double>(g.size()) - less);
}

// --- the table: a function, and what it gives for a list ---------------------------------------

#define CALQUE_ROW(NAME, CALL, ...)                              \
  struct NAME {                                                  \
    template <class X, class... O>                               \
    static constexpr auto of(const X& x, O... o) {               \
      return CALL;                                               \
    }                                                            \
    static long double reference(const wide_list& g) __VA_ARGS__ \
  }
CALQUE_ROW(prod_row, cq::prod(x, o...), {
  long double p = 1;
  for (long double v : g) p *= v;
  return p;
});
CALQUE_ROW(all_row, cq::all(x, o...), {
  for (long double v : g)
    if (v == 0) return 0;
  return 1;
});
CALQUE_ROW(any_row, cq::any(x, o...), {
  for (long double v : g)
    if (v != 0) return 1;
  return 0;
});
CALQUE_ROW(var_row, cq::var(x, o...), { return variance(g); });
CALQUE_ROW(sample_row, cq::var(x, o..., cq::ddof<1>), { return variance(g, 1); });
CALQUE_ROW(std_row, cq::std(x, o...), { return std::sqrt(variance(g)); });
CALQUE_ROW(norm_row, cq::vector_norm(x, o...), {
  long double s = 0;
  for (long double v : g) s += v * v;
  return std::sqrt(s);
});
CALQUE_ROW(logsumexp_row, cq::logsumexp(x, o...), {
  long double s = 0;
  for (long double v : g) s += std::exp(v);
  return std::log(s);
});
#undef CALQUE_ROW

template <class T>
bool near(T got, long double want, double ulps) {
  if (std::isnan(want)) return got != got;
  if constexpr (std::is_floating_point_v<T>) return is_close(got, want, ulps);
  else return static_cast<long double>(got) == want;
}

template <class Row, class T, int R, bool Keep, int... A, class Draw>
void check_row(cq::axis_t<A...>, Draw draw, double ulps) {
  constexpr unsigned mask = sizeof...(A) == 0 ? (1u << R) - 1u : ((1u << ((A + R) % R)) | ... | 0u);
  constexpr auto f = cq::trace([](auto x) {
    if constexpr (Keep) return Row::of(x, cq::axis<A...>, cq::keepdims);
    else return Row::of(x, cq::axis<A...>);
  });
  auto shapes = shapes_of<R>();
  std::array<std::int64_t, R> large{};
  for (std::size_t i = 0; i < R; ++i) large[i] = i + 1 == R ? 2531 / (R * R) : 9;
  shapes.push_back(cq::shape<R>(large));
  for (const auto& s : shapes)
    for (layout how : layouts) {
      const auto x = laid_out<T>(s, how, draw);
      dense<long double> a;
      const auto d = dense_of(x);
      a.shape = d.shape;
      for (auto v : d.data) a.data.push_back(static_cast<long double>(v));
      INFO("mask ", mask, ", extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto want = reduce(a, mask, Keep, Row::reference);
      const auto got = f(x), again = f(x);
      const auto eager = [&] {
        if constexpr (Keep) return Row::of(x, cq::axis<A...>, cq::keepdims);
        else return Row::of(x, cq::axis<A...>);
      }();
      CHECK(same_bits(got, again));
      CHECK(same_bits(got, eager));
      REQUIRE(static_cast<int>(want.shape.size()) == got.rank());
      for (int i = 0; i < got.rank(); ++i)
        CHECK(got.extent(i) == want.shape[static_cast<std::size_t>(i)]);
      const auto data = got.to_vector();
      REQUIRE(data.size() == want.data.size());
      for (std::size_t i = 0; i < data.size(); ++i)
        if (!near(data[i], want.data[i], ulps)) {
          FAIL_CHECK("element ", i, " is ", static_cast<double>(data[i]), " instead of ",
                     static_cast<double>(want.data[i]));
          break;
        }
    }
}

template <class T>
auto of_range(double lo, double hi, std::uint64_t seed = 1) {
  return [d = between(lo, hi, seed)]() mutable { return static_cast<T>(d()); };
}
template <class T>
auto small_numbers() {
  return [random = std::mt19937(5)]() mutable { return static_cast<T>(random() % 9); };
}

}  // namespace

TEST_CASE("prod, all and any equal wide loops over every set of axes and type (B9, C032)") {
  const auto signs = [k = 0]() mutable { return ++k % 7 == 0 ? -1.f : 1.f; };
  check_row<prod_row, float, 3, true>(cq::axis<0, 2>, signs, 0);
  check_row<prod_row, double, 2, false>(cq::axis<0>, of_range<double>(0.9, 1.1), 64);
  check_row<prod_row, std::int8_t, 2, false>(
      cq::axis<1>, [k = 0]() mutable { return static_cast<std::int8_t>(++k % 90 == 0 ? 2 : -1); },
      0);
  const auto bits = [random = std::mt19937(4)]() mutable { return random() % 50 != 0; };
  const auto rare = [random = std::mt19937(4)]() mutable { return random() % 50 == 0; };
  check_row<all_row, bool, 2, false>(cq::axis<1>, bits, 0);
  check_row<any_row, bool, 2, false>(cq::axis<0>, rare, 0);
  check_row<any_row, float, 1, false>(cq::axis<>, [] { return 0.f; }, 0);
  check_row<all_row, std::int32_t, 2, false>(cq::axis<0>, small_numbers<std::int32_t>(), 0);
  static_assert(
      std::is_same_v<decltype(cq::all(cq::ones<float>(cq::shape{2}))), cq::array<bool, 0>>);
  static_assert(std::is_same_v<decltype(cq::prod(cq::ones<std::uint8_t>(cq::shape{2}))),
                               cq::array<std::uint64_t, 0>>);
  CHECK(cq::all(cq::array<float, 1>{nan_f, -1.f}).item());
  CHECK(cq::prod(cq::full(cq::shape{40}, std::int8_t{2})).item() == std::int64_t{1} << 40);
  CHECK(cq::prod(cq::zeros<int>(cq::shape{0})).item() == 1);
  CHECK(cq::all(cq::zeros<bool>(cq::shape{0})).item());
  CHECK_FALSE(cq::any(cq::zeros<bool>(cq::shape{0})).item());
  CHECK(std::isnan(cq::prod(cq::array<float, 1>{0, inf}).item()));
}

TEST_CASE("var and std equal two passes in a wide type (B9)") {
  check_row<var_row, float, 2, false>(cq::axis<1>, of_range<float>(-9, 9), 4);
  check_row<var_row, std::int32_t, 2, false>(cq::axis<0>, small_numbers<std::int32_t>(), 64);
  check_row<sample_row, float, 2, false>(cq::axis<0>, of_range<float>(-9, 9), 4);
  check_row<std_row, double, 3, true>(cq::axis<0, 2>, of_range<double>(-9, 9), 64);
  static_assert(
      std::is_same_v<decltype(cq::var(cq::ones<int>(cq::shape{2}))), cq::array<double, 0>>);
  static_assert(std::is_same_v<decltype(cq::std(cq::ones<float>(cq::shape{2, 2}), cq::axis<0>,
                                                cq::keepdims, cq::ddof<1>)),
                               cq::array<float, 2>>);
}

TEST_CASE("an offset does not cancel a variance, which is 0 for constants, never negative (C007)") {
  for (double offset : {0., 1e4, 1e7}) {
    const cq::array<float, 1> x{static_cast<float>(offset), static_cast<float>(offset + 1),
                                static_cast<float>(offset + 2)};
    CHECK(cq::var(x).item() == doctest::Approx(2.0 / 3).epsilon(1e-4));
    CHECK(cq::std(x).item() == doctest::Approx(std::sqrt(2.0 / 3)).epsilon(1e-4));
    const cq::array<double, 1> y{offset * 1e6, offset * 1e6 + 1, offset * 1e6 + 2};
    CHECK(cq::var(y).item() == doctest::Approx(2.0 / 3).epsilon(1e-4));
  }
  for (double c : {0.1, 1e10 / 3, -7e-5, 1e300}) {
    for (std::int64_t n : {1, 3, 7, 1000, 4099}) {
      CHECK(cq::var(cq::full(cq::shape{n}, c)).item() == 0);
      CHECK(cq::var(cq::full(cq::shape{n}, static_cast<float>(c / 1e270))).item() == 0);
    }
  }
  CHECK(cq::std(cq::array<float, 1>{1e30f, -1e30f}).item() == 1e30f);
  CHECK(cq::std(cq::array<float, 1>{3e38f, -3e38f}).item() == 3e38f);
  CHECK(std::isnan(cq::var(cq::zeros<float>(cq::shape{0})).item()));
  CHECK(std::isnan(cq::var(cq::array<float, 1>{1.f}, cq::ddof<1>).item()));
  CHECK(std::isnan(cq::var(cq::array<float, 1>{1.f, inf}).item()));
}

TEST_CASE("a norm neither overflows nor vanishes (B9)") {
  check_row<norm_row, float, 2, false>(cq::axis<1>, of_range<float>(-9, 9), 4);
  check_row<norm_row, double, 3, false>(cq::axis<0, 2>, of_range<double>(-9, 9), 64);
  CHECK(cq::vector_norm(cq::array<float, 1>{3e30f, 4e30f}).item() == 5e30f);
  CHECK(cq::vector_norm(cq::array<float, 1>{3e-30f, 4e-30f}).item() == 5e-30f);
  CHECK(cq::vector_norm(cq::array<double, 1>{3e300, -4e300}).item() == doctest::Approx(5e300));
  CHECK(cq::vector_norm(cq::array<double, 1>{3e-300, 4e-300}).item() / 1e-300 ==
        doctest::Approx(5));
  CHECK(cq::vector_norm(cq::zeros<double>(cq::shape{3})).item() == 0);
  CHECK(cq::vector_norm(cq::zeros<double>(cq::shape{0})).item() == 0);
  CHECK(std::isinf(cq::vector_norm(cq::array<double, 1>{1, -HUGE_VAL}).item()));
  CHECK(std::isinf(cq::vector_norm(cq::array<float, 1>{1, -inf}).item()));
  CHECK(std::isnan(cq::vector_norm(cq::array<double, 1>{1, NAN, 2}).item()));
  CHECK(cq::grad([](auto x) { return cq::vector_norm(x); })(cq::zeros<float>(cq::shape{3}))
            .to_vector() == std::vector<float>{0, 0, 0});
  CHECK(cq::grad([](auto x) { return cq::vector_norm(x); })(cq::zeros<double>(cq::shape{2}))
            .to_vector() == std::vector<double>{0, 0});
}

TEST_CASE("logsumexp equals a wide loop; it is stable, and -inf of nothing (B9)") {
  check_row<logsumexp_row, float, 2, false>(cq::axis<1>, of_range<float>(-9, 9), 8);
  check_row<logsumexp_row, double, 3, true>(cq::axis<0, 1>, of_range<double>(-9, 9), 64);
  struct row {
    std::vector<float> x;
    double want;
  };
  const row table[] = {{{1e38f, 1e38f}, 1e38f},
                       {{-1e38f, 1e38f}, 1e38f},
                       {{-3e38f, -3e38f}, -3e38f},
                       {{1e8f, 1e8f}, 1e8f},
                       {{1000, 1001}, 1001.3132616875182},
                       {{1e-45f, 0}, 0.6931471805599453},
                       {{-inf, -inf}, -HUGE_VAL},
                       {{-inf, 2}, 2},
                       {{inf, 2, -3e38f}, HUGE_VAL},
                       {{inf, -inf}, HUGE_VAL},
                       {{1, nan_f, 2}, NAN},
                       {{inf, nan_f}, NAN},
                       {{}, -HUGE_VAL}};
  for (const row& r : table) {
    const float got = cq::logsumexp(cq::array<float, 1>(r.x)).item();
    INFO("row of ", r.x.size(), ", got ", got, " instead of ", r.want);
    CHECK((std::isnan(r.want) ? std::isnan(got)
                              : is_close(got, static_cast<long double>(r.want), 2)));
  }
}

TEST_CASE("softmax and log_softmax are stable at the ends of the number range (C052, C053)") {
  struct row {
    std::vector<float> x, p, l;
  };
  const float third = 0.33333334f, log_third = -1.0986123f;
  const row table[] = {
      {{1e38f, 1e38f, 1e38f}, {third, third, third}, {log_third, log_third, log_third}},
      {{-3e38f, 3e38f}, {0, 1}, {-inf, 0}},
      {{1000, 1001}, {0.26894142f, 0.73105858f}, {-1.3132616f, -0.31326166f}},
      {{1e-45f, 0, -1e-45f}, {third, third, third}, {log_third, log_third, log_third}},
      {{-inf, 0}, {0, 1}, {-inf, 0}},
      {{nan_f, 1}, {nan_f, nan_f}, {nan_f, nan_f}},
      {{1, nan_f}, {nan_f, nan_f}, {nan_f, nan_f}},
      {{inf, 1}, {nan_f, 0}, {nan_f, -inf}},  // inf - inf: the formula with its largest taken out
      {{}, {}, {}}};
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{cq::softmax(x, cq::axis<0>), cq::log_softmax(x, cq::axis<0>)};
  });
  const auto alike = [](const cq::array<float, 1>& got, const std::vector<float>& want) {
    const auto v = got.to_vector();
    bool ok = v.size() == want.size();
    for (std::size_t i = 0; ok && i < v.size(); ++i)
      ok = std::isnan(want[i])
               ? std::isnan(v[i])
               : v[i] == want[i] || std::fabs(v[i] - want[i]) <= 2e-7f * std::fabs(want[i]);
    return ok;
  };
  for (const row& r : table) {
    const auto [p, l] = f(cq::array<float, 1>(r.x));
    INFO("row ", &r - table);
    if (!r.x.empty() && r.x[0] == inf) {  // the NaN of the infinite element is in the sum as well
      CHECK((std::isnan(p(0)) && std::isnan(p(1)) && std::isnan(l(0)) && std::isnan(l(1))));
      continue;
    }
    CHECK(alike(p, r.p));
    CHECK(alike(l, r.l));
  }
}

TEST_CASE(
    "cross entropy: far logits, equal large ones, offsets; per row or their mean (C052, C053)") {
  const cq::array<float, 2> far{{-431, 279, 427}};
  const cq::array<int, 1> zero{0};
  const auto r =
      cq::value_and_grad([](auto x, auto t) { return cq::cross_entropy(x, t); })(far, zero);
  CHECK(r.value.item() == 858);
  CHECK(r.grad.to_vector() == std::vector<float>{-1, 0, 1});
  const cq::array<float, 2> equal{{1e8f, 1e8f}};
  CHECK(cq::cross_entropy(equal, zero).item() == doctest::Approx(0.6931472).epsilon(1e-6));
  for (double c : {0., 1e4, 1e8}) {
    const cq::array<float, 2> x{{static_cast<float>(c), static_cast<float>(c + 16)}};
    CHECK(cq::cross_entropy(x, zero).item() == doctest::Approx(16.000000112535).epsilon(1e-6));
  }
  const auto logits = drawn<float>(cq::shape{25, 10}, draws<float>(3));
  const auto labels = drawn<std::uint8_t>(
      cq::shape{25}, [i = 0]() mutable { return static_cast<std::uint8_t>(i++ * 7 % 10); });
  const auto rows = cq::cross_entropy(logits, labels, cq::no_reduction);
  double total = 0;
  for (std::int64_t i = 0; i < 25; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < 10; ++j) sum += std::exp(static_cast<double>(logits(i, j)));
    const double want = std::log(sum) - logits(i, labels(i));
    CHECK(rows(i) == doctest::Approx(want).epsilon(1e-5));
    total += want;
  }
  CHECK(cq::cross_entropy(logits, labels).item() == doctest::Approx(total / 25).epsilon(1e-5));
  for (int label : {-1, 3, 200})  // no class: not a loss
    CHECK(std::isnan(cq::cross_entropy(far, cq::array<int, 1>{label}).item()));
  for (std::int64_t label : {std::int64_t{1} << 32, (std::int64_t{1} << 32) + 1, INT64_MIN})
    CHECK(std::isnan(cq::cross_entropy(far, cq::array<std::int64_t, 1>{label}).item()));
  CHECK(cq::cross_entropy(far, cq::array<std::int64_t, 1>{2}).item() ==
        cq::cross_entropy(far, cq::array<int, 1>{2}).item());
  CHECK(cq::cross_entropy(cq::zeros<float>(cq::shape{0, 3}), cq::zeros<int>(cq::shape{0}),
                          cq::no_reduction)
            .size() == 0);
}

TEST_CASE("layer_norm equals a wide loop, far from zero and at the ends of the number range") {
  for (double offset : {0., 1e4, 1e6}) {
    const auto x = drawn<float>(cq::shape{6, 37}, of_range<float>(offset - 4, offset + 4));
    const auto gamma = drawn<float>(cq::shape{37}, of_range<float>(-2, 2, 2));
    const auto beta = drawn<float>(cq::shape{37}, of_range<float>(-2, 2, 3));
    const auto y = cq::layer_norm(x, gamma, beta);
    bool close = true;
    for (std::int64_t i = 0; i < 6; ++i) {
      wide_list g;
      for (std::int64_t j = 0; j < 37; ++j) g.push_back(x(i, j));
      long double mean = 0;
      for (long double v : g) mean += v / 37;
      for (std::int64_t j = 0; j < 37; ++j) {
        const long double want =
            (x(i, j) - mean) / std::sqrt(variance(g) + 1e-5L) * gamma(j) + beta(j);
        close = close && std::fabs(static_cast<double>(y(i, j) - want)) < 1e-5;
      }
    }
    CHECK(close);
  }
  const auto one = cq::ones<float>(cq::shape{2}), none = cq::zeros<float>(cq::shape{2});
  const auto y =
      cq::layer_norm(cq::array<float, 2>{{1e30f, -1e30f}, {5, 5}}, one, none, cq::axis<-1>, 1e-6);
  CHECK(y(0, 0) == doctest::Approx(1));
  CHECK(y(0, 1) == doctest::Approx(-1));
  CHECK(y(1, 0) == 0);
  CHECK(cq::layer_norm(cq::zeros<float>(cq::shape{0, 2}), one, none).size() == 0);
}

TEST_CASE("derivatives of statistics and losses equal central differences (B8)") {
  constexpr auto f = [](auto x, auto y, auto gamma, auto beta, auto w, auto labels) {
    return cq::sum(cq::var(x, cq::axis<1>)) + cq::sum(cq::std(x, cq::axis<0>, cq::ddof<1>)) +
           cq::sum(cq::vector_norm(x, cq::axis<1>)) + cq::vector_norm(y) +
           cq::sum(cq::logsumexp(y, cq::axis<0>, cq::keepdims) * w) + cq::cross_entropy(y, labels) +
           cq::sum(cq::layer_norm(x, gamma, beta) * w) +
           cq::sum(cq::layer_norm(y, 1.0, beta, cq::axis<0>, 1e-3) * w);
  };
  check_slopes<0, 1, 2, 3>(f, drawn<double>(cq::shape{3, 4}, between(-2, 2, 1)),
                           drawn<double>(cq::shape{3, 4}, between(-2, 2, 2)),
                           drawn<double>(cq::shape{4}, between(-2, 2, 3)),
                           drawn<double>(cq::shape{4}, between(-2, 2, 4)),
                           drawn<double>(cq::shape{3, 4}, between(-1, 1, 5)),
                           cq::array<int, 1>{2, 0, 3});
}

TEST_CASE("a count that ddof takes all of gives infinity or NaN, never a negative variance") {
  const cq::array<float, 2> x{{1, 2, 4}, {5, 5, 5}};
  const auto check = [&](auto ddof) {
    const auto v = cq::var(x, cq::axis<1>, ddof), s = cq::std(x, cq::axis<1>, ddof);
    CHECK(v(0) == inf);
    CHECK(std::isnan(v(1)));
    CHECK(s(0) == inf);
    CHECK(std::isnan(s(1)));
  };
  check(cq::ddof<3>);
  check(cq::ddof<5>);
  CHECK(std::isnan(cq::var(cq::array<double, 1>{7}, cq::axis<0>, cq::ddof<2>).item()));
}

TEST_CASE(
    "the derivative of the standard deviation of constants is 0, as that of a norm of zeros") {
  constexpr auto f = [](auto x) { return cq::sum(cq::std(x, cq::axis<1>)); };
  const cq::array<double, 2> x{{3, 3, 3}, {1, 2, 3}};
  const auto g = cq::grad(f)(x);
  for (int j = 0; j < 3; ++j) CHECK(g(0, j) == 0);
  CHECK(g(1, 0) == doctest::Approx(-0.408248290463863));
  CHECK(g(1, 1) == doctest::Approx(0));
  CHECK(cq::grad([](auto v) { return cq::std(v); })(cq::array<float, 1>{3})(0) == 0);
}

TEST_CASE("cross entropy takes a label for each row, not one for all (C052)") {
  const auto logits = cq::ones<float>(cq::shape{4, 3}), row = cq::ones<float>(cq::shape{1, 3});
  for (std::int64_t n : {0, 1, 3, 5}) {
    const auto labels = cq::zeros<int>(cq::shape{n});
    CHECK_THROWS_AS((void)cq::cross_entropy(logits, labels), cq::shape_error);
    if (n != 1) CHECK_THROWS_AS((void)cq::cross_entropy(row, labels), cq::shape_error);
  }
  const auto apart = cq::slice(cq::zeros<int>(cq::shape{8}), cq::range{0, 8, 2});
  CHECK(cq::cross_entropy(logits, apart).item() == doctest::Approx(1.0986123));
  const auto far = cq::cross_entropy(cq::ones<double>(cq::shape{2, 2, 3}),
                                     cq::array<int, 2>{{0, 1}, {2, 3}}, cq::no_reduction);
  CHECK(far(1, 0) == doctest::Approx(1.0986122886681098));
  CHECK(std::isnan(far(1, 1)));
}
