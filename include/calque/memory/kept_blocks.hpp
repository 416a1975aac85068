// Large host blocks that were released, kept for the next request of their size.
//
// The system takes a large block's pages away when it is freed and clears new ones when they are
// first written: for a result of 40 MB that takes longer than computing it. The store is one for
// the process; host.hpp alone takes from it and gives to it, in whole huge pages.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "calque/core/config.hpp"

namespace calque::detail {
inline namespace abi_1 {

/// A few blocks, oldest first. Nothing is freed at the program's end: the system does that.
class kept_blocks {
 public:
  static constexpr int most_blocks = 16;
  /// What may be kept besides as many bytes as are in use.
  static constexpr std::int64_t least_kept = std::int64_t{256} << 20;

  /// A kept block of exactly these bytes, the newest; null if there is none.
  [[nodiscard]] void* take(std::int64_t bytes) noexcept {
    const holder hold(busy_);
    for (int i = count_ - 1; i >= 0; --i)
      if (blocks_[i].bytes == bytes) return remove(i);
    return nullptr;
  }
  /// Keeps a block, and frees the oldest ones until no more is kept than `in_use` bytes allow.
  void give(void* data, std::int64_t bytes, std::int64_t in_use) noexcept {
    const holder hold(busy_);
    while (count_ > 0 && (count_ == most_blocks || bytes_ + bytes > least_kept + in_use))
      std::free(remove(0));
    if (bytes > least_kept + in_use) return std::free(data);
    blocks_[count_++] = {data, bytes};
    bytes_ += bytes;
  }
  /// Frees all; whether there was any.
  bool trim() noexcept {
    const holder hold(busy_);
    const bool any = count_ > 0;
    while (count_ > 0) std::free(remove(count_ - 1));
    return any;
  }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    const holder hold(busy_);
    return bytes_;
  }

 private:
  struct block {
    void* data;
    std::int64_t bytes;
  };
  struct holder {
    std::atomic_flag& flag;
    explicit holder(std::atomic_flag& f) noexcept : flag(f) {
      while (flag.test_and_set(std::memory_order_acquire))
        flag.wait(true, std::memory_order_relaxed);
    }
    ~holder() {
      flag.clear(std::memory_order_release);
      flag.notify_one();
    }
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;
  };
  void* remove(int i) noexcept {
    void* const data = blocks_[i].data;
    bytes_ -= blocks_[i].bytes;
    for (--count_; i < count_; ++i) blocks_[i] = blocks_[i + 1];
    return data;
  }

  mutable std::atomic_flag busy_;
  block blocks_[most_blocks]{};
  int count_ = 0;
  std::int64_t bytes_ = 0;
};

/// The host's; alive as long as any static object that releases memory.
CALQUE_SHARED inline kept_blocks& host_blocks() noexcept {
  static constinit kept_blocks blocks;
  return blocks;
}

}  // namespace abi_1
}  // namespace calque::detail
