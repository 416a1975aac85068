// Virtual devices: carved out of a processor, and like real ones.
//
// Each has memory of its own that nobody else reads, a limit, operations that it lacks, a link of
// some bandwidth and latency, and a speed; whatever crosses its edge is really copied and counted.
// So a program for two GPUs is written and tested on a laptop. They come and go at any time.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calque/core/bytes.hpp"
#include "calque/core/device.hpp"
#include "calque/memory/checked_region.hpp"
#include "calque/memory/host.hpp"

namespace calque {

/// What a virtual device is like.
///
///   cq::device_spec{.name = "a0", .kind = cq::accel, .limit = 64_MiB, .missing = {"sort"}}
struct device_spec {
  std::string name = {};                  // empty: the next free "accel:0", "accel:1", …
  device_kind kind = accel;               // cpu or accel
  bytes limit = bytes{-1};                // of its memory; -1: none
  std::vector<std::string> missing = {};  // operations that it has no kernel for
  double bandwidth = 0;                   // bytes a second over its link; 0: as fast as it goes
  double latency = 0;                     // seconds before a transfer's first byte
  double speed = 1;                 // of its kernels, beside the parent's: 0.5 takes twice as long
  bool checked = CALQUE_CHECKED();  // its memory is closed while nothing of its own runs
};

namespace detail {

class virtual_device final : public device_entry {
 public:
  virtual_device(const device_spec& s, std::string called)
      : device_entry(s.kind, std::move(called)) {
    limit = s.limit.count();
    bandwidth = s.bandwidth;
    latency = s.latency;
    speed = s.speed;
    missing = s.missing;
#if CALQUE_LINUX()
    if (s.checked) region_.emplace(s.limit.count());
#endif
  }

  [[nodiscard]] void* allocate(std::int64_t bytes) override {
    if (bytes == 0) return nullptr;
    if (gone.load(std::memory_order_acquire))
      throw device_error("memory: " + name + " is gone; take one of the present devices");
    const std::int64_t counted = counted_host_bytes(bytes);
    std::int64_t used = 0;
    if (!state.charge_within(counted, limit, used)) refuse(bytes, used);
    void* const data = take(bytes);
    if (data == nullptr) {
      state.refund(counted);
      refuse(bytes, used);
    }
    return data;
  }
  void release(void* data, std::int64_t bytes) noexcept override {
    if (data == nullptr) return;
    state.refund(counted_host_bytes(bytes));
#if CALQUE_LINUX()
    if (region_) return region_->release(data, bytes);
#endif
    give_host_block(data, bytes);
  }
  void enter() override {
#if CALQUE_LINUX()
    if (region_) region_->enter();
#endif
  }
  void leave() noexcept override {
#if CALQUE_LINUX()
    if (region_) region_->leave();
#endif
  }

 private:
  [[nodiscard]] void* take(std::int64_t bytes) {
#if CALQUE_LINUX()
    if (region_) return region_->allocate(bytes);
#endif
    return take_host_block(bytes);
  }
  [[noreturn]] void refuse(std::int64_t bytes, std::int64_t used) const {
    throw out_of_memory("memory: " + std::to_string(bytes) + " bytes are not available on " + name +
                        " (" + std::to_string(used) + " bytes are in use" +
                        (limit >= 0 ? " of " + std::to_string(limit) : std::string()) +
                        "); free arrays, use smaller extents or give the device a higher limit");
  }

#if CALQUE_LINUX()
  std::optional<checked_region> region_;
#endif
};

/// Adds devices to the table, whose lock is held: all or none.
inline void add_devices(device_table& t, const std::vector<device_ref>& made) {
  t.entries.reserve(t.entries.size() + made.size());
  t.visible.reserve(t.entries.capacity());
  for (const device_ref& r : made) {
    r.get()->serial = ++t.last_serial;
    t.entries.push_back(r.get());
    if (t.filtered) t.visible.push_back(r.get());
  }
  t.note_default();
}
inline void remove_devices(const std::vector<device>& gone) noexcept {
  device_table& t = devices_of_process();
  const std::lock_guard lock(t.mutex);
  for (const device& d : gone) {
    d.entry()->gone.store(true, std::memory_order_release);
    std::erase(t.entries, d.entry());
    std::erase(t.visible, d.entry());
    if (t.chosen == d.entry()) t.chosen = nullptr;
  }
  t.note_default();
}
/// The name that a spec's device gets; `taken` are those of the same call before it.
[[nodiscard]] inline std::string name_of_spec(const device_table& t, const device_spec& s,
                                              const std::vector<device_ref>& taken) {
  const auto is_there = [&t](const std::string& n) {
    return std::any_of(t.entries.begin(), t.entries.end(),
                       [&](const device_entry* e) { return e->name == n; });
  };
  const auto is_taken = [&taken](const std::string& n) {
    return std::any_of(taken.begin(), taken.end(),
                       [&](const device_ref& r) { return r.get()->name == n; });
  };
  if (s.name.empty())
    for (int i = 0;; ++i) {
      std::string n = (s.kind == accel ? "accel:" : "virtual:") + std::to_string(i);
      if (!is_there(n) && !is_taken(n)) return n;
    }
  const device_name n{s.name};
  if (n.text() != s.name || n.type() == "cpu" || n.type() == "gpu")
    throw device_error("virtual_devices: a virtual device cannot be called \"" + s.name +
                       "\"; take a name like \"a0\"");
  if (is_taken(s.name))
    throw device_error("virtual_devices: two devices are called " + s.name + "; names must differ");
  if (is_there(s.name))
    throw device_error("virtual_devices: there is a device " + s.name +
                       " already; give the new one another name");
  return s.name;
}
inline void check_spec(const device_spec& s) {
  const std::string who = "virtual_devices: device " + (s.name.empty() ? "without a name" : s.name);
  if (s.kind != accel && s.kind != device_kind::cpu)
    throw device_error(who +
                       " is of a kind that cannot be carved out of a processor; take cpu or accel");
  if (s.limit.count() < -1) throw device_error(who + " has a negative limit; give bytes");
  if (!(s.speed > 0) || !(s.bandwidth >= 0) || !(s.latency >= 0))
    throw device_error(who +
                       " needs a speed above 0, and a bandwidth and latency that are not negative");
}

}  // namespace detail

/// Virtual devices and their end: while it lives, they can be named, listed and used. Moves, does
/// not copy.
class [[nodiscard]] device_set {
 public:
  device_set() = default;
  explicit device_set(std::vector<device> all) noexcept : devices_(std::move(all)) {}
  device_set(device_set&& o) noexcept : devices_(std::exchange(o.devices_, {})) {}
  device_set& operator=(device_set&& o) noexcept {
    std::swap(devices_, o.devices_);
    return *this;
  }
  device_set(const device_set&) = delete;
  device_set& operator=(const device_set&) = delete;
  ~device_set() { detail::remove_devices(devices_); }

  [[nodiscard]] const device& operator[](std::size_t i) const { return devices_.at(i); }
  [[nodiscard]] std::size_t size() const noexcept { return devices_.size(); }
  [[nodiscard]] auto begin() const noexcept { return devices_.begin(); }
  [[nodiscard]] auto end() const noexcept { return devices_.end(); }

 private:
  std::vector<device> devices_;
};

namespace detail {

/// `cq::virtual_devices` without what plans for them.
[[nodiscard]] inline device_set carve_devices(const device& parent,
                                              const std::vector<device_spec>& specs) {
  if (!parent.is_host())
    throw device_error("virtual_devices: " + parent.name() +
                       " cannot be carved up; take cpu() as the parent");
  for (const device_spec& s : specs) check_spec(s);
  std::vector<device> all;
  all.reserve(specs.size());
  std::vector<device_ref> made;  // goes after the lock, should something throw
  made.reserve(specs.size());
  device_table& t = devices_of_process();
  const std::lock_guard lock(t.mutex);
  for (const device_spec& s : specs)
    made.emplace_back(new virtual_device(s, name_of_spec(t, s, made)));
  for (const device_ref& r : made) all.emplace_back(r);
  add_devices(t, made);
  return device_set(std::move(all));
}

}  // namespace detail

/// A line of the table of devices: `physical` counts all devices besides the host in the order in
/// which they came, `logical` the visible ones of its kind; -1 where it is hidden.
struct device_row {
  int physical = 0, logical = -1;
  std::string name;
  device_kind kind = accel;
};
/// All devices besides the host, also hidden ones. Initialises none.
[[nodiscard]] inline std::vector<device_row> device_rows() {
  detail::device_table& t = detail::devices_of_process();
  const std::lock_guard lock(t.mutex);
  std::vector<device_row> rows;
  for (std::size_t i = 0; i < t.entries.size(); ++i)
    rows.push_back({static_cast<int>(i), -1, t.entries[i]->name, t.entries[i]->kind});
  detail::for_each_visible(t, [&](detail::device_entry* e, int logical) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (t.entries[i] == e) rows[i].logical = logical;
  });
  return rows;
}
/// Hides all devices but the host and those with these physical numbers, and counts them anew in
/// this order: "accel:0" is then the first of them. Devices that come later are visible. Throws
/// `device_error` for a number that is none or comes twice; then nothing has changed.
///
///   cq::visible_devices({2, 3});
inline void visible_devices(const std::vector<int>& physical) {
  detail::device_table& t = detail::devices_of_process();
  const std::lock_guard lock(t.mutex);
  std::vector<detail::device_entry*> chosen;
  for (int p : physical) {
    if (p < 0 || p >= static_cast<int>(t.entries.size()))
      throw device_error("visible_devices: there is no device number " + std::to_string(p) +
                         "; there are " + std::to_string(t.entries.size()) + " besides the host");
    detail::device_entry* const e = t.entries[static_cast<std::size_t>(p)];
    if (std::find(chosen.begin(), chosen.end(), e) != chosen.end())
      throw device_error("visible_devices: device number " + std::to_string(p) +
                         " comes twice; give each once");
    chosen.push_back(e);
  }
  chosen.reserve(t.entries.capacity());
  t.visible = std::move(chosen);
  t.filtered = true;
  t.note_default();
}
/// Makes every device visible again.
inline void show_all_devices() {
  detail::device_table& t = detail::devices_of_process();
  const std::lock_guard lock(t.mutex);
  t.visible.clear();
  t.filtered = false;
  t.note_default();
}

}  // namespace calque
