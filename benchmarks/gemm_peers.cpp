// What benchmarks/gemm.cpp is measured against: Eigen, compiled with -O3 -march=native.
#if defined(CALQUE_BENCH_EIGEN)
#include <Eigen/Core>

#include <cstdint>

namespace {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using operand = Eigen::Map<const matrix>;

}  // namespace

void eigen_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, bool a_transposed,
                const float* b, bool b_transposed, float* c);

void eigen_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, bool a_transposed,
                const float* b, bool b_transposed, float* c) {
  const operand x(a, a_transposed ? k : m, a_transposed ? m : k);
  const operand y(b, b_transposed ? n : k, b_transposed ? k : n);
  Eigen::Map<matrix> z(c, m, n);
  if (a_transposed && b_transposed) z.noalias() = x.transpose() * y.transpose();
  else if (a_transposed) z.noalias() = x.transpose() * y;
  else if (b_transposed) z.noalias() = x * y.transpose();
  else z.noalias() = x * y;
}
#endif
