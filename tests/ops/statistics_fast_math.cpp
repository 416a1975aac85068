// Compiled with -ffast-math: what a rounding has lost is still taken into account, so that
// statistics of data far from zero keep their accuracy.
#include <cmath>

#include "support/reference.hpp"

namespace cq = calque;

TEST_CASE("B9: rows far from zero are normalised as well as rows near it (C007)") {
  constexpr std::int64_t rows = 5, n = 1000;
  constexpr auto normal = cq::trace([](auto v) { return cq::layer_norm(v, 1.5f, 0.25f); });
  constexpr auto spread = cq::trace([](auto v) {
    return std::tuple{cq::var(v, cq::axis<1>), cq::std(v, cq::axis<1>), cq::mean(v, cq::axis<1>)};
  });
  for (const float offset : {0.f, 300.f, 1e4f, -1e6f}) {
    CAPTURE(offset);
    std::vector<float> data(rows * n);
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = offset + static_cast<float>((i * 7919 + i / 13) % 1009) / 64 - 8;
    const cq::array<float, 2> x{std::span<const float>(data), cq::shape{rows, n}};
    const auto y = normal(x);
    const auto [var, dev, mean] = spread(x);
    double worst = 0, far = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      double m = 0, v = 0;
      for (std::int64_t i = 0; i < n; ++i) m += double{x(r, i)};
      m /= n;
      for (std::int64_t i = 0; i < n; ++i) v += (double{x(r, i)} - m) * (double{x(r, i)} - m);
      v /= n;
      for (std::int64_t i = 0; i < n; ++i)
        worst =
            std::max(worst, std::fabs(double{y(r, i)} -
                                      ((double{x(r, i)} - m) / std::sqrt(v + 1e-5) * 1.5 + 0.25)));
      far = std::max({far, std::fabs(double{var(r)} / v - 1),
                      std::fabs(double{dev(r)} / std::sqrt(v) - 1),
                      std::fabs(double{mean(r)} - m) / (std::fabs(m) + 1)});
    }
    CHECK(worst < 1e-6);
    CHECK(far < 1e-6);
  }
}
