// Layer norm at the ends of the number range, and its derivatives to the second.
#include <calque/calque.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>
#include "support/reference.hpp"
#include "support/slopes.hpp"

namespace cq = calque;
using namespace calque::test;

namespace {

/// Rows of `columns` numbers around `offset`, all times `size`, normalised in long double.
template <class T>
double off_by(std::int64_t columns, double offset, T size, double eps) {
  const std::int64_t rows = 5;
  auto x = cq::zeros<T>(cq::shape{rows, columns});
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<T>(offset + std::sin(static_cast<double>(3 * i + 1))) * size;
  const auto y = cq::layer_norm(x, 1.0, 0.0, cq::axis<-1>, eps);
  double worst = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    long double mean = 0, square = 0;
    for (std::int64_t j = 0; j < columns; ++j) mean += static_cast<long double>(x(i, j)) / columns;
    for (std::int64_t j = 0; j < columns; ++j) {
      const long double away = x(i, j) - mean;
      square += away * away / columns;
    }
    for (std::int64_t j = 0; j < columns; ++j)
      worst = std::max(worst, static_cast<double>(
                                  std::fabs(y(i, j) - (x(i, j) - mean) / std::sqrt(square + eps))));
  }
  return worst;
}

}  // namespace

TEST_CASE("B9: layer_norm keeps its accuracy at any magnitude, with and without a constant") {
  for (std::int64_t columns : {2, 7, 64, 1000})
    for (float size : {1e-36f, 1e-30f, 1e-12f, 1.f, 1e10f, 1e20f, 1e30f, 1e37f}) {
      CAPTURE(columns);
      CAPTURE(size);
      CHECK(off_by<float>(columns, 0, size, 0) < 3e-6);
      CHECK(off_by<float>(columns, 3, size, 0) < 3e-6);
      CHECK(off_by<float>(columns, 0, size, 1e-5) < 3e-6);
      CHECK(off_by<float>(columns, 1000, std::fmin(size, 1e34f), 0) < 2e-4 * 1);
    }
  for (double size : {1e-290, 1e-200, 1., 1e150, 1e300})
    for (double eps : {0., 1e-5}) CHECK(off_by<double>(50, 3, size, eps) < 1e-14);
}

TEST_CASE("layer_norm and its derivatives are the same traced, on arrays and eagerly (A11)") {
  constexpr auto norm = [](auto x, auto g, auto b) { return cq::layer_norm(x, g, b); };
  constexpr auto slope = [](auto x, auto g, auto b) {
    return cq::grad(
        [](auto v, auto s, auto t) { return cq::sum(cq::exp(cq::layer_norm(v, s, t))); },
        cq::wrt<0, 1, 2>)(x, g, b);
  };
  const auto check = [&]<class T>(T, T tolerance) {
    const cq::array<T, 2> x{{1, 2, 4}, {-3, 0.5, 7}};
    const cq::array<T, 1> g{1, 2, 0.5}, b{0, -1, 3};
    const auto near = [&](const auto& p, const auto& q) {
      const auto u = p.to_vector(), v = q.to_vector();
      REQUIRE(u.size() == v.size());
      for (std::size_t i = 0; i < u.size(); ++i)
        CHECK(std::fabs(u[i] - v[i]) <= tolerance * (1 + std::fabs(u[i])));
    };
    const auto traced = cq::trace(norm)(x, g, b);
    CHECK(std::fabs(traced(0, 0) - T(-1.0690407)) < T(1e-4));
    near(traced, cq::layer_norm(x, g, b));
    near(traced, cq::eager(norm)(x, g, b));
    const auto p = cq::trace(slope)(x, g, b);
    const auto q = cq::eager(slope)(x, g, b);
    near(std::get<0>(p), std::get<0>(q));
    near(std::get<1>(p), std::get<1>(q));
    near(std::get<2>(p), std::get<2>(q));
  };
  check(1.f, 2e-5f);
  check(1., 1e-12);
}

TEST_CASE("B9: rows of one number are 0, of infinities and NaN are NaN, and disturb no other row") {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = NAN;
  const cq::array<float, 2> x{{5, 5, 5},
                              {1e30f, 1e30f, 1e30f},
                              {0, 0, 0},
                              {1, inf, 2},
                              {1, nan, 2},
                              {-inf, -inf, 1},
                              {1, 2, 3},
                              {1e-44f, 1e-44f, 1e-44f},
                              {3e38f, 3e38f, 3e38f}};
  const auto y = cq::layer_norm(x, 1.0, 0.0);
  for (std::int64_t i : {0, 1, 2, 7, 8})
    for (std::int64_t j = 0; j < 3; ++j) CHECK(y(i, j) == 0);
  for (std::int64_t i : {3, 4, 5})
    for (std::int64_t j = 0; j < 3; ++j) CHECK(std::isnan(y(i, j)));
  CHECK(y(6, 2) == doctest::Approx(1.224736).epsilon(1e-5));
  CHECK(y(6, 1) == 0);
}

TEST_CASE("B8: layer_norm's first and second derivatives, and that of eps, equal differences") {
  const auto x = drawn<double>(cq::shape{3, 5}, between(-2, 2, 1));
  const auto gamma = drawn<double>(cq::shape{5}, between(-2, 2, 2));
  const auto beta = drawn<double>(cq::shape{5}, between(-2, 2, 3));
  const auto w = drawn<double>(cq::shape{3, 5}, between(-1, 1, 4));
  constexpr auto loss = [](auto a, auto g, auto b, auto v) {
    const auto y = cq::layer_norm(a, g, b);
    return cq::sum(y * y * v) + cq::sum(cq::layer_norm(a, g, 1.0, cq::axis<0, 1>, 0.5) * v);
  };
  check_slopes<0, 1, 2>(loss, x, gamma, beta, w);
  constexpr auto slope = [](auto a, auto g, auto b, auto v) {
    const auto [da, dg] = cq::grad(
        [](auto p, auto q, auto r, auto s) {
          const auto y = cq::layer_norm(p, q, r);
          return cq::sum(y * y * s);
        },
        cq::wrt<0, 1>)(a, g, b, v);
    return cq::sum(da * da) + cq::sum(dg * v);
  };
  check_slopes<0, 1, 2>(slope, x, gamma, beta, w);
  constexpr auto constant = [](auto a, auto g, auto b, auto eps) {
    return cq::sum(cq::layer_norm(a, g, b, cq::axis<-1>, eps) * a);
  };
  const auto slope_of_eps = cq::grad(constant, cq::wrt<3>)(x, gamma, beta, 0.3);
  const double up = constant(x, gamma, beta, 0.3 + 1e-6).item();
  const double down = constant(x, gamma, beta, 0.3 - 1e-6).item();
  CHECK(slope_of_eps.item() == doctest::Approx((up - down) / 2e-6).epsilon(1e-6));
}
