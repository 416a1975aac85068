// Comparisons, choice and magnitude against plain loops; NaN and zeros; derivatives at ties.
#include "calque/ops/select.hpp"

#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

constexpr auto compare =
    cq::trace([](auto x, auto y) { return std::tuple{x<y, x <= y, x> y, x >= y, x == y, x != y}; });
constexpr auto choose = cq::trace([](auto p, auto x, auto y) { return cq::where(p, x, y); });
constexpr auto magnitude = cq::trace([](auto x) { return cq::abs(x); });

template <class T>
void check_compare() {
  using V = wide<T>;
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<3>())
    for (layout how : layouts) {
      const auto x = laid_out<T>(s, how, draws<T>(++seed, 0.3));
      const auto y = laid_out<T>(cq::shape{s[1], s[2]}, layouts[seed % 5], draws<T>(seed, 0.3));
      const auto a = dense_of(x), b = dense_of(y);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto [lt, le, gt, ge, eq, ne] = compare(x, y);
      CALQUE_CHECK_MATCHES(lt, zip([](V u, V v) { return u < v; }, a, b), 0);
      CALQUE_CHECK_MATCHES(le, zip([](V u, V v) { return u <= v; }, a, b), 0);
      CALQUE_CHECK_MATCHES(gt, zip([](V u, V v) { return u > v; }, a, b), 0);
      CALQUE_CHECK_MATCHES(ge, zip([](V u, V v) { return u >= v; }, a, b), 0);
      CALQUE_CHECK_MATCHES(eq, zip([](V u, V v) { return u == v; }, a, b), 0);
      CALQUE_CHECK_MATCHES(ne, zip([](V u, V v) { return u != v; }, a, b), 0);
    }
}

template <class T>
void check_choose() {
  using V = wide<T>;
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<3>())
    for (layout how : layouts) {
      ++seed;
      const auto p = laid_out<bool>(cq::shape{s[0], 1, s[2]}, how, draws<bool>(seed));
      const auto x = laid_out<T>(s, layouts[seed % 5], draws<T>(seed, 0.3));
      const auto y = laid_out<T>(cq::shape{s[2]}, how, draws<T>(seed + 1, 0.3));
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      CALQUE_CHECK_MATCHES(
          choose(p, x, y),
          zip([](auto q, V u, V v) { return q ? u : v; }, dense_of(p), dense_of(x), dense_of(y)),
          0);
    }
}

template <class T>
void check_magnitude() {
  using V = wide<T>;
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<2>())
    for (layout how : layouts) {
      const auto x = laid_out<T>(s, how, draws<T>(++seed, 0.3));
      CALQUE_CHECK_MATCHES(magnitude(x), zip([](V v) { return v < 0 ? -v : v; }, dense_of(x)), 0);
    }
}

/// The function and its derivative at each element of `x`.
template <class F>
std::vector<float> slope(F f, const cq::array<float, 1>& x) {
  return cq::grad(f)(x).to_vector();
}

}  // namespace

TEST_CASE(
    "comparisons equal plain ones for every type, layout and broadcast; NaN equals nothing (B9)") {
  check_compare<float>();
  check_compare<double>();
  check_compare<std::int32_t>();
  check_compare<std::int64_t>();
  check_compare<std::uint64_t>();
  check_compare<bool>();
}

TEST_CASE("where takes one operand or the other, whatever the other holds (B9, C068)") {
  check_choose<float>();
  check_choose<std::int64_t>();
  check_choose<std::uint8_t>();
  check_choose<bool>();
  const cq::array<bool, 0> yes = true;
  const auto x = drawn<double>(cq::shape{3, 5}, draws<double>(1));
  CHECK(same_bits(choose(yes, x, x + 1), x));
  static_assert(std::is_same_v<decltype(choose(yes, x, 2.5f)), cq::array<double, 2>>);
  CHECK(choose(false, x, 2)(2, 4) == 2);
}

TEST_CASE(
    "abs clears the sign, also of zero and infinity; the least integer wraps to itself (C044)") {
  check_magnitude<float>();
  check_magnitude<double>();
  check_magnitude<std::int8_t>();
  check_magnitude<std::int32_t>();
  check_magnitude<std::uint8_t>();
  CHECK(!std::signbit(magnitude(cq::array<float, 1>{-0.f})(0)));
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  for (std::int64_t n : {1, 8, 33}) CHECK(magnitude(cq::full(cq::shape{n}, least))(n - 1) == least);
  CHECK(magnitude(cq::array<bool, 1>{true, false}).to_vector() == std::vector<std::int32_t>{1, 0});
}

TEST_CASE("maximum, minimum, clamp and relu give NaN for any NaN, traced and op by op (C014)") {
  const std::vector<float> values{not_a_number, -0.f, 0.f, infinite, -infinite, 1.f, 0.5f};
  constexpr auto f = cq::trace([](auto x, auto lo, auto hi) {
    return std::tuple{cq::maximum(x, lo), cq::minimum(x, hi), cq::minimum(cq::maximum(x, lo), hi),
                      cq::maximum(x, 0)};
  });
  constexpr auto steps = cq::trace<cq::options{.pass_level = 0}>([](auto x, auto lo, auto hi) {
    return std::tuple{cq::maximum(x, lo), cq::minimum(x, hi), cq::minimum(cq::maximum(x, lo), hi),
                      cq::maximum(x, 0)};
  });
  for (std::int64_t copies : {1, 5, 40})
    for (float lo : values)
      for (float hi : values) {
        const auto x = drawn<float>(cq::shape{copies * 7}, [&, i = std::size_t{0}]() mutable {
          return values[i++ % values.size()];
        });
        const auto l = cq::full(x.shape(), lo), h = cq::full(x.shape(), hi);
        const auto [a, b, c, d] = f(x, l, h);
        const auto [p, q, r, s] = steps(x, l, h);
        CHECK(same_bits(a, p));
        CHECK(same_bits(b, q));
        CHECK(same_bits(c, r));
        CHECK(same_bits(d, s));
        CHECK(same_bits(cq::maximum(x, l), a));
        bool right = true;
        for (std::int64_t i = 0; i < x.size(); ++i) {
          right = right && std::isnan(a(i)) == (std::isnan(x(i)) || std::isnan(lo));
          right =
              right && std::isnan(c(i)) == (std::isnan(x(i)) || std::isnan(lo) || std::isnan(hi));
          right = right && std::isnan(d(i)) == std::isnan(x(i));
        }
        CHECK(right);
      }
}

TEST_CASE("no NaN or infinity leaks from the side that where does not take (C055)") {
  CHECK(slope([](auto x) { return cq::sum(cq::where(x > 0, cq::sqrt(x), 0)); }, {4, 0, -1}) ==
        std::vector<float>{0.25f, 0, 0});
  CHECK(slope([](auto x) { return cq::sum(cq::where(x > 0, cq::log(x), x)); }, {4, 0, -1}) ==
        std::vector<float>{0.25f, 1, 1});
  CHECK(slope([](auto x) { return cq::sum(cq::where(x != 0, 1 / x, 3)); }, {2, 0, -0.f}) ==
        std::vector<float>{-0.25f, 0, 0});
  CHECK(slope([](auto x) { return cq::sum(cq::where(x < 10, x, cq::exp(x))); }, {4, 1, 1}) ==
        std::vector<float>{1, 1, 1});
  CHECK(slope([](auto x) { return cq::sum(cq::where(x > 50, 2 * x, cq::exp(x))); },
              {1000, 0, 60}) == std::vector<float>{2, 1, 2});
}

TEST_CASE("equal operands of maximum and minimum share the derivative; abs has slope 0 at 0") {
  const cq::array<float, 1> a{1, 2, 3}, b{2, 2, 2};
  const auto both =
      cq::grad([](auto x, auto y) { return cq::sum(cq::maximum(x, y)); }, cq::wrt<0, 1>)(a, b);
  CHECK(std::get<0>(both).to_vector() == std::vector<float>{0, 0.5f, 1});
  CHECK(std::get<1>(both).to_vector() == std::vector<float>{1, 0.5f, 0});
  CHECK(slope([](auto x) { return cq::sum(cq::minimum(x, 2)); }, a) ==
        std::vector<float>{1, 0.5f, 0});
  CHECK(slope([](auto x) { return cq::sum(cq::abs(x)); }, {-3, 0, -0.f, 2}) ==
        std::vector<float>{-1, 0, 0, 1});
  // comparisons have none: nothing flows through a mask
  CHECK(slope([](auto x) { return cq::sum(cq::astype<float>(x > 1) * x); }, a) ==
        std::vector<float>{0, 1, 1});
}
