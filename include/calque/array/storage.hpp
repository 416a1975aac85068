// Shared storage of arrays: a counted block that holds its header and its elements.
//
// One allocation makes one array; copying a handle is one atomic increment. The same header,
// without elements, also keeps foreign memory alive (`foreign`). Host memory that is merely
// borrowed needs no block at all: an array without one writes through its pointer. Used by
// array.hpp alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "calque/core/device.hpp"
#include "calque/memory/host.hpp"

namespace calque::detail {

/// Called once when the last handle of foreign memory goes.
using storage_drop = void (*)(void* context) noexcept;

struct storage {
  std::atomic<std::int64_t> handles{1};
  std::int64_t block_bytes;       // header and elements; the header alone where they lie elsewhere
  device_entry* where = nullptr;  // counted as a handle of the device; null for the host
  bool owned;  // shared handles detach before a write; false: borrowed, written through
  storage_drop drop = nullptr;
  // Set by `foreign` alone, which costs the usual block nothing:
  void* context;
  void* elsewhere;  // elements in the memory of a device besides the host, ours
  std::int64_t elsewhere_bytes;

  storage(std::int64_t bytes, bool owns) : block_bytes(bytes), owned(owns) {}
};

/// Bytes between the block and its elements: elements keep the block's alignment.
inline constexpr std::int64_t storage_header = host_alignment;
static_assert(sizeof(storage) <= storage_header);

/// What arrays without elements point at, so that they differ from unallocated ones.
alignas(host_alignment) inline std::byte no_elements[host_alignment];

/// A counted reference to a `storage`, or none.
class storage_ref {
 public:
  storage_ref() = default;
  storage_ref(const storage_ref& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->handles.fetch_add(1, std::memory_order_relaxed);
  }
  storage_ref(storage_ref&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  storage_ref& operator=(storage_ref other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~storage_ref() {
    // the only handle needs no atomic write: nobody else is left to copy it
    if (block_ != nullptr && (block_->handles.load(std::memory_order_acquire) == 1 ||
                              block_->handles.fetch_sub(1, std::memory_order_acq_rel) == 1))
      destroy(block_);
  }

  /// A block for `bytes` of elements on the host: one counted allocation, uninitialised.
  [[nodiscard]] static storage_ref allocate(std::int64_t bytes) {
    const std::int64_t all = storage_header + bytes;
    return storage_ref(::new (host_allocate(all)) storage(all, true));
  }
  /// The same on a device; its header stays on the host.
  [[nodiscard]] static storage_ref allocate(std::int64_t bytes, device_entry* where) {
    if (where == nullptr) return allocate(bytes);
    storage_ref made = foreign(where, true);
    made->elsewhere = where->allocate(bytes);
    made->elsewhere_bytes = bytes;
    return made;
  }

  /// A header for memory of somebody else on device `where`. `drop(context)` runs when the last
  /// handle goes. `owned`: adopted memory, shared handles detach before a write.
  [[nodiscard]] static storage_ref foreign(device_entry* where, bool owned,
                                           storage_drop drop = nullptr, void* context = nullptr) {
    storage* const block = ::new (host_allocate(storage_header)) storage(storage_header, owned);
    block->where = where;
    if (where != nullptr) where->handles.fetch_add(1, std::memory_order_relaxed);
    block->drop = drop;
    block->context = context;
    block->elsewhere = nullptr;
    block->elsewhere_bytes = 0;
    return storage_ref(block);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return block_ != nullptr; }
  [[nodiscard]] storage* get() const noexcept { return block_; }
  [[nodiscard]] storage* operator->() const noexcept { return block_; }

  /// First element of a block made by `allocate`.
  [[nodiscard]] void* elements() const noexcept {
    if (block_->where == nullptr) [[likely]]
      return reinterpret_cast<std::byte*>(block_) + storage_header;
    return block_->elsewhere != nullptr ? block_->elsewhere : no_elements;
  }
  [[nodiscard]] bool shared() const noexcept {
    return block_ != nullptr && block_->handles.load(std::memory_order_acquire) > 1;
  }

 private:
  explicit storage_ref(storage* block) noexcept : block_(block) {}

  static void destroy(storage* block) noexcept {
    if (block->drop != nullptr) block->drop(block->context);
    if (block->where != nullptr) [[unlikely]]
      leave_device(*block);
    const std::int64_t bytes = block->block_bytes;
    block->~storage();
    host_release(block, bytes);
  }
  [[gnu::noinline]] static void leave_device(storage& block) noexcept {
    if (block.elsewhere != nullptr) block.where->release(block.elsewhere, block.elsewhere_bytes);
    release_handle(block.where);
  }

  storage* block_ = nullptr;
};

}  // namespace calque::detail
