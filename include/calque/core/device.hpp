// Names of devices, the device of this thread's calls, and the process-wide table of what each did.
//
// The table is one object for the whole process, also where executables and plugins hide their
// symbols: a default-visibility inline function in a versioned namespace.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <string>

#include "calque/core/config.hpp"
#include "calque/core/error.hpp"

namespace calque {

enum class device_type : std::uint8_t { cpu, gpu };

/// Most threads that a device may be given.
inline constexpr int max_threads = 1024;

/// A device by name: a plain constexpr value; nothing is initialised by naming one.
struct device {
  device_type type = device_type::cpu;
  int index = 0;
  /// How many threads a call may use, the caller's among them.
  int threads = 1;

  /// The same device with `n` threads, 1 to 1024 (else `value_error`); see docs/threads.md.
  ///
  ///   cq::device_guard on{cq::cpu(0).with_threads(2)};
  [[nodiscard]] constexpr device with_threads(int n) const {
    if (n < 1 || n > max_threads)
      throw value_error("with_threads: " + name() + " cannot have " + std::to_string(n) +
                        " threads; give a number from 1 to " + std::to_string(max_threads));
    device d = *this;
    d.threads = n;
    return d;
  }

  /// Gives memory that the library keeps for reuse on this device back to the system. Released
  /// blocks of 4 MiB and more are kept, together at most 256 MiB more than what is in use.
  ///
  ///   cq::cpu().trim();
  void trim() const noexcept;

  [[nodiscard]] std::string name() const {
    return (type == device_type::cpu ? "cpu:" : "gpu:") + std::to_string(index);
  }
  /// Whether they are one place; the number of threads does not matter.
  friend constexpr bool operator==(const device& a, const device& b) {
    return a.type == b.type && a.index == b.index;
  }
};

/// The host's processor `index`.
[[nodiscard]] constexpr device cpu(int index = 0) { return {device_type::cpu, index, 1}; }

/// What a device was asked to do since the program started.
struct device_counters {
  std::int64_t launches = 0, allocations = 0, used = 0, peak = 0;
};

namespace detail {
inline namespace abi_1 {

/// The launches of one thread, which alone writes here. When it ends, the next new one goes on.
struct alignas(64) launch_count {
  std::atomic<std::int64_t> launches{0};
  std::atomic<bool> taken{true};
  launch_count* next = nullptr;
};

struct device_state {
  std::atomic<std::int64_t> allocations{0}, used{0}, peak{0};
  std::atomic<launch_count*> counts{nullptr};  // of all threads; only grows
  std::atomic<std::int64_t> more_launches{0};  // of threads that have no count of their own

  void charge(std::int64_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t now = used.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t seen = peak.load(std::memory_order_relaxed);
    while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
  }
  void refund(std::int64_t bytes) { used.fetch_sub(bytes, std::memory_order_relaxed); }

  [[nodiscard]] std::int64_t launches() const {
    std::int64_t n = more_launches.load(std::memory_order_relaxed);
    for (const launch_count* c = counts.load(std::memory_order_acquire); c; c = c->next)
      n += c->launches.load(std::memory_order_relaxed);
    return n;
  }
  /// A count for the calling thread alone; null if there is no memory for one.
  [[nodiscard]] launch_count* take_count() noexcept {
    for (launch_count* c = counts.load(std::memory_order_acquire); c; c = c->next)
      if (!c->taken.load(std::memory_order_relaxed) &&
          !c->taken.exchange(true, std::memory_order_acquire))
        return c;
    auto* const made = new (std::nothrow) launch_count;
    if (made == nullptr) return nullptr;
    made->next = counts.load(std::memory_order_relaxed);
    while (!counts.compare_exchange_weak(made->next, made, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    return made;
  }
};

/// The one record of the host device in this process.
CALQUE_SHARED inline device_state& host_state() {
  static device_state state;
  return state;
}

/// The device that this thread's calls run on: `cpu()` with one thread outside every guard.
CALQUE_SHARED inline device& current_device() noexcept {
  static thread_local constinit device here{};
  return here;
}

}  // namespace abi_1

/// This thread's count; null before its first launch and once its objects are being destroyed.
CALQUE_HIDDEN inline launch_count*& thread_launches() noexcept {
  static thread_local launch_count* mine = nullptr;
  return mine;
}
CALQUE_HIDDEN [[gnu::noinline]] inline void count_first_launches(std::int64_t n) noexcept {
  static thread_local bool ended = false;
  struct owner {
    launch_count* const mine = host_state().take_count();
    ~owner() {
      ended = true;
      thread_launches() = nullptr;
      if (mine != nullptr) mine->taken.store(false, std::memory_order_release);
    }
  };
  if (!ended) {
    static thread_local const owner own;
    thread_launches() = own.mine;
  }
  if (launch_count* const c = thread_launches())
    c->launches.store(c->launches.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  else host_state().more_launches.fetch_add(n, std::memory_order_relaxed);
}
/// Adds to the host device's launches without a locked instruction.
CALQUE_HIDDEN inline void count_launches(std::int64_t n) noexcept {
  launch_count* const c = thread_launches();
  if (c == nullptr) [[unlikely]]
    return count_first_launches(n);
  c->launches.store(c->launches.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

}  // namespace detail

/// Counters of `cpu()`: launches of kernels, allocations, bytes in use and their peak.
[[nodiscard]] inline device_counters counters(device) {
  const auto& s = detail::host_state();
  return {s.launches(), s.allocations.load(), s.used.load(), s.peak.load()};
}

}  // namespace calque
