// Elementwise work: operands and lists of peers, see peers.hpp.
#pragma once

#include <cstdint>

#include "benchmarks/peers.hpp"

namespace peers {

struct elementwise_operands {
  const float *x, *y;  // n numbers in (0, 1)
  float* out;          // n numbers
  float a;
  std::int64_t n;
  const float *spot, *strike, *years;  // m options
  float* price;
  float rate, volatility;
  std::int64_t m;
};

namespace plain {
list<elementwise_operands> elementwise();
}
namespace native {
list<elementwise_operands> elementwise();
}

}  // namespace peers
