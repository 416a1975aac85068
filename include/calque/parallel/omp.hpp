// Threads by OpenMP: including this header makes `cq::cpu(0).with_threads(n)` mean them.
//
// Compile with -fopenmp; the CMake target `calque::omp` does. OpenMP's loops are used directly, see
// docs/decisions/0008-threads-by-a-hook.md.
#pragma once

#if !defined(_OPENMP)
#error "calque/parallel/omp.hpp needs OpenMP: compile with -fopenmp, or link the target calque::omp"
#endif

#include "calque/core/push_macros.inc"

#include <omp.h>

#include "calque/core/parallel.hpp"

namespace calque {
namespace detail {

inline void run_omp(int workers, void (*body)(void*, int), void* state) {
  if (omp_in_parallel() != 0) return body(state, 0);  // the caller's own region has the threads
#pragma omp parallel for num_threads(workers) schedule(static, 1)
  for (int w = 0; w < workers; ++w) body(state, w);
}

}  // namespace detail

/// OpenMP's threads. A call inside a parallel region stays on its thread.
inline constexpr thread_system omp_threads{"omp", 1, &detail::run_omp};

namespace detail {
inline const bool omp_offered = offer_thread_system(omp_threads);
}
}  // namespace calque

#include "calque/core/pop_macros.inc"
