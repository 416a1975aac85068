// `cq::device`: a device that is there, as a handle; and what it was asked to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calque/core/device_name.hpp"
#include "calque/core/device_table.hpp"
#include "calque/core/error.hpp"

namespace calque {

/// What a device was asked to do since it is there. Transfers into it and out of it are copies
/// between devices; `used` and `peak` are bytes in use, `reserved` what it holds for reuse besides.
struct device_counters {
  std::int64_t launches = 0, allocations = 0;
  std::int64_t transfers_in = 0, transfers_out = 0, bytes_in = 0, bytes_out = 0;
  std::int64_t used = 0, reserved = 0, peak = 0;
};

/// A device that is there: the host `cpu:0`, or one that `cq::devices()` lists. A cheap handle;
/// finding it initialises nothing.
///
///   cq::device d = cq::gpu(0);          // throws `device_error` if there is none
///   cq::device a{"a0"};                 // a virtual device
class device {
 public:
  /// The host.
  constexpr device() noexcept = default;
  /// The visible device of this name. Throws `device_error` that lists those there are.
  device(const device_name& name);  // NOLINT: implicit on purpose
  explicit device(std::string_view name) : device(device_name(name)) {}
  explicit device(const char* name) : device(device_name(name)) {}
  explicit device(detail::device_ref entry, int threads = 1) noexcept
      : entry_(std::move(entry)), threads_(threads) {}

  [[nodiscard]] std::string name() const { return is_host() ? "cpu:0" : entry()->name; }
  [[nodiscard]] device_kind kind() const noexcept {
    return is_host() ? device_kind::cpu : entry()->kind;
  }
  /// How many threads a call may use, the caller's among them.
  [[nodiscard]] int threads() const noexcept { return threads_; }
  [[nodiscard]] bool is_host() const noexcept { return entry_.get() == nullptr; }
  /// Whether its owner still has it. Arrays on a device that is gone stay valid.
  [[nodiscard]] bool is_present() const noexcept {
    return is_host() || !entry()->gone.load(std::memory_order_acquire);
  }
  /// The same device with `n` threads, 1 to 1024 (else `value_error`); see docs/threads.md.
  [[nodiscard]] device with_threads(int n) const {
    device d = *this;
    d.threads_ = detail::checked_threads(n, [this] { return name(); });
    return d;
  }
  /// What it was asked to do so far.
  [[nodiscard]] device_counters counters() const {
    const detail::device_state& s = is_host() ? detail::host_state() : entry()->state;
    constexpr auto now = [](const std::atomic<std::int64_t>& n) {
      return n.load(std::memory_order_relaxed);
    };
    return {s.launches(),    now(s.allocations), now(s.transfers_in), now(s.transfers_out),
            now(s.bytes_in), now(s.bytes_out),   now(s.used),         0,
            now(s.peak)};
  }
  /// Gives back to the system what the library keeps for reuse on this device. Released blocks of
  /// 4 MiB and more are kept on the host, together at most 256 MiB more than what is in use.
  ///
  ///   cq::device{cq::cpu()}.trim();
  void trim() const noexcept;

  /// Whether they are one place; the number of threads does not matter.
  friend bool operator==(const device& a, const device& b) noexcept {
    return a.entry_.get() == b.entry_.get();
  }
  /// For the library's own headers: null for the host.
  [[nodiscard]] detail::device_entry* entry() const noexcept { return entry_.get(); }

 private:
  detail::device_ref entry_;
  int threads_ = 1;
};

namespace detail {

/// The name of a visible device: its own, or "accel:1" for the second visible device of a kind.
[[nodiscard]] inline bool is_called(const device_entry& e, int of_kind, const device_name& n) {
  const std::string own = n.text();
  if (own == e.name) return true;
  constexpr std::string_view kinds[] = {"cpu", "accel", "gpu"};
  return e.kind != device_kind::cpu && n.index() == of_kind && n.job().empty() &&
         n.type() == kinds[static_cast<int>(e.kind)];
}
/// Calls f(entry, its number among the visible ones of its kind); the table is locked.
template <class F>
void for_each_visible(device_table& t, F&& f) {
  int count[3]{1, 0, 0};  // the host is a processor
  const auto one = [&](device_entry* e) { f(e, count[static_cast<int>(e->kind)]++); };
  if (t.filtered)
    for (device_entry* e : t.visible) one(e);
  else
    for (device_entry* e : t.entries) one(e);
}
[[nodiscard]] inline bool is_host_name(const device_name& n) {
  return n.job().empty() && n.replica() < 0 && n.task() < 0 && n.type() == "cpu" && n.index() <= 0;
}
/// "cpu:0, a0, a1"
[[nodiscard]] inline std::string visible_names(device_table& t) {
  std::string s = "cpu:0";
  for_each_visible(t, [&](device_entry* e, int) { s.append(", ").append(e->name); });
  return s;
}
[[nodiscard]] inline device_ref find_device(const device_name& n) {
  if (is_host_name(n)) return {};
  device_table& t = devices_of_process();
  const std::lock_guard lock(t.mutex);
  device_ref found;
  for_each_visible(t, [&](device_entry* e, int of_kind) {
    if (found.get() == nullptr && is_called(*e, of_kind, n)) found = device_ref(e);
  });
  if (found.get() == nullptr)
    throw device_error("device: there is no " + (n.is_open() ? "device without a name" : n.text()) +
                       "; there are " + visible_names(t));
  return found;
}

/// The device of calls outside every guard: the one chosen by `default_device`, else the first
/// visible GPU, accelerator or, at last, the host (which is null), of those that `has(entry)`
/// takes.
template <class F>
[[nodiscard]] device_ref default_device_for(F&& has) {
  if (!default_is_elsewhere().load(std::memory_order_relaxed)) return {};
  device_table& t = devices_of_process();
  const std::lock_guard lock(t.mutex);
  device_entry* best = nullptr;
  if (t.chosen != nullptr && has(*t.chosen)) return device_ref(t.chosen);
  for_each_visible(t, [&](device_entry* e, int) {
    if (e->kind == device_kind::cpu || !has(*e)) return;
    if (best == nullptr || (best->kind == accel && e->kind == device_kind::gpu)) best = e;
  });
  return device_ref(best);
}

}  // namespace detail

inline device::device(const device_name& name)
    : entry_(detail::find_device(name)), threads_(name.threads() > 0 ? name.threads() : 1) {}

/// All visible devices, the host first. Lists them; initialises none.
[[nodiscard]] inline std::vector<device> devices() {
  std::vector<device> all(1);
  detail::device_table& t = detail::devices_of_process();
  const std::lock_guard lock(t.mutex);
  detail::for_each_visible(
      t, [&](detail::device_entry* e, int) { all.emplace_back(detail::device_ref(e)); });
  return all;
}

/// Makes `d` the device of calls outside every guard, for what it has kernels for. Without a choice
/// that is the first visible GPU, else the first virtual accelerator, else the host. Throws
/// `device_error` for a device that is gone.
///
///   cq::default_device(cq::cpu());  // whatever else there is
inline void default_device(const device& d) {
  detail::device_table& t = detail::devices_of_process();
  const std::lock_guard lock(t.mutex);
  if (!d.is_present())
    throw device_error("default_device: " + d.name() + " is gone; take one of the present devices");
  t.chosen = d.entry();
  t.host_chosen = d.is_host();
  t.note_default();
}
/// The device of calls outside every guard.
[[nodiscard]] inline device default_device() {
  return device(detail::default_device_for([](const detail::device_entry&) { return true; }));
}
/// Takes the choice back.
inline void reset_default_device() {
  detail::device_table& t = detail::devices_of_process();
  const std::lock_guard lock(t.mutex);
  t.chosen = nullptr;
  t.host_chosen = false;
  t.note_default();
}

/// Counters of a device; the same as `d.counters()`.
[[nodiscard]] inline device_counters counters(const device& d) { return d.counters(); }

}  // namespace calque
