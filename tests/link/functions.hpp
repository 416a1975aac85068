// Traced functions in a header, as users write them, and what a translation unit or a library that
// includes it has to say about them.
#pragma once

#include <cstdint>

#include "calque/calque.hpp"

namespace linked {

namespace cq = calque;

inline constexpr auto blend = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
inline constexpr auto norm = cq::trace([](auto x) { return cq::sqrt(cq::sum(x * x)); });
inline constexpr auto largest = cq::trace(
    [](auto m, auto v) { return cq::argmax(cq::matmul(m, cq::transpose(m)) + v, cq::axis<1>); });

inline constexpr int length = 1003;

/// What one unit computed; plain data, so that it may cross any boundary.
struct answer {
  const void* devices;    // the table of the process
  const void* level;      // where the instruction set in use is kept
  std::int64_t launches;  // of this unit
  float blended[length];
  float norm;               // of whole numbers: exact
  std::int64_t largest[3];  // likewise
};

using unit = void (*)(answer*);

}  // namespace linked
