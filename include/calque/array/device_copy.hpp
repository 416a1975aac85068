// Copies of elements within a device and from one to another: counted, and as slow as the link.
//
// The only place where memory of a device besides the host is touched by anything but a kernel.
// Called by arrays and by plans' transfers.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "calque/array/layout.hpp"
#include "calque/core/device_table.hpp"

namespace calque::detail {

/// Opens a device's memory for a scope; nothing for the host.
class device_access {
 public:
  explicit device_access(device_entry* d) : device_(d) {
    if (d != nullptr) d->enter();
  }
  device_access(const device_access&) = delete;
  device_access& operator=(const device_access&) = delete;
  ~device_access() {
    if (device_ != nullptr) device_->leave();
  }

 private:
  device_entry* device_;
};

/// Seconds that `bytes` take over a device's link; 0 for the host, which is at its other end.
[[nodiscard]] inline double link_seconds(const device_entry* d, std::int64_t bytes) {
  if (d == nullptr) return 0;
  return d->latency + (d->bandwidth > 0 ? static_cast<double>(bytes) / d->bandwidth : 0);
}
/// Waits until `seconds` have passed since `began`: asleep while that is exact enough.
inline void wait_until(std::chrono::steady_clock::time_point began, double seconds) {
  using namespace std::chrono;
  const auto end = began + duration_cast<steady_clock::duration>(duration<double>(seconds));
  constexpr auto exact = microseconds(200);
  if (const auto left = end - steady_clock::now(); left > exact)
    std::this_thread::sleep_for(left - exact);
  while (steady_clock::now() < end) {
  }
}
/// Counts a transfer of `bytes` that began at `began`, and lasts as long as its links say.
inline void end_transfer(device_entry* from, device_entry* to, std::int64_t bytes,
                         std::chrono::steady_clock::time_point began) {
  device_state& out = from != nullptr ? from->state : host_state();
  device_state& in = to != nullptr ? to->state : host_state();
  out.transfers_out.fetch_add(1, std::memory_order_relaxed);
  out.bytes_out.fetch_add(bytes, std::memory_order_relaxed);
  in.transfers_in.fetch_add(1, std::memory_order_relaxed);
  in.bytes_in.fetch_add(bytes, std::memory_order_relaxed);
  const double seconds = link_seconds(from, bytes) + link_seconds(to, bytes);
  if (seconds > 0) wait_until(began, seconds);
}

/// Copies a block of any layout, from one device (null: the host) to another or the same. No
/// overlap.
template <class T>
void copy_across(device_entry* from_device, const T* from, const std::int64_t* from_strides,
                 device_entry* to_device, T* to, const std::int64_t* to_strides,
                 const std::int64_t* extents, int rank) {
  if (from_device == nullptr && to_device == nullptr)
    return copy_elements(from, from_strides, to, to_strides, extents, rank);
  const auto began = std::chrono::steady_clock::now();
  {
    const device_access reading(from_device), writing(to_device);
    copy_elements(from, from_strides, to, to_strides, extents, rank);
  }
  if (from_device != to_device)
    end_transfer(from_device, to_device, count(extents, rank) * std::int64_t{sizeof(T)}, began);
}

}  // namespace calque::detail
