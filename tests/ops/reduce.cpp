// Reductions against wide loops: every set of axes, layouts, empty and size-1 axes; accumulators;
// NaN; ties.
#include "calque/ops/reduce.hpp"

#include <algorithm>

#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

const float not_a_number = std::numeric_limits<float>::quiet_NaN();
const float inf = std::numeric_limits<float>::infinity();

template <class V>
V total(const std::vector<V>& g) {
  V s = 0;
  for (V v : g) s += v;
  return s;
}
template <class V>
V most(const std::vector<V>& g) {
  V m = g[0];
  for (V v : g) m = v != v || v > m ? v : m;  // NaN stays: nothing is above it
  return m;
}
template <class V>
V least(const std::vector<V>& g) {
  V m = g[0];
  for (V v : g) m = v != v || v < m ? v : m;
  return m;
}

/// A tolerance in units of the largest partial sum: sums of both signs may cancel.
template <class T, int R, class V>
bool sums_match(const cq::array<T, R>& got, const dense<V>& want, const dense<V>& magnitude) {
  if constexpr (!std::is_floating_point_v<T>) {
    std::string why;
    return matches(got, want, 0, why);
  } else {
    const auto data = got.to_vector();
    if (data.size() != want.data.size()) return false;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const long double error = std::fabs(static_cast<long double>(data[i]) - want.data[i]);
      if (error >
          4 * static_cast<long double>(std::numeric_limits<T>::epsilon()) * magnitude.data[i])
        return false;
    }
    return true;
  }
}

template <class T, class Axes, bool Keep>
struct reductions {
  template <class X>
  static constexpr auto sums(const X& x) {
    if constexpr (Keep)
      return std::tuple{cq::sum(x, Axes{}, cq::keepdims), cq::mean(x, Axes{}, cq::keepdims)};
    else return std::tuple{cq::sum(x, Axes{}), cq::mean(x, Axes{})};
  }
  template <class X>
  static constexpr auto extremes(const X& x) {
    if constexpr (Keep)
      return std::tuple{cq::max(x, Axes{}, cq::keepdims), cq::min(x, Axes{}, cq::keepdims)};
    else return std::tuple{cq::max(x, Axes{}), cq::min(x, Axes{})};
  }
};

template <class T, int R, bool Keep, int... A>
void check_reductions(cq::axis_t<A...>) {
  using V = wide<T>;
  using Axes = cq::axis_t<A...>;
  constexpr unsigned mask = sizeof...(A) == 0 ? (1u << R) - 1u : ((1u << ((A + R) % R)) | ... | 0u);
  constexpr auto sums = cq::trace([](auto x) { return reductions<T, Axes, Keep>::sums(x); });
  constexpr auto extremes =
      cq::trace([](auto x) { return reductions<T, Axes, Keep>::extremes(x); });
  std::uint64_t seed = 0;
  auto shapes = shapes_of<R>();
  std::array<std::int64_t, R> large{};
  for (int i = 0; i < R; ++i)
    large[static_cast<std::size_t>(i)] = R == 1 ? 5000 : i == R - 1 ? 531 : 9;
  shapes.push_back(cq::shape<R>(large));
  for (const auto& s : shapes)
    for (layout how : layouts) {
      const auto x = laid_out<T>(s, how, draws<T>(++seed));
      const auto a = dense_of(x);
      INFO("mask ", mask, ", extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto size = reduce(a, mask, Keep, [](const auto& g) {
        V m = 0;
        for (V v : g) m += v < 0 ? -v : v;
        return m;
      });
      const auto [sum, mean] = sums(x);
      CHECK(sums_match(sum, reduce(a, mask, Keep, [](const auto& g) { return total(g); }), size));
      const auto [again, mean_again] = sums(x);
      CHECK(same_bits(sum, again));
      const auto means = reduce(a, mask, Keep, [](const auto& g) {
        return g.empty() ? static_cast<long double>(NAN)
                         : static_cast<long double>(total(g)) / static_cast<long double>(g.size());
      });
      const auto got = mean.to_vector();
      bool near = got.size() == means.data.size();
      for (std::size_t i = 0; near && i < got.size(); ++i)
        near = std::isnan(means.data[i])
                   ? std::isnan(got[i])
                   : std::fabs(static_cast<long double>(got[i]) - means.data[i]) <=
                         static_cast<long double>(
                             std::numeric_limits<decltype(got[0] + 0)>::epsilon()) *
                             8;
      CHECK(near);
      if (reduces_nothing(a, mask)) {
        CHECK_THROWS_AS((void)extremes(x), cq::shape_error);
      } else {
        const auto special = laid_out<T>(s, how, draws<T>(seed, 0.05));
        const auto b = dense_of(special);
        const auto [high, low] = extremes(special);
        CALQUE_CHECK_MATCHES(high, reduce(b, mask, Keep, [](const auto& g) { return most(g); }), 0);
        CALQUE_CHECK_MATCHES(low, reduce(b, mask, Keep, [](const auto& g) { return least(g); }), 0);
      }
    }
}

template <class T>
std::int64_t first_most(const std::vector<T>& g, bool largest) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < g.size(); ++i) {
    if (g[best] != g[best]) break;
    if (g[i] != g[i] || (largest ? g[i] > g[best] : g[i] < g[best])) best = i;
  }
  return static_cast<std::int64_t>(best);
}

template <class T, int R, int A>
void check_positions(cq::axis_t<A>) {
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{cq::argmax(x, cq::axis<A>), cq::argmin(x, cq::axis<A>, cq::keepdims)};
  });
  constexpr unsigned mask = 1u << ((A + R) % R);
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<R>())
    for (layout how : layouts) {
      const auto x = laid_out<T>(s, how, [d = draws<T>(++seed, 0.1)]() mutable {
        const T v = d();
        return std::is_floating_point_v<T> && std::fabs(static_cast<double>(v)) < 9
                   ? static_cast<T>(static_cast<int>(v))
                   : v;  // with ties
      });
      const auto a = dense_of(x);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      if (reduces_nothing(a, mask)) {
        CHECK_THROWS_AS((void)f(x), cq::shape_error);
        continue;
      }
      const auto [high, low] = f(x);
      CALQUE_CHECK_MATCHES(
          high, reduce(a, mask, false, [](const auto& g) { return first_most(g, true); }), 0);
      CALQUE_CHECK_MATCHES(
          low, reduce(a, mask, true, [](const auto& g) { return first_most(g, false); }), 0);
    }
}

}  // namespace

TEST_CASE("f32 reductions over every set of axes equal wide loops (B9, C032)") {
  check_reductions<float, 1, false>(cq::axis<>);
  check_reductions<float, 2, false>(cq::axis<0>);
  check_reductions<float, 2, false>(cq::axis<1>);
  check_reductions<float, 2, true>(cq::axis<-1>);
  check_reductions<float, 3, false>(cq::axis<1>);
  check_reductions<float, 3, false>(cq::axis<0, 2>);
  check_reductions<float, 4, true>(cq::axis<1, -2>);
  check_reductions<float, 4, false>(cq::axis<>);
}
TEST_CASE("reductions of f64, integers and bool equal wide loops (B9, C002)") {
  check_reductions<double, 2, false>(cq::axis<1>);
  check_reductions<double, 3, false>(cq::axis<0>);
  check_reductions<std::int32_t, 2, false>(cq::axis<0>);
  check_reductions<std::int64_t, 2, false>(cq::axis<1>);
  check_reductions<std::uint8_t, 3, false>(cq::axis<1, 2>);
  check_reductions<bool, 2, true>(cq::axis<0>);
}

TEST_CASE("argmax and argmin give the first of equals, or the first NaN, on any axis (C016)") {
  check_positions<float, 2>(cq::axis<1>);
  check_positions<float, 3>(cq::axis<0>);
  check_positions<double, 3>(cq::axis<1>);
  check_positions<std::int32_t, 2>(cq::axis<0>);
  check_positions<std::uint8_t, 2>(cq::axis<-1>);
  check_positions<bool, 2>(cq::axis<1>);
  const cq::array<float, 2> ties{{2, 3, 0, 3, 3}, {1, 3, 1, 3, 1}};
  CHECK(cq::argmax(ties, cq::axis<1>).to_vector() == std::vector<std::int64_t>{1, 1});
  CHECK(cq::argmin(ties, cq::axis<1>).to_vector() == std::vector<std::int64_t>{2, 0});
  CHECK(cq::argmax(cq::array<float, 1>{1, not_a_number, inf, not_a_number}).item() == 1);
}

TEST_CASE("argmax over a size-1 axis is 0 however many rows there are (C017)") {
  for (std::int64_t n : lengths) {
    const auto p = cq::argmax(cq::zeros<float>(cq::shape{n, 1}), cq::axis<1>).to_vector();
    CHECK(std::count(p.begin(), p.end(), 0) == n);
  }
  const auto p = cq::argmax(cq::zeros<float>(cq::shape{40, 900, 1}), cq::axis<2>).to_vector();
  CHECK(std::count(p.begin(), p.end(), 0) == 36000);
}

TEST_CASE(
    "the type of a sum depends on the elements alone; no start value truncates (C001, C002)") {
  const auto x = cq::full(cq::shape{10}, 0.9f);
  static_assert(std::is_same_v<decltype(cq::sum(x)), cq::array<float, 0>>);
  CHECK(is_close(cq::sum(x).item(), 10 * static_cast<long double>(0.9f), 2));
  static_assert(std::is_same_v<decltype(cq::sum(cq::ones<std::uint8_t>(cq::shape{1}))),
                               cq::array<std::uint64_t, 0>>);
  static_assert(std::is_same_v<decltype(cq::sum(cq::ones<std::int8_t>(cq::shape{1}))),
                               cq::array<std::int64_t, 0>>);
  static_assert(
      std::is_same_v<decltype(cq::sum(cq::ones<bool>(cq::shape{1}))), cq::array<std::int64_t, 0>>);
  CHECK(cq::sum(cq::ones<std::uint8_t>(cq::shape{1000})).item() == 1000);
  CHECK(cq::sum(cq::ones<bool>(cq::shape{5000})).item() == 5000);
  CHECK(cq::sum(cq::full(cq::shape{300}, std::int8_t{-128})).item() == -38400);
  CHECK(cq::sum(cq::full(cq::shape{70000}, std::uint16_t{65535})).item() == 4587450000u);
  CHECK(cq::mean(cq::array<std::int32_t, 1>{2147483647, 2147483647}).item() == 2147483647.0);
}

TEST_CASE("a long sum of floats does not stall, over any axis (C004)") {
  constexpr std::int64_t n = 17825792;
  const cq::array<float, 1> one{1.f};
  const auto ones = cq::broadcast_to(one, cq::shape{n});
  CHECK(cq::sum(ones).item() == n);
  CHECK(cq::sum(cq::ones<float>(cq::shape{n})).item() == n);
  CHECK(cq::sum(cq::broadcast_to(one, cq::shape{n, 2}), cq::axis<0>).to_vector() ==
        std::vector<float>{n, n});
  CHECK(cq::sum(cq::broadcast_to(one, cq::shape{2, n}), cq::axis<1>).to_vector() ==
        std::vector<float>{n, n});
  CHECK(cq::sum(cq::full(cq::shape{1000000}, 0.1f)).item() ==
        doctest::Approx(100000.0015).epsilon(1e-6));
  CHECK(cq::mean(ones).item() == 1);
}

TEST_CASE("a mean neither overflows nor cancels (C007)") {
  CHECK(cq::mean(cq::full(cq::shape{1000}, 3e38f)).item() == 3e38f);
  CHECK(cq::mean(cq::full(cq::shape{3, 100}, -3e38f), cq::axis<1>)(2) == -3e38f);
  for (double offset : {1e4, 1e7}) {
    const auto x = cq::array<float, 1>{static_cast<float>(offset), static_cast<float>(offset + 1),
                                       static_cast<float>(offset + 2)};
    constexpr auto variance = cq::trace([](auto v) {
      const auto d = v - cq::mean(v);
      return cq::mean(d * d);
    });
    CHECK(variance(x).item() == doctest::Approx(2.0 / 3).epsilon(1e-4));
  }
}

TEST_CASE("max and min give NaN wherever it stands (C010, C011, C013)") {
  std::vector<float> v{not_a_number, 3, 1, 7};
  std::sort(v.begin(), v.end(),
            [](float a, float b) { return (a != a ? 9 : a) < (b != b ? 9 : b); });
  const auto order = [](float a, float b) { return (a != a ? 9 : a) < (b != b ? 9 : b); };
  do {
    const cq::array<float, 1> x{std::span<const float>(v)};
    CHECK(std::isnan(cq::max(x).item()));
    CHECK(std::isnan(cq::min(x).item()));
  } while (std::next_permutation(v.begin(), v.end(), order));
  CHECK(std::isnan(cq::max(cq::array<float, 1>{inf, not_a_number}).item()));
  CHECK(std::isnan(cq::min(cq::array<float, 1>{-inf, not_a_number}).item()));
  constexpr auto f = cq::trace([](auto x) { return std::tuple{cq::max(x), cq::min(x)}; });
  auto x = cq::zeros<float>(cq::shape{1025});
  bool all = true;
  for (std::int64_t i = 0; i < 1025; ++i) {
    x(i) = not_a_number;
    const auto [high, low] = f(x);
    all = all && std::isnan(high.item()) && std::isnan(low.item());
    x(i) = 0;
  }
  CHECK(all);
  auto square = cq::zeros<float>(cq::shape{64, 64});
  for (std::int64_t i = 0; i < 64; ++i) square(i, i) = not_a_number;
  for (const auto& m : {cq::array<const float, 2>(square), cq::transpose(square)}) {
    const auto rows = cq::min(m, cq::axis<1>).to_vector(),
               columns = cq::max(m, cq::axis<0>).to_vector();
    CHECK(std::all_of(rows.begin(), rows.end(), [](float e) { return std::isnan(e); }));
    CHECK(std::all_of(columns.begin(), columns.end(), [](float e) { return std::isnan(e); }));
  }
}

TEST_CASE(
    "reductions of nothing: sum 0, mean NaN, extremes throw; kept axes of 0 stay (C032, C034)") {
  const auto x = cq::zeros<float>(cq::shape{0, 2});
  CHECK(cq::max(x, cq::axis<1>).shape() == cq::shape{0});
  CHECK_THROWS_AS((void)cq::max(x, cq::axis<0>), cq::shape_error);
  CHECK_THROWS_AS((void)cq::argmax(x, cq::axis<0>), cq::shape_error);
  CHECK(cq::argmax(x, cq::axis<1>).shape() == cq::shape{0});
  CHECK_THROWS_AS((void)cq::min(cq::zeros<float>(cq::shape{0})), cq::shape_error);
  constexpr auto sum = cq::trace([](auto v) { return cq::sum(v, cq::axis<0>); });
  constexpr auto mean = cq::trace([](auto v) { return cq::mean(v, cq::axis<0>); });
  auto out = cq::full(cq::shape{2}, 42.f);
  for (int call = 0; call < 2; ++call) {
    sum.into(out, x);
    CHECK(out.to_vector() == std::vector<float>{0, 0});
    mean.into(out, x);
    CHECK((std::isnan(out(0)) && std::isnan(out(1))));
    out = cq::full(cq::shape{2}, 42.f);
  }
}

TEST_CASE("a fused map and reduction of different types computes in the wider one (C041)") {
  const cq::array<std::int32_t, 1> k{1, 2, 3, 4};
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{cq::sum(0.5 * x), cq::sum(cq::astype<std::int8_t>(x) * 100), cq::sum(x > 2),
                      cq::sum(cq::astype<float>(x) / 8), cq::max(cq::astype<double>(x) / 4)};
  });
  const auto [half, narrow, count, eighths, high] = f(k);
  CHECK(half.item() == 5.0);
  CHECK(narrow.item() == 100 - 56 + 44 - 112);  // wraps in int8, then sums in int64
  CHECK(count.item() == 2);
  CHECK(eighths.item() == 1.25f);
  CHECK(high.item() == 1.0);
}

TEST_CASE("equal extremes share the derivative of max and min; mean and sum spread it") {
  const cq::array<float, 2> x{{1, 3, 3}, {2, 2, 0}};
  CHECK(cq::grad([](auto v) { return cq::sum(cq::max(v, cq::axis<1>)); })(x).to_vector() ==
        std::vector<float>{0, 0.5f, 0.5f, 0.5f, 0.5f, 0});
  CHECK(cq::grad([](auto v) { return cq::min(v); })(x).to_vector() ==
        std::vector<float>{0, 0, 0, 0, 0, 1});
  CHECK(cq::grad([](auto v) { return cq::mean(v) * 6; })(x).to_vector() ==
        std::vector<float>{1, 1, 1, 1, 1, 1});
}

TEST_CASE("a sum has the same bits however often it runs, at each instruction set") {
  const auto x = drawn<float>(cq::shape{100003}, draws<float>(11));
  const auto m = drawn<float>(cq::shape{317, 331}, draws<float>(12));
  constexpr auto f = cq::trace([](auto u, auto v) {
    return std::tuple{cq::sum(u), cq::sum(v, cq::axis<0>), cq::sum(v, cq::axis<1>)};
  });
  at_each_isa(
      [&] {
        const auto [a, b, c] = f(x, m);
        for (int call = 0; call < 10; ++call) {
          const auto [p, q, r] = f(x, m);
          CHECK(same_bits(a, p));
          CHECK(same_bits(b, q));
          CHECK(same_bits(c, r));
        }
      },
      f);
}
