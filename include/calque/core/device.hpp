// Names of devices, and the process-wide table of what each one did.
//
// The table is one object for the whole process, also where executables and plugins hide their
// symbols: a default-visibility inline function in a versioned namespace.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "calque/core/config.hpp"

namespace calque {

enum class device_type : std::uint8_t { cpu, gpu };

/// A device by name: a plain constexpr value; nothing is initialised by naming one.
struct device {
  device_type type = device_type::cpu;
  int index = 0;

  [[nodiscard]] std::string name() const {
    return (type == device_type::cpu ? "cpu:" : "gpu:") + std::to_string(index);
  }
  friend constexpr bool operator==(const device&, const device&) = default;
};

/// The host's processor `index`.
[[nodiscard]] constexpr device cpu(int index = 0) { return {device_type::cpu, index}; }

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

}  // namespace abi_1
}  // namespace detail

/// Counters of `cpu()`: launches of kernels, allocations, bytes in use and their peak.
[[nodiscard]] inline device_counters counters(device) {
  const auto& s = detail::host_state();
  return {s.launches.load(), s.allocations.load(), s.used.load(), s.peak.load()};
}

}  // namespace calque
