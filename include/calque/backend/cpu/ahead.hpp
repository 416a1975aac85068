// Reads ahead of the processor: the starts of pages that a kernel comes to next.
//
// A processor fetches ahead within a page of memory and starts anew at the next one, so that each
// page of a long operand begins with a wait. Asking for a few lines of it while the page before is
// worked on keeps the memory busy. Called by kernels that walk long rows, a block at a time.
#pragma once

#include <cstdint>

#include "calque/core/config.hpp"

namespace calque::detail {

/// Asks for the first lines of each page of the `bytes` from `p` on, which may lie anywhere: what
/// is not there is not fetched.
CALQUE_INLINE void read_ahead(const void* p, std::int64_t bytes) {
  constexpr std::int64_t page = 4096, line = 64, lines = 8;
  const auto from = reinterpret_cast<std::uintptr_t>(p);
  for (std::int64_t at = 0; at < bytes; at += page)
    for (std::int64_t i = 0; i < lines; ++i)
      __builtin_prefetch(
          reinterpret_cast<const void*>(from + static_cast<std::uintptr_t>(at + i * line)), 0, 2);
}

}  // namespace calque::detail
