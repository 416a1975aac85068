// Threads by oneTBB: including this header makes `cq::cpu(0).with_threads(n)` mean them.
//
// Link with tbb; the CMake target `calque::tbb` does. Its loops are used directly, see
// docs/decisions/0008-threads-by-a-hook.md.
#pragma once

#include "calque/core/push_macros.inc"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_arena.h>

#include "calque/core/parallel.hpp"

namespace calque {
namespace detail {

inline void run_tbb(int workers, void (*body)(void*, int), void* state) {
  if (tbb::task::current_context() != nullptr) return body(state, 0);  // inside the caller's task
  // isolated: while this thread waits it takes no other task of the program
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(0, workers, [=](int w) { body(state, w); }, tbb::simple_partitioner{});
  });
}

}  // namespace detail

/// oneTBB's threads. A call inside a task stays on its thread.
inline constexpr thread_system tbb_threads{"tbb", 2, &detail::run_tbb};

namespace detail {
inline const bool tbb_offered = offer_thread_system(tbb_threads);
}
}  // namespace calque

#include "calque/core/pop_macros.inc"
