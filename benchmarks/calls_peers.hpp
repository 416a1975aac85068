// Small calls: operands and lists of peers, see peers.hpp.
#pragma once

#include <cstdint>

#include "benchmarks/peers.hpp"

namespace peers {

struct calls_operands {
  const float *x, *y, *z;
  float* out;
  std::int64_t n;
};

namespace plain {
list<calls_operands> calls();
}
namespace native {
list<calls_operands> calls();
}

}  // namespace peers
