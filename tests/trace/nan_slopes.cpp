// Derivatives of what chooses among elements where the chosen one is NaN: it is NaN's, never lost.
#include <cmath>
#include <limits>

#include "calque/ops/sort.hpp"
#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();

/// Slopes by each of two operands; -1 in `want` stands for NaN.
template <class F>
void check_two(const char* what, const F&, const std::vector<float>& a, const std::vector<float>& b,
               const std::vector<float>& by_a, const std::vector<float>& by_b) {
  INFO(std::string(what));
  constexpr auto loss = [](auto x, auto y) { return cq::sum(F{}(x, y)); };
  const cq::array<float, 1> x{std::span<const float>(a)}, y{std::span<const float>(b)};
  const auto [dx, dy] = cq::grad(loss, cq::wrt<0, 1>)(x, y);
  CHECK(dx.to_vector() == by_a);
  CHECK(dy.to_vector() == by_b);
}
template <class F, class T, int R>
void check_one(const char* what, const F&, const cq::array<T, R>& x, const std::vector<T>& want) {
  INFO(std::string(what));
  constexpr auto loss = [](auto v) { return cq::sum(F{}(v)); };
  const auto got = cq::grad(loss)(x).to_vector();
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK((std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i]));
  }
}

}  // namespace

TEST_CASE(
    "B9: of two operands NaN takes the derivative, two NaN share it as equal ones do (C014)") {
  const std::vector<float> a{1, 2, 2, nan_f, 1, nan_f}, b{2, 1, 2, 1, nan_f, nan_f};
  check_two("maximum", [](auto x, auto y) { return cq::maximum(x, y); }, a, b,
            {0, 1, 0.5f, 1, 0, 0.5f}, {1, 0, 0.5f, 0, 1, 0.5f});
  check_two("minimum", [](auto x, auto y) { return cq::minimum(x, y); }, a, b,
            {1, 0, 0.5f, 1, 0, 0.5f}, {0, 1, 0.5f, 0, 1, 0.5f});
  check_two("clip by an array below", [](auto x, auto y) { return cq::clip(x, y, 3); }, a, b,
            {0, 1, 0.5f, 1, 0, 0.5f}, {1, 0, 0.5f, 0, 1, 0.5f});
  check_two("clip by an array above", [](auto x, auto y) { return cq::clip(x, -3, y); }, a, b,
            {1, 0, 0.5f, 1, 0, 0.5f}, {0, 1, 0.5f, 0, 1, 0.5f});
}

TEST_CASE("B9: elementwise choices by a number let the derivative through to NaN") {
  const cq::array<float, 1> x{-2, 0, 3, nan_f};
  check_one("maximum", [](auto v) { return cq::maximum(v, 0); }, x, {0, 0.5f, 1, 1});
  check_one("minimum", [](auto v) { return cq::minimum(0, v); }, x, {1, 0.5f, 0, 1});
  check_one("maximum with NaN", [](auto v) { return cq::maximum(v, nan_f); }, x, {0, 0, 0, 0.5f});
  check_one("clip", [](auto v) { return cq::clip(v, -1, 1); }, x, {0, 1, 0, 1});
  check_one("relu", [](auto v) { return cq::relu(v); }, x, {0, 0, 1, 1});
  check_one("abs", [](auto v) { return cq::abs(v); }, x, {-1, 0, 1, nan_f});
}

TEST_CASE("B9: a reduction that is NaN gives the derivative to the NaN among its elements") {
  const cq::array<float, 2> x{{1, 5, 5, 2}, {nan_f, 9, 4, 4}, {nan_f, 1, nan_f, 7}};
  check_one("max, rows", [](auto v) { return cq::max(v, cq::axis<1>); }, x,
            {0, 0.5f, 0.5f, 0, 1, 0, 0, 0, 0.5f, 0, 0.5f, 0});
  check_one("min, rows", [](auto v) { return cq::min(v, cq::axis<1>); }, x,
            {1, 0, 0, 0, 1, 0, 0, 0, 0.5f, 0, 0.5f, 0});
  check_one("max, columns", [](auto v) { return cq::max(v, cq::axis<0>, cq::keepdims); }, x,
            {0, 0, 0, 0, 0.5f, 1, 0, 0, 0.5f, 0, 1, 1});
  check_one("max, all", [](auto v) { return cq::max(v); }, x,
            {0, 0, 0, 0, 1 / 3.f, 0, 0, 0, 1 / 3.f, 0, 1 / 3.f, 0});
  check_one("min, all", [](auto v) { return cq::min(v, cq::axis<0, 1>); }, x,
            {0, 0, 0, 0, 1 / 3.f, 0, 0, 0, 1 / 3.f, 0, 1 / 3.f, 0});
  const cq::array<float, 2> image{{1, 2, 8, 8}, {nan_f, 9, nan_f, nan_f}};
  check_one("max_pool2d", [](auto v) { return cq::max_pool2d(v, 2); }, image,
            {0, 0, 0, 0, 1, 0, 1, 0});  // the first, as of equal elements
  check_one("sort", [](auto v) { return cq::slice(cq::sort(v), cq::range{-1, cq::range::open}); },
            cq::array<float, 1>{3, nan_f, 1}, {0, 1, 0});
}

TEST_CASE("B9: norms and deviations of a row with NaN have slopes NaN, not numbers") {
  const float all = nan_f;
  const cq::array<float, 1> x{1, nan_f, 2}, zeros{0, 0, 0};
  const cq::array<double, 1> y{1, nan_f, 2};
  check_one("vector_norm", [](auto v) { return cq::vector_norm(v); }, x, {all, all, all});
  check_one("vector_norm", [](auto v) { return cq::vector_norm(v); }, y, {all, all, all});
  check_one("std", [](auto v) { return cq::std(v); }, x, {all, all, all});
  check_one("logsumexp", [](auto v) { return cq::logsumexp(v); }, x, {all, all, all});
  check_one("vector_norm", [](auto v) { return cq::vector_norm(v); }, zeros, {0, 0, 0});
  check_one("std", [](auto v) { return cq::std(v); }, zeros, {0, 0, 0});
}
