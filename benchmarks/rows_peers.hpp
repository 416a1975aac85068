// Softmax and layer norm over rows: operands and lists of peers, see peers.hpp.
#pragma once

#include <cstdint>

#include "benchmarks/peers.hpp"

namespace peers {

struct rows_operands {
  const float *x, *dy;        // rows * columns numbers
  const float *gamma, *beta;  // columns numbers
  float *out, *dx;            // rows * columns numbers
  float *dgamma, *dbeta;      // columns numbers
  std::int64_t rows, columns;
};

namespace plain {
list<rows_operands> rows();
}
namespace native {
list<rows_operands> rows();
}

}  // namespace peers
