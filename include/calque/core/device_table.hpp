// The process-wide table of devices, what each was asked to do, and where this thread's calls run.
//
// One object for the whole process, also where executables and plugins hide their symbols:
// default-visibility inline functions in a versioned namespace. The host `cpu:0` is always there
// and costs nothing: a null entry. Other devices are entries of the table, made by
// memory/virtual_devices.hpp and by back ends. Separate from core/device.hpp, which users see.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "calque/core/config.hpp"

namespace calque {

/// What kind of processor a device is. `accel` is a virtual accelerator (`cq::virtual_devices`).
enum class device_kind : std::uint8_t { cpu, accel, gpu };
inline constexpr device_kind accel = device_kind::accel;

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
  std::atomic<std::int64_t> transfers_in{0}, transfers_out{0}, bytes_in{0}, bytes_out{0};
  std::atomic<launch_count*> counts{nullptr};  // of all threads; only grows
  std::atomic<std::int64_t> more_launches{0};  // of threads that have no count of their own

  void charge(std::int64_t bytes) {
    count_allocation(used.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  }
  /// The same unless more than `limit` bytes would be in use then (-1: no limit); `before`: those
  /// in use.
  bool charge_within(std::int64_t bytes, std::int64_t limit, std::int64_t& before) {
    before = used.load(std::memory_order_relaxed);
    do
      if (limit >= 0 && bytes > limit - before) return false;
    while (!used.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    count_allocation(before + bytes);
    return true;
  }
  void count_allocation(std::int64_t now_used) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    std::int64_t seen = peak.load(std::memory_order_relaxed);
    while (now_used > seen &&
           !peak.compare_exchange_weak(seen, now_used, std::memory_order_relaxed)) {
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

/// A device besides the host. Plans and arrays hold it, so that their memory stays valid when the
/// owner of the device has gone; what is new then is refused.
class device_entry {
 public:
  device_entry(device_kind k, std::string n) : kind(k), name(std::move(n)) {}
  device_entry(const device_entry&) = delete;
  device_entry& operator=(const device_entry&) = delete;
  virtual ~device_entry() = default;

  /// `bytes` of its memory, 64-aligned; throws `out_of_memory`. 0 bytes give null.
  [[nodiscard]] virtual void* allocate(std::int64_t bytes) = 0;
  virtual void release(void* data, std::int64_t bytes) noexcept = 0;
  /// Around every access to its memory from kernels and transfers; may nest, on any thread.
  virtual void enter() = 0;
  virtual void leave() noexcept = 0;

  const device_kind kind;
  const std::string name;
  std::uint64_t serial = 0;          // unlike any other device's of the process
  std::int64_t limit = -1;           // bytes; -1: none
  double bandwidth = 0;              // bytes a second over its link; 0: as fast as it goes
  double latency = 0;                // seconds before a transfer's first byte
  double speed = 1;                  // of its kernels, beside the host's
  std::vector<std::string> missing;  // operations that it has no kernel for
  std::atomic<bool> gone{false};
  std::atomic<std::int64_t> handles{0};
  device_state state;
};

/// Whether calls outside every guard may run on another device than the host.
CALQUE_SHARED inline std::atomic<bool>& default_is_elsewhere() noexcept {
  static constinit std::atomic<bool> elsewhere{false};
  return elsewhere;
}
/// All devices besides the host, in the order in which they came, and which of them are visible.
struct device_table {
  std::mutex mutex;
  std::vector<device_entry*> entries;
  std::vector<device_entry*> visible;  // of `entries`, in the order given
  bool filtered = false;               // else all are
  device_entry* chosen = nullptr;      // by `default_device`
  bool host_chosen = false;

  /// To be called where the visible devices or the choice have changed.
  void note_default() {
    const std::vector<device_entry*>& seen = filtered ? visible : entries;
    bool elsewhere = chosen != nullptr;
    for (const device_entry* e : seen) elsewhere = elsewhere || e->kind != device_kind::cpu;
    default_is_elsewhere().store(elsewhere && !host_chosen, std::memory_order_relaxed);
  }
  std::uint64_t last_serial = 0;
};
CALQUE_SHARED inline device_table& devices_of_process() {
  static auto* const table = new device_table;  // never destroyed: no order at exit
  return *table;
}

/// Where this thread's calls run: the host with one thread outside every guard. Owned by guards.
struct current_place {
  device_entry* entry = nullptr;
  int threads = 1;
  bool guarded = false;
  bool locked = false;  // a body may name no other device
  bool soft = false;    // another device will do where one is missing, or lacks a kernel
  [[nodiscard]] bool is_usual() const {
    return entry == nullptr && threads == 1 &&
           (guarded || !default_is_elsewhere().load(std::memory_order_relaxed));
  }
};
CALQUE_SHARED inline current_place& current_device() noexcept {
  static thread_local constinit current_place here{};
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

inline void release_handle(device_entry* e) noexcept {
  if (e->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) delete e;
}
/// A counted reference to a device's entry; the host's is null.
class device_ref {
 public:
  constexpr device_ref() noexcept = default;
  explicit device_ref(device_entry* e) noexcept : entry_(e) {
    if (e != nullptr) e->handles.fetch_add(1, std::memory_order_relaxed);
  }
  device_ref(const device_ref& o) noexcept : device_ref(o.entry_) {}
  device_ref(device_ref&& o) noexcept : entry_(std::exchange(o.entry_, nullptr)) {}
  device_ref& operator=(device_ref o) noexcept {
    std::swap(entry_, o.entry_);
    return *this;
  }
  constexpr ~device_ref() {
    if (entry_ != nullptr) release_handle(entry_);
  }
  [[nodiscard]] device_entry* get() const noexcept { return entry_; }

 private:
  device_entry* entry_ = nullptr;
};

}  // namespace detail

}  // namespace calque
