#include "benchmarks/reductions_peers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#if defined(CALQUE_BENCH_EIGEN)
#include <Eigen/Core>
#endif
#if defined(CALQUE_BENCH_XTENSOR)
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#endif

namespace peers::CALQUE_BENCH_BUILD {
namespace {

using operands = reductions_operands;

// Sixty-four sums, so that the compiler may vectorise without reordering.
void norm_hand(const operands& o) {
  constexpr int lanes = 64;
  const float* __restrict x = o.x, * __restrict y = o.y;
  const float a = o.a;
  const std::int64_t n = o.rows * o.columns;
  float s[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
#pragma omp simd
    for (int k = 0; k < lanes; ++k) {
      const float z = a * x[i + k] + y[i + k];
      s[k] += z * z;
    }
  float total = 0;
  for (float v : s) total += v;
  for (; i < n; ++i) total += (a * x[i] + y[i]) * (a * x[i] + y[i]);
  *o.total = std::sqrt(total);
}
// Four rows at a time, so that the sums are read and written a quarter as often.
void columns_hand(const operands& o) {
  const std::int64_t m = o.columns;
  float* __restrict s = o.column_sums;
  std::fill(s, s + m, 0.f);
  std::int64_t i = 0;
  for (; i + 4 <= o.rows; i += 4) {
    const float* __restrict p = o.x + i * m, * __restrict q = p + m, * __restrict r = q + m, * __restrict t = r + m;
#pragma omp simd
    for (std::int64_t k = 0; k < m; ++k) s[k] += (p[k] + q[k]) + (r[k] + t[k]);
  }
  for (; i < o.rows; ++i)
    for (std::int64_t k = 0; k < m; ++k) s[k] += o.x[i * m + k];
}
// The largest number of a row by sixty-four running ones, then the first place that holds it: both
// loops are on vectors, and the row is in the first-level cache for the second.
void places_hand(const operands& o) {
  constexpr int lanes = 64;
  const std::int64_t m = o.columns;
  for (std::int64_t i = 0; i < o.rows; ++i) {
    const float* __restrict x = o.x + i * m;
    float top[lanes];
    std::fill(top, top + lanes, x[0]);
    std::int64_t k = 0;
    for (; k + lanes <= m; k += lanes)
#pragma omp simd
      for (int l = 0; l < lanes; ++l) top[l] = x[k + l] > top[l] ? x[k + l] : top[l];
    float largest = *std::max_element(top, top + lanes);
    for (; k < m; ++k) largest = std::max(largest, x[k]);
    k = 0;
    for (; k + lanes <= m; k += lanes) {
      int any = 0;
#pragma omp simd reduction(| : any)
      for (int l = 0; l < lanes; ++l) any |= x[k + l] == largest;
      if (any != 0) break;
    }
    while (k < m && x[k] != largest) ++k;
    o.places[i] = k;
  }
}

#if defined(CALQUE_BENCH_EIGEN)
using vector = Eigen::Map<const Eigen::ArrayXf>;
using matrix =
    Eigen::Map<const Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

void norm_eigen(const operands& o) {
  const std::int64_t n = o.rows * o.columns;
  *o.total = std::sqrt((o.a * vector(o.x, n) + vector(o.y, n)).square().sum());
}
// Row by row into the sums: `colwise().sum()` of a row-major matrix walks down each column.
void columns_eigen(const operands& o) {
  const matrix x(o.x, o.rows, o.columns);
  Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>> s(o.column_sums, o.columns);
  s = x.row(0);
  for (std::int64_t i = 1; i < o.rows; ++i) s += x.row(i);
}
void places_eigen(const operands& o) {
  const matrix x(o.x, o.rows, o.columns);
  for (std::int64_t i = 0; i < o.rows; ++i) {
    Eigen::Index k = 0;
    x.row(i).maxCoeff(&k);
    o.places[i] = k;
  }
}
#endif

#if defined(CALQUE_BENCH_XTENSOR)
template <std::size_t N>
auto seen(const float* p, std::array<std::size_t, N> shape) {
  std::size_t size = 1;
  for (std::size_t n : shape) size *= n;
  return xt::adapt(p, size, xt::no_ownership(), shape);
}
void norm_xtensor(const operands& o) {
  const std::array n{static_cast<std::size_t>(o.rows * o.columns)};
  const auto x = seen(o.x, n), y = seen(o.y, n);
  *o.total = std::sqrt(xt::sum(xt::square(o.a * x + y), xt::evaluation_strategy::immediate)());
}
void columns_xtensor(const operands& o) {
  const auto m = static_cast<std::size_t>(o.columns);
  const auto x = seen(o.x, std::array{static_cast<std::size_t>(o.rows), m});
  auto s = xt::adapt(o.column_sums, m, xt::no_ownership(), std::array{m});
  xt::noalias(s) = xt::sum(x, {0}, xt::evaluation_strategy::immediate);
}
#endif

constexpr peer<operands> all[] = {
    {"norm", "hand", norm_hand},
    {"column sums", "hand", columns_hand},
    {"argmax rows", "hand", places_hand},
#if defined(CALQUE_BENCH_EIGEN)
    {"norm", "Eigen", norm_eigen},
    {"column sums", "Eigen", columns_eigen},
    {"argmax rows", "Eigen", places_eigen},
#endif
#if defined(CALQUE_BENCH_XTENSOR)
    {"norm", "xtensor", norm_xtensor},
    {"column sums", "xtensor", columns_xtensor},
#endif
};

}  // namespace

list<reductions_operands> reductions() { return all; }

}  // namespace peers::CALQUE_BENCH_BUILD
