// Reductions: operands and lists of peers, see peers.hpp.
#pragma once

#include <cstdint>

#include "benchmarks/peers.hpp"

namespace peers {

struct reductions_operands {
  const float *x, *y;  // n = rows * columns numbers
  float a;
  std::int64_t rows, columns;
  float* total;          // 1 number
  float* column_sums;    // columns numbers
  std::int64_t* places;  // rows indices
};

namespace plain {
list<reductions_operands> reductions();
}
namespace native {
list<reductions_operands> reductions();
}

}  // namespace peers
