#include "benchmarks/matmul_peers.hpp"

#include <algorithm>
#if defined(CALQUE_BENCH_EIGEN)
#include <Eigen/Core>
#endif
#if defined(CALQUE_BENCH_OPENBLAS)
#include <cblas.h>
#endif

namespace peers::CALQUE_BENCH_BUILD {
namespace {

using operands = matmul_operands;

// The textbook's order of loops, whose innermost one runs along the rows of b and c.
void hand(const operands& o) {
  if (o.a_transposed || o.b_transposed) return;
  for (std::int64_t s = 0; s < o.batch; ++s) {
    const float *a = o.a + s * o.m * o.k, *b = o.b + s * o.k * o.n;
    float* c = o.c + s * o.m * o.n;
    std::fill(c, c + o.m * o.n, 0.f);
    for (std::int64_t i = 0; i < o.m; ++i)
      for (std::int64_t l = 0; l < o.k; ++l) {
        const float f = a[i * o.k + l];
        const float* __restrict from = b + l * o.n;
        float* __restrict to = c + i * o.n;
        for (std::int64_t j = 0; j < o.n; ++j) to[j] += f * from[j];
      }
  }
}

#if defined(CALQUE_BENCH_EIGEN)
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using operand = Eigen::Map<const matrix>;

void eigen(const operands& o) {
  for (std::int64_t s = 0; s < o.batch; ++s) {
    const float *a = o.a + s * o.m * o.k, *b = o.b + s * o.k * o.n;
    const operand x(a, o.a_transposed ? o.k : o.m, o.a_transposed ? o.m : o.k);
    const operand y(b, o.b_transposed ? o.n : o.k, o.b_transposed ? o.k : o.n);
    Eigen::Map<matrix> z(o.c + s * o.m * o.n, o.m, o.n);
    if (o.a_transposed && o.b_transposed) z.noalias() = x.transpose() * y.transpose();
    else if (o.a_transposed) z.noalias() = x.transpose() * y;
    else if (o.b_transposed) z.noalias() = x * y.transpose();
    else z.noalias() = x * y;
  }
}
#endif

#if defined(CALQUE_BENCH_OPENBLAS)
void openblas(const operands& o) {
  const auto m = static_cast<blasint>(o.m), n = static_cast<blasint>(o.n),
             k = static_cast<blasint>(o.k);
  for (std::int64_t s = 0; s < o.batch; ++s)
    cblas_sgemm(CblasRowMajor, o.a_transposed ? CblasTrans : CblasNoTrans,
                o.b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1, o.a + s * o.m * o.k,
                o.a_transposed ? m : k, o.b + s * o.k * o.n, o.b_transposed ? k : n, 0,
                o.c + s * o.m * o.n, n);
}
#endif

constexpr peer<operands> all[] = {
    {"product", "hand", hand},
#if defined(CALQUE_BENCH_EIGEN)
    {"product", "Eigen", eigen},
#endif
#if defined(CALQUE_BENCH_OPENBLAS)
    {"product", "OpenBLAS", openblas},
#endif
};

}  // namespace

list<matmul_operands> matmul() {
#if defined(CALQUE_BENCH_OPENBLAS)
  openblas_set_num_threads(1);
#endif
  return all;
}

}  // namespace peers::CALQUE_BENCH_BUILD
