// Which instruction set the CPU kernels of this process use.
//
// Kernels are compiled for every level and chosen here at run time, so a program built without any
// -march flag still runs the widest vectors its machine has. Asked once; tests may lower the level.
#pragma once

#include <atomic>

#include "calque/core/config.hpp"

namespace calque {

/// Levels a kernel is compiled for, in ascending order.
enum class isa : int { baseline, avx2, avx512 };

/// Bytes of a vector register at that level.
[[nodiscard]] constexpr int vector_bytes(isa level) {
  return level == isa::avx512 ? 64 : level == isa::avx2 ? 32 : 16;
}

namespace detail {

/// What this processor and operating system support.
[[nodiscard]] inline isa detect_isa() noexcept {
#if CALQUE_X86()
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
      return isa::avx512;
    return isa::avx2;
  }
#endif
  return isa::baseline;
}

inline namespace abi_1 {

/// The level in use: -1 until somebody asks.
CALQUE_SHARED inline std::atomic<int>& isa_in_use() noexcept {
  static std::atomic<int> level{-1};
  return level;
}

}  // namespace abi_1
}  // namespace detail

/// The level that kernels run at; detected once for the process.
[[nodiscard]] inline isa best_isa() noexcept {
  const int known = detail::isa_in_use().load(std::memory_order_relaxed);
  if (known >= 0) return static_cast<isa>(known);
  const isa found = detail::detect_isa();
  detail::isa_in_use().store(static_cast<int>(found), std::memory_order_relaxed);
  return found;
}

namespace detail {

/// Lowers the level for tests; returns the level now in use, never above what the machine has.
inline isa force_isa(isa wanted) noexcept {
  const isa found = detect_isa();
  const isa level = wanted < found ? wanted : found;
  isa_in_use().store(static_cast<int>(level), std::memory_order_relaxed);
  return level;
}

/// Runs `Body::run<bytes of a vector>(arguments...)` in a function compiled for one level. The body
/// is generic lane code and always inlined; the caller has chosen a level the machine supports.
template <isa Level>
struct CALQUE_HIDDEN on {
  template <class Body, class... A>
  CALQUE_HIDDEN [[gnu::noinline]] static void run(const A&... a) {
    Body::template run<vector_bytes(isa::baseline)>(a...);
  }
};
template <>
struct CALQUE_HIDDEN on<isa::avx2> {
  template <class Body, class... A>
  CALQUE_HIDDEN CALQUE_TARGET_AVX2 [[gnu::noinline]] static void run(const A&... a) {
    Body::template run<vector_bytes(isa::avx2)>(a...);
  }
};
template <>
struct CALQUE_HIDDEN on<isa::avx512> {
  template <class Body, class... A>
  CALQUE_HIDDEN CALQUE_TARGET_AVX512 [[gnu::noinline]] static void run(const A&... a) {
    Body::template run<vector_bytes(isa::avx512)>(a...);
  }
};

}  // namespace detail
}  // namespace calque
