#include "benchmarks/fused_peers.hpp"

#include <cmath>
#include <cstring>

#if defined(CALQUE_BENCH_EIGEN)
#include <Eigen/Core>
#endif

namespace peers {

void copy(const float* x, float* out, std::int64_t n) {
  std::memcpy(out, x, static_cast<std::size_t>(n) * sizeof(float));
}
void axpy_hand(const float* __restrict x, const float* __restrict y, float a, float* __restrict out,
               std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}
// Sixteen sums, so that the compiler may vectorise without reordering.
float norm_hand(const float* __restrict x, const float* __restrict y, float a, std::int64_t n) {
  float s[16] = {};
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int k = 0; k < 16; ++k) {
      const float z = a * x[i + k] + y[i + k];
      s[k] += z * z;
    }
  float total = 0;
  for (float v : s) total += v;
  for (; i < n; ++i) total += (a * x[i] + y[i]) * (a * x[i] + y[i]);
  return std::sqrt(total);
}

#if defined(CALQUE_BENCH_EIGEN)

using vector = Eigen::Map<const Eigen::ArrayXf>;
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void axpy_eigen(const float* x, const float* y, float a, float* out, std::int64_t n) {
  Eigen::Map<Eigen::ArrayXf>(out, n) = a * vector(x, n) + vector(y, n);
}
float norm_eigen(const float* x, const float* y, float a, std::int64_t n) {
  return std::sqrt((a * vector(x, n) + vector(y, n)).square().sum());
}

struct eigen_softmax::data {
  matrix w, z, dw;
  Eigen::RowVectorXf b;
  Eigen::VectorXf top, total;
};
eigen_softmax::eigen_softmax(int inputs, int classes) : d_(new data) {
  d_->w = matrix::Zero(inputs, classes);
  d_->b = Eigen::RowVectorXf::Zero(classes);
}
eigen_softmax::~eigen_softmax() = default;
float eigen_softmax::step(const float* x, const std::int32_t* labels, int rows, float rate) {
  data& d = *d_;
  const Eigen::Map<const matrix> in(x, rows, d.w.rows());
  d.z.noalias() = in * d.w;
  d.z.rowwise() += d.b;
  d.top = d.z.rowwise().maxCoeff();
  d.z.colwise() -= d.top;
  float loss = 0;
  for (int i = 0; i < rows; ++i) loss -= d.z(i, labels[i]);
  d.z = d.z.array().exp().matrix();
  d.total = d.z.rowwise().sum();
  loss += d.total.array().log().sum();
  d.z.array().colwise() /= d.total.array() * static_cast<float>(rows);
  for (int i = 0; i < rows; ++i) d.z(i, labels[i]) -= 1.f / static_cast<float>(rows);
  d.dw.noalias() = in.transpose() * d.z;
  d.w -= rate * d.dw;
  d.b -= rate * d.z.colwise().sum();
  return loss / static_cast<float>(rows);
}

#else

void axpy_eigen(const float* x, const float* y, float a, float* out, std::int64_t n) {
  axpy_hand(x, y, a, out, n);
}
float norm_eigen(const float* x, const float* y, float a, std::int64_t n) {
  return norm_hand(x, y, a, n);
}
struct eigen_softmax::data {};
eigen_softmax::eigen_softmax(int, int) {}
eigen_softmax::~eigen_softmax() = default;
float eigen_softmax::step(const float*, const std::int32_t*, int, float) { return 0; }

#endif

}  // namespace peers
