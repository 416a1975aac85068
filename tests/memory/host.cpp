#include "calque/memory/host.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "calque/core/device.hpp"

// sanitizers answer null to a request that cannot be met, as malloc does
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace cq = calque;
namespace detail = calque::detail;

TEST_CASE("host blocks are 64-aligned, usable to the last byte and counted (C112)") {
  const auto before = cq::counters(cq::cpu());
  for (std::int64_t bytes :
       {1, 7, 63, 64, 65, 1000, 4096, 1 << 20, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 9 << 20}) {
    CAPTURE(bytes);
    void* const p = detail::host_allocate(bytes);
    REQUIRE(p != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(p) % 64 == 0);
    std::memset(p, 0xFF, static_cast<std::size_t>(bytes));
    const auto now = cq::counters(cq::cpu());
    CHECK(now.used - before.used == (bytes + 63) / 64 * 64);
    CHECK(now.peak >= now.used);
    detail::host_release(p, bytes);
    CHECK(cq::counters(cq::cpu()).used == before.used);
  }
  CHECK(cq::counters(cq::cpu()).allocations == before.allocations + 12);
}

TEST_CASE("blocks from 4 MiB on start on a huge page") {
  void* const p = detail::host_allocate(5 << 20);
  CHECK(reinterpret_cast<std::uintptr_t>(p) % (2 << 20) == 0);
  detail::host_release(p, 5 << 20);
}

TEST_CASE("zero bytes give null and count nothing (C112)") {
  const auto before = cq::counters(cq::cpu());
  CHECK(detail::host_allocate(0) == nullptr);
  detail::host_release(nullptr, 0);
  const auto after = cq::counters(cq::cpu());
  CHECK(after.used == before.used);
  CHECK(after.allocations == before.allocations);
}

TEST_CASE(
    "a request that cannot be met throws out_of_memory, names its bytes, charges nothing (C112)") {
  const auto before = cq::counters(cq::cpu());
  volatile std::int64_t bytes = std::int64_t{1} << 60;
  for (std::int64_t extra : {std::int64_t{0}, std::numeric_limits<std::int64_t>::max() - bytes}) {
    try {
      detail::host_release(detail::host_allocate(bytes + extra), bytes + extra);
      FAIL("no exception");
    } catch (const std::bad_alloc& e) {
      CHECK(std::string(e.what()).find(std::to_string(bytes + extra) + " bytes") !=
            std::string::npos);
    }
  }
  const auto after = cq::counters(cq::cpu());
  CHECK(after.used == before.used);
  CHECK(after.allocations == before.allocations);
}

TEST_CASE("the counters are exact under threads (C112)") {
  const auto before = cq::counters(cq::cpu());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (std::int64_t i = 1; i <= 500; ++i) detail::host_release(detail::host_allocate(i), i);
    });
  for (auto& t : threads) t.join();
  const auto after = cq::counters(cq::cpu());
  CHECK(after.used == before.used);
  CHECK(after.allocations == before.allocations + 2000);
}
