// The memory of a plan's temporaries, leased by one replay at a time.
//
// A warm replay takes a kept arena by one atomic exchange and puts it back by another; callers that
// run the same plan at once each get their own, of which a few are kept. Nothing is allocated
// before the first replay.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "calque/core/device.hpp"
#include "calque/memory/host.hpp"

namespace calque::detail {

/// The kept arenas of one plan: all of one size.
class arena_set {
 public:
  static constexpr int most_kept = 4;

  arena_set() = default;
  arena_set(const arena_set&) = delete;
  arena_set& operator=(const arena_set&) = delete;
  ~arena_set() { trim(); }

  void set_size(std::int64_t bytes) { bytes_ = bytes; }
  /// The device whose memory they are; the host without one.
  void set_device(device_ref where) { where_ = std::move(where); }
  [[nodiscard]] std::int64_t size() const { return bytes_; }
  /// Bytes of the arenas that exist, leased ones included; at least of the one that a replay needs.
  [[nodiscard]] std::int64_t held() const {
    const std::int64_t n = existing_.load(std::memory_order_relaxed);
    return (n > 0 ? n : 1) * bytes_;
  }

  /// An arena for this caller alone; `fresh` tells that it had to be allocated.
  [[nodiscard]] void* take(bool& fresh) {
    fresh = false;
    for (auto& k : kept_)
      if (k.load(std::memory_order_relaxed) != nullptr)
        if (void* found = k.exchange(nullptr, std::memory_order_acquire)) return found;
    fresh = true;
    void* made = where_.get() == nullptr ? host_allocate(bytes_) : where_.get()->allocate(bytes_);
    existing_.fetch_add(1, std::memory_order_relaxed);
    return made;
  }
  void give_back(void* arena) noexcept {
    for (auto& k : kept_) {
      void* none = nullptr;
      if (k.load(std::memory_order_relaxed) == nullptr &&
          k.compare_exchange_strong(none, arena, std::memory_order_release,
                                    std::memory_order_relaxed))
        return;
    }
    release(arena);
  }
  /// Frees what is kept; leased arenas come back later.
  void trim() noexcept {
    for (auto& k : kept_)
      if (void* found = k.exchange(nullptr, std::memory_order_acquire)) release(found);
  }

 private:
  void release(void* arena) noexcept {
    existing_.fetch_sub(1, std::memory_order_relaxed);
    if (where_.get() == nullptr) host_release(arena, bytes_);
    else where_.get()->release(arena, bytes_);
  }

  device_ref where_;
  std::int64_t bytes_ = 0;
  std::atomic<std::int64_t> existing_{0};
  std::atomic<void*> kept_[most_kept]{};
};

/// Holds an arena while one replay runs.
class arena_lease {
 public:
  explicit arena_lease(arena_set& from)
      : from_(from), data_(from.size() > 0 ? from.take(fresh_) : nullptr) {}
  arena_lease(const arena_lease&) = delete;
  arena_lease& operator=(const arena_lease&) = delete;
  ~arena_lease() {
    if (data_ != nullptr) from_.give_back(data_);
  }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] bool fresh() const { return fresh_; }

 private:
  arena_set& from_;
  bool fresh_ = false;
  void* data_;
};

}  // namespace calque::detail
