// How a file of peers names its contestants. Each <family>_peers.cpp is compiled twice, with plain
// -O2 and with -O3 -march=native, into a shared library of its own that exports nothing but its
// list: the two copies of Eigen's templates must not become one.
#pragma once

#include <span>

#if !defined(CALQUE_BENCH_BUILD)
#define CALQUE_BENCH_BUILD plain
#endif

namespace peers {

/// One contestant: the row it competes in, its name, and what does the work once.
template <class Operands>
struct peer {
  const char* row;
  const char* who;
  void (*run)(const Operands&);
};
template <class Operands>
using list = std::span<const peer<Operands>>;

}  // namespace peers
