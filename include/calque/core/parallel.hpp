// How kernels share blocks of work among threads, whatever runs the threads.
//
// The library starts no threads. A program that includes a header of calque/parallel registers a
// `thread_system`; kernels hand it one body through a plain function pointer, so that nothing is
// compiled for each system. Workers take blocks from one counter, in ascending order: who gets
// which block depends on the moment, what a block computes does not.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "calque/core/config.hpp"
#include "calque/core/device.hpp"

#if CALQUE_X86()
#include <xmmintrin.h>
#endif

namespace calque {

/// A way to run several threads. The caller's pool can be one too.
struct thread_system {
  const char* name = "";
  /// Of several that a program includes, the one with the greatest number is used.
  int rank = 0;
  /// Calls body(state, w) for w in [0, workers), at the same time as far as it can, and returns
  /// when all have returned. It may leave some out, or throw when those that it began have
  /// returned: the caller does what is left. The body does not throw.
  void (*run)(int workers, void (*body)(void* state, int worker), void* state) = nullptr;
};

namespace detail {
inline namespace abi_1 {

CALQUE_SHARED inline std::atomic<const thread_system*>& thread_system_in_use() noexcept {
  static std::atomic<const thread_system*> system{nullptr};
  return system;
}

}  // namespace abi_1
}  // namespace detail

/// What runs the threads of this process's calls; null: nothing, every call stays on its thread.
[[nodiscard]] inline const thread_system* current_thread_system() noexcept {
  return detail::thread_system_in_use().load(std::memory_order_acquire);
}
/// Makes `s`, which outlives its use, run the threads of this process's calls; returns the one
/// before. Programs that include one header of calque/parallel never need it.
///
///   cq::use_thread_system(&cq::omp_threads);  // where tbb.hpp is included too
inline const thread_system* use_thread_system(const thread_system* s) noexcept {
  return detail::thread_system_in_use().exchange(s, std::memory_order_acq_rel);
}

namespace detail {

/// Registers a system unless one of a greater rank is there; for initialisers of inline variables.
inline bool offer_thread_system(const thread_system& s) noexcept {
  auto& in_use = thread_system_in_use();
  const thread_system* now = in_use.load(std::memory_order_acquire);
  while (now == nullptr || now->rank < s.rank)
    if (in_use.compare_exchange_weak(now, &s, std::memory_order_acq_rel)) break;
  return true;
}

using block_body = void (*)(void* state, int worker, std::int64_t block);

/// Calls body(state, worker, block) for each block in [0, blocks), by at most `workers` threads
/// with different numbers below that. If bodies throw, no further blocks begin, and the exception
/// of the first block that threw is rethrown here: the one that a single thread would have met.
CALQUE_ONCE void run_blocks(int workers, std::int64_t blocks, block_body body, void* state);

/// The same for f(worker, block).
template <class F>
CALQUE_HIDDEN void for_each_block(int workers, std::int64_t blocks, const F& f) {
  run_blocks(
      workers, blocks,
      [](void* state, int worker, std::int64_t block) {
        (*static_cast<const F*>(state))(worker, block);
      },
      const_cast<F*>(&f));
}

#if CALQUE_DEFINES_ONCE()
/// One use of `run_blocks` by several threads.
class CALQUE_HIDDEN parallel_region {
 public:
  parallel_region(std::int64_t blocks, block_body body, void* state)
      : blocks_(blocks), body_(body), state_(state) {}

  void work(int worker) noexcept {
    const rounding like_caller(control_);
    for (;;) {
      const std::int64_t block = next_.fetch_add(1, std::memory_order_relaxed);
      if (block >= blocks_) return;
      try {
        body_(state_, worker, block);
      } catch (...) {
        fail(block);
      }
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// Rounding and denormals are treated as on the caller's thread; the worker gets its own back.
  class rounding {
   public:
#if CALQUE_X86()
    static constexpr unsigned flags = 0x3f;  // sticky, not control
    static unsigned here() { return _mm_getcsr(); }
    explicit rounding(unsigned wanted) : before_(here()) {
      if (((before_ ^ wanted) & ~flags) != 0) _mm_setcsr((wanted & ~flags) | (before_ & flags));
    }
    ~rounding() {
      if (((here() ^ before_) & ~flags) != 0) _mm_setcsr((before_ & ~flags) | (here() & flags));
    }
    rounding(const rounding&) = delete;
    rounding& operator=(const rounding&) = delete;

   private:
    unsigned before_;
#else
    static unsigned here() { return 0; }
    explicit rounding(unsigned) {}
#endif
  };

  void fail(std::int64_t block) noexcept {
    next_.store(blocks_, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (error_ && failed_ < block) return;
    error_ = std::current_exception();
    failed_ = block;
  }

  std::atomic<std::int64_t> next_{0};
  const std::int64_t blocks_;
  const block_body body_;
  void* const state_;
  const unsigned control_ = rounding::here();
  std::mutex mutex_;
  std::exception_ptr error_;
  std::int64_t failed_ = 0;
};

CALQUE_ONCE void run_blocks(int workers, std::int64_t blocks, block_body body, void* state) {
  const thread_system* const system = current_thread_system();
  if (blocks < workers) workers = static_cast<int>(blocks);
  if (workers <= 1 || system == nullptr) {
    for (std::int64_t b = 0; b < blocks; ++b) body(state, 0, b);
    return;
  }
  parallel_region region(blocks, body, state);
  {
    // what a user's functor calls stays on the thread that calls it
    struct alone {
      int threads = current_device().threads;
      alone() { current_device().threads = 1; }
      ~alone() { current_device().threads = threads; }
    } const stay;
    try {
      system->run(
          workers, [](void* r, int w) { static_cast<parallel_region*>(r)->work(w); }, &region);
    } catch (...) {  // a call that has begun to write ends as if it had one thread
    }
    region.work(0);  // what the system left out
  }
  region.rethrow();
}
#endif

}  // namespace detail
}  // namespace calque
