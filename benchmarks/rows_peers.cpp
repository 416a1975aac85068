#include "benchmarks/rows_peers.hpp"

#include <algorithm>
#include <cmath>
#if defined(CALQUE_BENCH_LIBMVEC)
#include "benchmarks/vector_maths.hpp"
#endif
#if defined(CALQUE_BENCH_EIGEN)
#include <Eigen/Core>
#endif

namespace peers::CALQUE_BENCH_BUILD {
namespace {

using operands = rows_operands;

// Sums and maxima in sixty-four lanes, so that the compiler may vectorise without reordering.
constexpr int lanes = 64;

template <class F>
float sum_of(std::int64_t n, F term) {
  float s[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
#pragma omp simd
    for (int k = 0; k < lanes; ++k) s[k] += term(i + k);
  float total = 0;
  for (float v : s) total += v;
  for (; i < n; ++i) total += term(i);
  return total;
}
float largest_of(const float* __restrict x, std::int64_t n) {
  float s[lanes];
  std::fill(s, s + lanes, x[0]);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
#pragma omp simd
    for (int k = 0; k < lanes; ++k) s[k] = x[i + k] > s[k] ? x[i + k] : s[k];
  float top = *std::max_element(s, s + lanes);
  for (; i < n; ++i) top = std::max(top, x[i]);
  return top;
}

// A row at a time, which stays in the first-level cache: largest, exponentials with their sum,
// scale.
void softmax_hand(const operands& o) {
  const std::int64_t m = o.columns;
  for (std::int64_t i = 0; i < o.rows; ++i) {
    const float* __restrict x = o.x + i * m;
    float* __restrict out = o.out + i * m;
    const float top = largest_of(x, m);
#pragma omp simd
    for (std::int64_t k = 0; k < m; ++k) out[k] = expf(x[k] - top);
    const float scale = 1 / sum_of(m, [=](std::int64_t k) { return out[k]; });
#pragma omp simd
    for (std::int64_t k = 0; k < m; ++k) out[k] *= scale;
  }
}
struct moments {
  float mean, inverse;  // of the deviation
};
// Two passes over a row in the cache: the variance is that of the centred numbers.
moments moments_of(const float* __restrict x, std::int64_t m) {
  const float count = static_cast<float>(m);
  const float mean = sum_of(m, [=](std::int64_t k) { return x[k]; }) / count;
  const float var =
      sum_of(m, [=](std::int64_t k) { return (x[k] - mean) * (x[k] - mean); }) / count;
  return {mean, 1 / std::sqrt(var + 1e-5f)};
}
void layer_norm_hand(const operands& o) {
  const std::int64_t m = o.columns;
  const float* __restrict g = o.gamma, * __restrict b = o.beta;
  for (std::int64_t i = 0; i < o.rows; ++i) {
    const float* __restrict x = o.x + i * m;
    float* __restrict out = o.out + i * m;
    const auto [mean, inverse] = moments_of(x, m);
#pragma omp simd
    for (std::int64_t k = 0; k < m; ++k) out[k] = (x[k] - mean) * inverse * g[k] + b[k];
  }
}
// dx = inverse (g dy - mean(g dy) - h mean(g dy h)) with h = (x - mean) inverse, all in one visit
// of the row; dgamma and dbeta are summed over the rows on the way.
void layer_norm_gradient_hand(const operands& o) {
  const std::int64_t m = o.columns;
  const float* __restrict g = o.gamma, * __restrict b = o.beta;
  float* __restrict dg = o.dgamma, * __restrict db = o.dbeta;
  std::fill(dg, dg + m, 0.f);
  std::fill(db, db + m, 0.f);
  for (std::int64_t i = 0; i < o.rows; ++i) {
    const float* __restrict x = o.x + i * m, * __restrict dy = o.dy + i * m;
    float* __restrict out = o.out + i * m, * __restrict dx = o.dx + i * m;
    const auto [mean, inverse] = moments_of(x, m);
    const float count = static_cast<float>(m);
    const float s1 = sum_of(m, [=](std::int64_t k) { return g[k] * dy[k]; }) / count;
    const float s2 =
        sum_of(m, [=, mean = mean, inverse = inverse](
                      std::int64_t k) { return g[k] * dy[k] * ((x[k] - mean) * inverse); }) /
        count;
#pragma omp simd
    for (std::int64_t k = 0; k < m; ++k) {
      const float h = (x[k] - mean) * inverse;
      out[k] = h * g[k] + b[k];
      dx[k] = inverse * (g[k] * dy[k] - s1 - h * s2);
      dg[k] += dy[k] * h;
      db[k] += dy[k];
    }
  }
}

#if defined(CALQUE_BENCH_EIGEN)
using matrix = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using line = Eigen::Array<float, 1, Eigen::Dynamic>;
using operand = Eigen::Map<const matrix>;
using line_operand = Eigen::Map<const line>;

void softmax_eigen(const operands& o) {
  const operand x(o.x, o.rows, o.columns);
  Eigen::Map<matrix> out(o.out, o.rows, o.columns);
  for (std::int64_t i = 0; i < o.rows; ++i) {
    auto row = out.row(i);
    row = (x.row(i) - x.row(i).maxCoeff()).exp();
    row *= 1 / row.sum();
  }
}
void layer_norm_eigen(const operands& o) {
  const operand x(o.x, o.rows, o.columns);
  const line_operand g(o.gamma, o.columns), b(o.beta, o.columns);
  Eigen::Map<matrix> out(o.out, o.rows, o.columns);
  for (std::int64_t i = 0; i < o.rows; ++i) {
    const float mean = x.row(i).mean();
    const float var = (x.row(i) - mean).square().mean();
    out.row(i) = (x.row(i) - mean) * (1 / std::sqrt(var + 1e-5f)) * g + b;
  }
}
void layer_norm_gradient_eigen(const operands& o) {
  const operand x(o.x, o.rows, o.columns), dy(o.dy, o.rows, o.columns);
  const line_operand g(o.gamma, o.columns), b(o.beta, o.columns);
  Eigen::Map<matrix> out(o.out, o.rows, o.columns), dx(o.dx, o.rows, o.columns);
  Eigen::Map<line> dg(o.dgamma, o.columns), db(o.dbeta, o.columns);
  line h(o.columns), w(o.columns);
  dg.setZero();
  db.setZero();
  for (std::int64_t i = 0; i < o.rows; ++i) {
    const float mean = x.row(i).mean();
    const float inverse = 1 / std::sqrt((x.row(i) - mean).square().mean() + 1e-5f);
    h = (x.row(i) - mean) * inverse;
    w = g * dy.row(i);
    out.row(i) = h * g + b;
    dx.row(i) = inverse * (w - w.mean() - h * (w * h).mean());
    dg += dy.row(i) * h;
    db += dy.row(i);
  }
}
#endif

constexpr peer<operands> all[] = {
    {"softmax", "hand", softmax_hand},
    {"layer norm", "hand", layer_norm_hand},
    {"layer norm gradient", "hand", layer_norm_gradient_hand},
#if defined(CALQUE_BENCH_EIGEN)
    {"softmax", "Eigen", softmax_eigen},
    {"layer norm", "Eigen", layer_norm_eigen},
    {"layer norm gradient", "Eigen", layer_norm_gradient_eigen},
#endif
};

}  // namespace

list<rows_operands> rows() { return all; }

}  // namespace peers::CALQUE_BENCH_BUILD
