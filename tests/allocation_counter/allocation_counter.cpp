#include "allocation_counter/allocation_counter.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace {

std::atomic<int> counters{0};
std::atomic<std::int64_t> allocations{0};
std::atomic<std::int64_t> releases{0};
std::atomic<std::int64_t> bytes{0};

allocation_counts now() noexcept { return {allocations.load(), releases.load(), bytes.load()}; }

}  // namespace

allocation_counter::allocation_counter() noexcept {
  counters.fetch_add(1);
  start_ = now();
}

allocation_counter::~allocation_counter() { counters.fetch_sub(1); }

allocation_counts allocation_counter::counts() const noexcept {
  const allocation_counts end = now();
  return {end.allocations - start_.allocations, end.releases - start_.releases,
          end.bytes - start_.bytes};
}

#if !CALQUE_TEST_SANITIZED()

namespace {

void note_allocation(std::size_t size) noexcept {
  if (counters.load(std::memory_order_relaxed) == 0) return;
  allocations.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(static_cast<std::int64_t>(size), std::memory_order_relaxed);
}

bool power_of_two(std::size_t n) noexcept { return n != 0 && (n & (n - 1)) == 0; }

}  // namespace

// The names by which glibc offers its own versions to replacements.
extern "C" {

void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* p, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;
void __libc_free(void* p) noexcept;

void* malloc(std::size_t size) noexcept {
  note_allocation(size);
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  note_allocation(count * size);
  return __libc_calloc(count, size);
}

void* realloc(void* p, std::size_t size) noexcept {
  note_allocation(size);
  return __libc_realloc(p, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  note_allocation(size);
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  note_allocation(size);
  if (!power_of_two(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  note_allocation(size);
  if (!power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int before = errno;
  void* p = __libc_memalign(alignment, size);
  errno = before;
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

void free(void* p) noexcept {
  if (p && counters.load(std::memory_order_relaxed) != 0)
    releases.fetch_add(1, std::memory_order_relaxed);
  __libc_free(p);
}

void* mmap(void* address, std::size_t size, int protection, int flags, int file,
           off_t offset) noexcept {
  note_allocation(size);
  const long result = syscall(SYS_mmap, address, size, protection, flags, file, offset);
  return reinterpret_cast<void*>(result);
}

void* mmap64(void* address, std::size_t size, int protection, int flags, int file,
             off64_t offset) noexcept {
  return mmap(address, size, protection, flags, file, offset);
}

}  // extern "C"

#endif
