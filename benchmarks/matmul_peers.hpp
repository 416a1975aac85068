// Matrix products: operands and lists of peers, see peers.hpp.
#pragma once

#include <cstdint>

#include "benchmarks/peers.hpp"

namespace peers {

/// `batch` products of (m, k) by (k, n), all row-major and contiguous; a transposed left operand is
/// stored as (k, m), a transposed right one as (n, k).
struct matmul_operands {
  std::int64_t batch, m, k, n;
  bool a_transposed, b_transposed;
  const float *a, *b;
  float* c;
};

namespace plain {
list<matmul_operands> matmul();
}
namespace native {
list<matmul_operands> matmul();
}

}  // namespace peers
