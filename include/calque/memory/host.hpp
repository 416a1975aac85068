// The host's memory source: aligned blocks, counted for the device `cpu()`.
//
// Every host block of the library comes from here, so that the counters of the host device are the
// whole truth. Small blocks go through `malloc` (its caches are the fastest way to 64 aligned
// bytes); big ones start on a huge page. Called by array/storage.hpp, pools and arenas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "calque/core/config.hpp"
#include "calque/core/device.hpp"
#include "calque/core/error.hpp"
#include "calque/memory/kept_blocks.hpp"

#if CALQUE_LINUX()
#include <sys/mman.h>
#endif

#if CALQUE_ADDRESS_SANITIZER()
extern "C" void __asan_poison_memory_region(void const volatile*, std::size_t);
#endif

namespace calque::detail {

inline constexpr std::int64_t host_alignment = 64;
inline constexpr std::int64_t huge_page = std::int64_t{2} << 20;
inline constexpr std::int64_t huge_block = std::int64_t{4} << 20;  // from here on: huge pages

/// What a block of `bytes` counts: its size rounded up to the alignment.
[[nodiscard]] constexpr std::int64_t counted_host_bytes(std::int64_t bytes) {
  return (bytes + host_alignment - 1) / host_alignment * host_alignment;
}

[[noreturn]] inline void throw_out_of_host_memory(std::int64_t bytes) {
  throw out_of_memory("host memory: " + std::to_string(bytes) +
                      " bytes are not available on cpu:0 (" +
                      std::to_string(host_state().used.load(std::memory_order_relaxed)) +
                      " bytes are in use); free arrays, use smaller extents or split the batch");
}

/// 64-aligned bytes that lie behind a pointer to their `malloc` block; null when there are none.
[[nodiscard]] inline void* allocate_small(std::int64_t bytes) {
  void* const base = std::malloc(static_cast<std::size_t>(bytes + host_alignment));
  if (base == nullptr) return nullptr;
  // malloc aligns to 16, so at least 16 bytes lie between the two pointers
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  char* const data = static_cast<char*>(base) +
                     (host_alignment - static_cast<std::int64_t>(address % host_alignment));
  std::memcpy(data - sizeof(void*), &base, sizeof(void*));
#if CALQUE_ADDRESS_SANITIZER()
  // what is left behind the block: an overrun must be seen although the padding is ours
  const char* const end = static_cast<const char*>(base) + bytes + host_alignment;
  __asan_poison_memory_region(data + bytes, static_cast<std::size_t>(end - (data + bytes)));
#endif
  return data;
}

[[nodiscard]] constexpr std::int64_t in_huge_pages(std::int64_t bytes) {
  return (bytes + huge_page - 1) / huge_page * huge_page;
}
[[nodiscard]] inline void* allocate_huge(std::int64_t bytes) {
  const std::int64_t rounded = in_huge_pages(bytes);
  if (void* const kept = host_blocks().take(rounded)) return kept;
  void* const data =
      std::aligned_alloc(static_cast<std::size_t>(huge_page), static_cast<std::size_t>(rounded));
#if CALQUE_LINUX() && defined(MADV_HUGEPAGE)
  // advice only: where it is refused, the pages are small ones
  if (data != nullptr) (void)::madvise(data, static_cast<std::size_t>(rounded), MADV_HUGEPAGE);
#endif
  return data;
}

/// `bytes` > 0 of uninitialised host memory, 64-aligned, charged to nobody; null if there is none.
[[nodiscard]] inline void* take_host_block(std::int64_t bytes) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() - 2 * huge_page;
  if (bytes < 0 || bytes > most) return nullptr;
  const auto allocate = [bytes] {
    return bytes >= huge_block ? allocate_huge(bytes) : allocate_small(bytes);
  };
  void* data = allocate();
  if (data == nullptr && host_blocks().trim()) data = allocate();
  return data;
}
/// Gives back what `take_host_block(bytes)` returned.
inline void give_host_block(void* data, std::int64_t bytes) noexcept {
  if (bytes >= huge_block) {
#if CALQUE_ADDRESS_SANITIZER()
    std::free(data);  // so that a later use is seen
#else
    host_blocks().give(data, in_huge_pages(bytes),
                       host_state().used.load(std::memory_order_relaxed));
#endif
  } else {
    void* base;
    std::memcpy(&base, static_cast<char*>(data) - sizeof(void*), sizeof(void*));
    std::free(base);
  }
}

/// `bytes` of uninitialised host memory, 64-aligned, charged to the host device once it is there.
/// 0 bytes give null and count nothing. Throws `out_of_memory`; nothing is charged then.
[[nodiscard]] inline void* host_allocate(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  void* const data = take_host_block(bytes);
  if (data == nullptr) throw_out_of_host_memory(bytes);
  host_state().charge(counted_host_bytes(bytes));
  return data;
}

/// Gives back what `host_allocate(bytes)` returned; null is ignored.
inline void host_release(void* data, std::int64_t bytes) noexcept {
  if (data == nullptr) return;
  host_state().refund(counted_host_bytes(bytes));
  give_host_block(data, bytes);
}

}  // namespace calque::detail

inline void calque::device_name::trim() const { device(*this).trim(); }
inline void calque::device::trim() const noexcept {
  if (is_host()) (void)detail::host_blocks().trim();
}
