// Names of devices, the device of this thread's calls, and the process-wide table of what each did.
//
// The table is one object for the whole process, also where executables and plugins hide their
// symbols: a default-visibility inline function in a versioned namespace.
#pragma once

#include <atomic>
#include <cstdint>
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

struct device_state {
  std::atomic<std::int64_t> launches{0}, allocations{0}, used{0}, peak{0};

  void charge(std::int64_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t now = used.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t seen = peak.load(std::memory_order_relaxed);
    while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
  }
  void refund(std::int64_t bytes) { used.fetch_sub(bytes, std::memory_order_relaxed); }
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
}  // namespace detail

/// Counters of `cpu()`: launches of kernels, allocations, bytes in use and their peak.
[[nodiscard]] inline device_counters counters(device) {
  const auto& s = detail::host_state();
  return {s.launches.load(), s.allocations.load(), s.used.load(), s.peak.load()};
}

}  // namespace calque
