// Running sums, sorting and random numbers: operands and lists of peers, see peers.hpp.
#pragma once

#include <cstdint>

#include "benchmarks/peers.hpp"

namespace peers {

struct scan_operands {
  const float* x;
  float* out;
  std::int64_t n;              // numbers in x and out
  std::int64_t rows, columns;  // of the matrix in them
  std::int64_t sorted;         // how many of them are sorted, in rows of `line`
  std::int64_t line;
};

namespace plain {
list<scan_operands> scan();
}
namespace native {
list<scan_operands> scan();
}

}  // namespace peers
