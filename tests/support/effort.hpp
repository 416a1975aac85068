// How often a test repeats itself: a tenth under AddressSanitizer, which runs it unoptimised.
#pragma once

namespace calque::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALQUE_TEST_SANITIZED() 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CALQUE_TEST_SANITIZED() 1
#endif
#if !defined(CALQUE_TEST_SANITIZED)
#define CALQUE_TEST_SANITIZED() 0
#endif

inline constexpr bool sanitized = CALQUE_TEST_SANITIZED();

constexpr int rounds(int n) { return sanitized ? (n + 9) / 10 : n; }

}  // namespace calque::test
