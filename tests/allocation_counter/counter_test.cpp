#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "allocation_counter/allocation_counter.hpp"

namespace {

/// Hides a pointer from the optimiser, which may otherwise drop a malloc and free pair.
template <class P>
P keep(P p) {
  asm volatile("" : "+r"(p) : : "memory");
  return p;
}

/// Allocations made by one call of `f`.
template <class F>
std::int64_t allocations_of(F f) {
  const allocation_counter c;
  f();
  return c.count();
}

/// `n` where counting works; under a sanitizer every count is 0.
constexpr std::int64_t counted(std::int64_t n) { return counting_available ? n : 0; }

}  // namespace

TEST_CASE("an allocation counter that sees no allocation counts zero") {
  int x = 0;
  CHECK(allocations_of([&] { x = keep(&x) ? 1 : 0; }) == 0);
}

TEST_CASE("each function that allocates is counted once") {
  void* p = nullptr;
  CHECK(allocations_of([&] { p = keep(std::malloc(8)); }) == counted(1));
  CHECK(allocations_of([&] { p = keep(std::realloc(p, 800)); }) == counted(1));
  std::free(p);
  CHECK(allocations_of([&] { p = keep(std::calloc(3, 8)); }) == counted(1));
  std::free(p);
  CHECK(allocations_of([&] { p = keep(std::aligned_alloc(64, 128)); }) == counted(1));
  CHECK(reinterpret_cast<std::uintptr_t>(p) % 64 == 0);
  std::free(p);
  CHECK(allocations_of([&] { CHECK(posix_memalign(&p, 256, 100) == 0); }) == counted(1));
  CHECK(reinterpret_cast<std::uintptr_t>(keep(p)) % 256 == 0);
  std::free(p);
  CHECK(allocations_of([&] { p = keep(memalign(64, 100)); }) == counted(1));
  std::free(p);
  CHECK(allocations_of([&] {
          p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        }) == counted(1));
  REQUIRE(p != MAP_FAILED);
  static_cast<char*>(p)[4095] = 1;
  munmap(p, 4096);
  std::unique_ptr<double[]> q;
  CHECK(allocations_of([&] { q.reset(keep(new double[10])); }) == counted(1));
  struct alignas(128) wide {
    char bytes[128];
  };
  std::unique_ptr<wide> w;
  CHECK(allocations_of([&] { w.reset(keep(new wide)); }) == counted(1));
}

TEST_CASE("bytes and releases are counted, and only while a counter lives") {
  void* before = keep(std::malloc(1000));
  const allocation_counter c;
  void* p = keep(std::malloc(100));
  std::free(before);
  std::free(p);
  std::free(nullptr);
  const allocation_counts seen = c.counts();
  CHECK(seen.allocations == counted(1));
  CHECK(seen.bytes == counted(100));
  CHECK(seen.releases == counted(2));
}

TEST_CASE("a nested counter leaves the outer one counting") {
  const allocation_counter outer;
  std::free(keep(std::malloc(8)));
  {
    const allocation_counter inner;
    std::free(keep(std::malloc(8)));
    CHECK(inner.count() == counted(1));
  }
  std::free(keep(std::malloc(8)));
  CHECK(outer.count() == counted(3));
}

TEST_CASE("allocations of other threads are counted") {
  std::vector<std::thread> threads;
  threads.reserve(4);
  const allocation_counter c;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 100; ++k) std::free(keep(std::malloc(8)));
    });
  for (std::thread& t : threads) t.join();
  CHECK(c.count() >= counted(400));
}
