// The devices that a call is planned for besides those of its arguments: looked up, and held.
//
// What a body names is a text until a call is planned (plan/placement.hpp says which node gets
// which). Called by plan_cache.hpp on every call that is not the usual one.
#pragma once

#include <atomic>
#include <string_view>
#include <vector>

#include "calque/core/device.hpp"
#include "calque/graph/guard_stack.hpp"
#include "calque/plan/overlap.hpp"

namespace calque::detail {

/// The devices that a graph's nodes ask for, and the default one, held while a call is planned.
/// Throws `device_error` for a name of none.
class named_devices {
 public:
  /// Tells `r` what it finds. A call that has to do with the host alone costs nothing here.
  named_devices(const graph_view& g, const planning::graph_facts& facts, call_request& r) {
    if (!r.guarded && default_is_elsewhere().load(std::memory_order_relaxed)) {
      held_.push_back(default_device_for([](const device_entry&) { return true; }));
      r.where = held_.back().get();
    }
    if (facts.named.empty()) return;
    for (std::int32_t at : facts.named) entries_.push_back(find(g.chars + at, r));
    r.named = entries_.data();
    r.named_count = static_cast<int>(entries_.size());
  }
  named_devices(const named_devices&) = delete;
  named_devices& operator=(const named_devices&) = delete;

 private:
  device_entry* find(std::string_view name, const call_request& r) {
    const std::string_view asked = asked_device(name);
    if (asked.empty()) return r.where;
    if (const int k = argument_of(asked); k >= 0) return r.leaves[k].place;
    try {
      held_.push_back(find_device(device_name{asked}));
    } catch (const device_error&) {
      if (!r.soft && !is_soft(name)) throw;
      return r.where;
    }
    return held_.back().get();
  }

  std::vector<device_ref> held_;
  std::vector<device_entry*> entries_;
};

}  // namespace calque::detail
