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
  std::int64_t block_bytes;  // header and elements; the header alone where they lie elsewhere
  device_ref where;
  bool owned;  // shared handles detach before a write; false: borrowed, written through
  storage_drop drop = nullptr;
  void* context = nullptr;
  void* elsewhere = nullptr;  // elements in the memory of a device besides the host, ours
  std::int64_t elsewhere_bytes = 0;

  storage(std::int64_t bytes, device_ref d, bool owns)
      : block_bytes(bytes), where(std::move(d)), owned(owns) {}
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
    return storage_ref(::new (host_allocate(all)) storage(all, {}, true));
  }
  /// The same on a device; its header stays on the host.
  [[nodiscard]] static storage_ref allocate(std::int64_t bytes, const device_ref& where) {
    if (where.get() == nullptr) return allocate(bytes);
    storage_ref made = foreign(where, true);
    made->elsewhere = where.get()->allocate(bytes);
    made->elsewhere_bytes = bytes;
    return made;
  }

  /// A header for memory of somebody else on device `where`. `drop(context)` runs when the last
  /// handle goes. `owned`: adopted memory, shared handles detach before a write.
  [[nodiscard]] static storage_ref foreign(device_ref where, bool owned,
                                           storage_drop drop = nullptr, void* context = nullptr) {
    storage* const block =
        ::new (host_allocate(storage_header)) storage(storage_header, std::move(where), owned);
    block->drop = drop;
    block->context = context;
    return storage_ref(block);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return block_ != nullptr; }
  [[nodiscard]] storage* get() const noexcept { return block_; }
  [[nodiscard]] storage* operator->() const noexcept { return block_; }

  /// First element of a block made by `allocate`.
  [[nodiscard]] void* elements() const noexcept {
    if (block_->elsewhere != nullptr) return block_->elsewhere;
    if (block_->where.get() != nullptr) return no_elements;  // none, on a device
    return reinterpret_cast<std::byte*>(block_) + storage_header;
  }
  [[nodiscard]] bool shared() const noexcept {
    return block_ != nullptr && block_->handles.load(std::memory_order_acquire) > 1;
  }

 private:
  explicit storage_ref(storage* block) noexcept : block_(block) {}

  static void destroy(storage* block) noexcept {
    if (block->drop != nullptr) block->drop(block->context);
    if (block->elsewhere != nullptr)
      block->where.get()->release(block->elsewhere, block->elsewhere_bytes);
    const std::int64_t bytes = block->block_bytes;
    block->~storage();
    host_release(block, bytes);
  }

  storage* block_ = nullptr;
};

}  // namespace calque::detail
