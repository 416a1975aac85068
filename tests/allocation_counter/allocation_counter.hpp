// Counts the heap and mmap calls of this process, by all threads, while a counter lives.
//
// allocation_counter.cpp replaces malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign,
// free and mmap (operator new arrives at malloc). Sanitizers bring their own malloc, so there
// nothing is replaced, `counting_available` is false, and counts stay 0: a test that expects
// allocations must ask first.
#pragma once

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CALQUE_TEST_SANITIZED() 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define CALQUE_TEST_SANITIZED() 1
#else
#define CALQUE_TEST_SANITIZED() 0
#endif
#else
#define CALQUE_TEST_SANITIZED() 0
#endif

/// False in builds with a sanitizer: counts are always 0 there.
inline constexpr bool counting_available = CALQUE_TEST_SANITIZED() == 0;

/// What was called since a counter was made.
struct allocation_counts {
  std::int64_t allocations = 0;  ///< malloc and its family, mmap
  std::int64_t releases = 0;     ///< free of a pointer that is not null
  std::int64_t bytes = 0;        ///< asked for by those allocations
};

///   allocation_counter c;
///   f.into(out, x);
///   CHECK(c.count() == 0);
/// Counters may nest and live on several threads; calls are counted while at least one does.
class allocation_counter {
 public:
  allocation_counter() noexcept;
  ~allocation_counter();
  allocation_counter(const allocation_counter&) = delete;
  allocation_counter& operator=(const allocation_counter&) = delete;

  /// Allocations of the process since construction.
  [[nodiscard]] std::int64_t count() const noexcept { return counts().allocations; }
  /// Allocations, releases and bytes of the process since construction.
  [[nodiscard]] allocation_counts counts() const noexcept;

 private:
  allocation_counts start_;
};
