// Memory of a virtual device that nobody can touch by mistake: it is open only while a kernel or a
// transfer of the device runs.
//
// Address space is reserved once; blocks are whole pages with a closed page behind each. A host
// that reads the device's memory, or a kernel of another device, meets a closed page. Used by
// virtual_devices.hpp where a program asks for checks.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "calque/core/config.hpp"

#if CALQUE_LINUX()
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace calque::detail {

#if CALQUE_LINUX()
class checked_region {
 public:
  /// For a device of `limit` bytes; -1: without one.
  explicit checked_region(std::int64_t limit)
      : page_(::sysconf(_SC_PAGESIZE)),
        reserved_(limit < 0 || limit > most / 4 ? most : in_pages(2 * limit) + least) {}
  checked_region(const checked_region&) = delete;
  checked_region& operator=(const checked_region&) = delete;
  ~checked_region() {
    if (base_ != nullptr) (void)::munmap(base_, static_cast<std::size_t>(reserved_));
  }

  /// The lowest free pages that hold `bytes`; null if there are none. Its pages read as zeros.
  [[nodiscard]] void* allocate(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (base_ == nullptr && !reserve()) return nullptr;
    const std::int64_t need = in_pages(bytes);
    for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
      if (hole->second < need) continue;
      const std::int64_t at = hole->first, left = hole->second - need;
      free_.erase(hole);
      if (left > 0) free_[at + need] = left;
      blocks_[at] = need - page_;
      if (open_ > 0) protect(at, need - page_, PROT_READ | PROT_WRITE);
      return base_ + at;
    }
    return nullptr;
  }
  void release(void* data, std::int64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    std::int64_t at = static_cast<char*>(data) - base_, size = in_pages(bytes);
    protect(at, size, PROT_NONE);
    (void)::madvise(base_ + at, static_cast<std::size_t>(size), MADV_DONTNEED);
    blocks_.erase(at);
    auto next = free_.lower_bound(at);
    if (next != free_.end() && at + size == next->first) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == at) {
        before->second += size;
        return;
      }
    }
    free_.emplace_hint(next, at, size);
  }
  void enter() {
    const std::lock_guard lock(mutex_);
    if (open_++ == 0) protect_blocks(PROT_READ | PROT_WRITE);
  }
  void leave() noexcept {
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) protect_blocks(PROT_NONE);
  }

 private:
  // address space only: blocks take whole pages and one more
  static constexpr std::int64_t least = std::int64_t{1} << 30, most = std::int64_t{1} << 35;

  bool reserve() {
    void* const at = ::mmap(nullptr, static_cast<std::size_t>(reserved_), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    base_ = static_cast<char*>(at);
    free_[0] = reserved_;
    return true;
  }
  [[nodiscard]] std::int64_t in_pages(std::int64_t bytes) const {
    return ((bytes + page_ - 1) / page_ + 1) * page_;  // and a page that stays closed
  }
  void protect(std::int64_t at, std::int64_t size, int how) noexcept {
    (void)::mprotect(base_ + at, static_cast<std::size_t>(size), how);
  }
  void protect_blocks(int how) noexcept {
    for (const auto& [at, size] : blocks_) protect(at, size, how);
  }

  const std::int64_t page_, reserved_;
  std::mutex mutex_;
  char* base_ = nullptr;
  std::map<std::int64_t, std::int64_t> free_;    // bytes by place, apart from each other
  std::map<std::int64_t, std::int64_t> blocks_;  // bytes that may be opened, by place
  int open_ = 0;
};
#endif

}  // namespace calque::detail
