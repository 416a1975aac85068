#include "benchmarks/networks_peers.hpp"

#include <algorithm>
#include <cmath>
#if defined(CALQUE_BENCH_LIBMVEC)
#include "benchmarks/vector_maths.hpp"
#endif
#if defined(CALQUE_BENCH_EIGEN)
#include <Eigen/Core>
#endif
#if defined(CALQUE_BENCH_OPENBLAS)
#include <cblas.h>
#endif

namespace peers::CALQUE_BENCH_BUILD {
namespace {

using operands = networks_operands;

// Logits of one row become its softmax; gives the logarithm of the sum, less the largest logit.
[[maybe_unused]] float softmax_row(float* __restrict z, std::int64_t n, float top) {
  float total = 0;
  for (std::int64_t k = 0; k < n; ++k) total += z[k] = expf(z[k] - top);
  const float scale = 1 / total;
  for (std::int64_t k = 0; k < n; ++k) z[k] *= scale;
  return std::log(total);
}

#if defined(CALQUE_BENCH_OPENBLAS)
// Products by OpenBLAS, everything between them by loops over the rows while they are in the cache.
void product(const float* a, bool a_transposed, const float* b, float* c, std::int64_t m,
             std::int64_t k, std::int64_t n, float factor, float keep) {
  const auto M = static_cast<blasint>(m), N = static_cast<blasint>(n), K = static_cast<blasint>(k);
  cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, M, N, K,
              factor, a, a_transposed ? M : K, b, N, keep, c, N);
}
void layer(const float* in, const float* w, const float* b, float* out, std::int64_t rows,
           std::int64_t k, std::int64_t n, bool relu) {
  product(in, false, w, out, rows, k, n, 1, 0);
  for (std::int64_t i = 0; i < rows; ++i) {
    float* __restrict z = out + i * n;
    if (relu) {
#pragma omp simd
      for (std::int64_t j = 0; j < n; ++j) z[j] = z[j] + b[j] > 0 ? z[j] + b[j] : 0;
    } else {
      for (std::int64_t j = 0; j < n; ++j) z[j] += b[j];
    }
  }
}
void mlp_openblas(const operands& o) {
  layer(o.x, o.w1, o.b1, o.h1, o.rows, o.inputs, o.hidden, true);
  layer(o.h1, o.w2, o.b2, o.h2, o.rows, o.hidden, o.hidden, true);
  layer(o.h2, o.w3, o.b3, o.out, o.rows, o.hidden, o.classes, false);
  for (std::int64_t i = 0; i < o.rows; ++i) {
    float* z = o.out + i * o.classes;
    softmax_row(z, o.classes, *std::max_element(z, z + o.classes));
  }
}
void regression_openblas(const operands& o) {
  const std::int64_t k = o.inputs, n = o.classes;
  std::fill(o.w, o.w + k * n, 0.f);
  std::fill(o.b, o.b + n, 0.f);
  const float each = 1 / static_cast<float>(o.batch);
  for (std::int64_t s = 0; s < o.steps; ++s) {
    const float* x = o.images + s * o.batch * k;
    const std::int32_t* labels = o.labels + s * o.batch;
    layer(x, o.w, o.b, o.logits, o.batch, k, n, false);
    float loss = 0;
    for (std::int64_t i = 0; i < o.batch; ++i) {
      float* z = o.logits + i * n;
      const float top = *std::max_element(z, z + n);
      loss -= z[labels[i]] - top;
      loss += softmax_row(z, n, top);
      z[labels[i]] -= 1;
      for (std::int64_t j = 0; j < n; ++j) o.b[j] -= o.rate * each * z[j];
    }
    product(x, true, o.logits, o.w, k, o.batch, n, -o.rate * each, 1);  // w -= rate x' dz
    o.losses[s] = loss * each;
  }
}
#endif

#if defined(CALQUE_BENCH_EIGEN)
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using operand = Eigen::Map<const matrix>;
using line = Eigen::Map<const Eigen::RowVectorXf>;

void softmax_eigen(Eigen::Map<matrix>& z) {
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    auto row = z.row(i).array();
    row = (row - row.maxCoeff()).exp();
    row *= 1 / row.sum();
  }
}
void mlp_eigen(const operands& o) {
  const operand x(o.x, o.rows, o.inputs), w1(o.w1, o.inputs, o.hidden),
      w2(o.w2, o.hidden, o.hidden), w3(o.w3, o.hidden, o.classes);
  Eigen::Map<matrix> h1(o.h1, o.rows, o.hidden), h2(o.h2, o.rows, o.hidden),
      out(o.out, o.rows, o.classes);
  h1.noalias() = x * w1;
  h1 = (h1.rowwise() + line(o.b1, o.hidden)).cwiseMax(0.f);
  h2.noalias() = h1 * w2;
  h2 = (h2.rowwise() + line(o.b2, o.hidden)).cwiseMax(0.f);
  out.noalias() = h2 * w3;
  out.rowwise() += line(o.b3, o.classes);
  softmax_eigen(out);
}
void regression_eigen(const operands& o) {
  Eigen::Map<matrix> w(o.w, o.inputs, o.classes), z(o.logits, o.batch, o.classes),
      dw(o.dw, o.inputs, o.classes);
  Eigen::Map<Eigen::RowVectorXf> b(o.b, o.classes);
  Eigen::VectorXf top(o.batch), total(o.batch);
  w.setZero();
  b.setZero();
  const float count = static_cast<float>(o.batch);
  for (std::int64_t s = 0; s < o.steps; ++s) {
    const operand x(o.images + s * o.batch * o.inputs, o.batch, o.inputs);
    const std::int32_t* labels = o.labels + s * o.batch;
    z.noalias() = x * w;
    z.rowwise() += b;
    top = z.rowwise().maxCoeff();
    z.colwise() -= top;
    float loss = 0;
    for (std::int64_t i = 0; i < o.batch; ++i) loss -= z(i, labels[i]);
    z.array() = z.array().exp();
    total = z.rowwise().sum();
    loss += total.array().log().sum();
    z.array().colwise() /= total.array() * count;
    for (std::int64_t i = 0; i < o.batch; ++i) z(i, labels[i]) -= 1 / count;
    dw.noalias() = x.transpose() * z;
    w -= o.rate * dw;
    b -= o.rate * z.colwise().sum();
    o.losses[s] = loss / count;
  }
}
#endif

constexpr peer<operands> all[] = {
#if defined(CALQUE_BENCH_OPENBLAS)
    {"mlp", "OpenBLAS", mlp_openblas},
    {"softmax regression", "OpenBLAS", regression_openblas},
#endif
#if defined(CALQUE_BENCH_EIGEN)
    {"mlp", "Eigen", mlp_eigen},
    {"softmax regression", "Eigen", regression_eigen},
#endif
    {"", "", nullptr},
};

}  // namespace

list<networks_operands> networks() {
#if defined(CALQUE_BENCH_OPENBLAS)
  openblas_set_num_threads(1);
#endif
  return all;
}

}  // namespace peers::CALQUE_BENCH_BUILD
