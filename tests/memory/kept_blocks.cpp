#include "calque/memory/kept_blocks.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "calque/memory/host.hpp"

namespace cq = calque;
namespace detail = calque::detail;

namespace {

constexpr std::int64_t mebi = std::int64_t{1} << 20;

void* block(std::int64_t bytes) { return std::malloc(static_cast<std::size_t>(bytes)); }

#if CALQUE_LINUX() && !CALQUE_ADDRESS_SANITIZER() && !defined(__SANITIZE_THREAD__)
std::int64_t resident_bytes() {
  long all = 0, resident = 0;
  std::FILE* const f = std::fopen("/proc/self/statm", "r");
  REQUIRE(f != nullptr);
  REQUIRE(std::fscanf(f, "%ld %ld", &all, &resident) == 2);
  std::fclose(f);
  return resident * sysconf(_SC_PAGESIZE);
}
#endif

}  // namespace

TEST_CASE("a block is found again by its exact size, the newest first") {
  detail::kept_blocks kept;
  CHECK(kept.take(64) == nullptr);
  void *const a = block(64), *const b = block(64), *const c = block(128);
  kept.give(a, 64, 0);
  kept.give(b, 64, 0);
  kept.give(c, 128, 0);
  CHECK(kept.bytes() == 256);
  CHECK(kept.take(96) == nullptr);
  CHECK(kept.take(64) == b);
  CHECK(kept.take(64) == a);
  CHECK(kept.take(64) == nullptr);
  CHECK(kept.bytes() == 128);
  CHECK(kept.take(128) == c);
  CHECK(kept.bytes() == 0);
  for (void* p : {a, b, c}) std::free(p);
}

TEST_CASE("no more is kept than what is in use allows, nor more than a few blocks: the oldest go") {
  detail::kept_blocks kept;
  constexpr std::int64_t quarter = detail::kept_blocks::least_kept / 4;
  for (int i = 0; i < 6; ++i) kept.give(block(64), quarter, 0);  // sizes are what it is told
  CHECK(kept.bytes() == 4 * quarter);
  kept.give(block(64), quarter, quarter);
  CHECK(kept.bytes() == 5 * quarter);
  kept.give(block(64), 5 * quarter, 0);  // alone too much: freed, and nothing else is kept for it
  CHECK(kept.take(5 * quarter) == nullptr);
  CHECK(kept.trim() == (kept.bytes() > 0));
  CHECK(kept.bytes() == 0);
  for (int i = 0; i < 3 * detail::kept_blocks::most_blocks; ++i) kept.give(block(64), 64 + i, 0);
  CHECK(kept.take(64) == nullptr);
  CHECK(kept.trim());
  CHECK_FALSE(kept.trim());
}

#if !CALQUE_ADDRESS_SANITIZER()
TEST_CASE("C14: large host memory is used again; trim gives it back to the system") {
  cq::cpu().trim();
  const auto before = cq::counters(cq::cpu());
  const std::int64_t bytes = 37 * mebi;
  void* const p = detail::host_allocate(bytes);
  std::memset(p, 1, static_cast<std::size_t>(bytes));
  detail::host_release(p, bytes);
  CHECK(detail::host_blocks().bytes() == 38 * mebi);
  CHECK(cq::counters(cq::cpu()).used == before.used);  // kept is not in use
  void* const q = detail::host_allocate(bytes - 5);
  CHECK(q == p);
  CHECK(detail::host_blocks().bytes() == 0);
  detail::host_release(q, bytes - 5);
#if CALQUE_LINUX() && !defined(__SANITIZE_THREAD__)
  const std::int64_t with = resident_bytes();
  cq::cpu().trim();
  CHECK(resident_bytes() <= with - 36 * mebi);
#else
  cq::cpu().trim();
#endif
  CHECK(detail::host_blocks().bytes() == 0);
}
#endif

TEST_CASE("threads share the kept blocks") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        const std::int64_t bytes = (4 + 2 * ((i + t) % 3)) * mebi;
        auto* const p = static_cast<unsigned char*>(detail::host_allocate(bytes));
        p[0] = p[bytes - 1] = static_cast<unsigned char>(t);
        std::this_thread::yield();
        CHECK(p[0] == t);
        CHECK(p[bytes - 1] == t);
        detail::host_release(p, bytes);
      }
    });
  for (std::thread& t : threads) t.join();
  cq::cpu().trim();
}
