// What `f.plan(args...)` gives: a plan to read.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "calque/run/plan_cache.hpp"

namespace calque {

/// A plan to read; it lives as long as this object.
class held_plan {
 public:
  explicit held_plan(plan_lease lease) : lease_(std::move(lease)) {}
  [[nodiscard]] std::string dump() const { return lease_->dump(); }
  [[nodiscard]] std::string dot() const { return lease_->dot(); }
  [[nodiscard]] std::string json() const { return lease_->json(); }
  [[nodiscard]] std::string explain() const { return lease_->explain(); }
  /// Where a named value or a result is, and why; see `plan::placement_of`.
  [[nodiscard]] node_placement placement_of(std::string_view name) const {
    return lease_->placement_of(name);
  }
  [[nodiscard]] node_placement placement_of(int result) const {
    return lease_->placement_of(result);
  }
  /// Bytes that a call holds at its peak on `where`: temporaries, scratch and fresh results.
  [[nodiscard]] bytes peak_bytes(const device& where = {}) const {
    return lease_->peak_bytes(where);
  }
  [[nodiscard]] const calque::plan* operator->() const { return &*lease_; }

 private:
  plan_lease lease_;
};

}  // namespace calque
