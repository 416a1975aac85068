// `cq::soft_placement`: another device will do where the one asked for is missing or lacks a
// kernel.
#pragma once

#include "calque/core/device.hpp"
#include "calque/trace/structure.hpp"

namespace calque {

/// While it lives, calls of this thread that ask for a device which is not there, or which lacks a
/// kernel, run on the default device instead of throwing; with `false`, they throw again. In a
/// traced body, with a symbol: what is traced while it lives. The inner one counts, and each
/// override is told by `plan.placement_of`.
///
///   const cq::soft_placement any{true};
class [[nodiscard]] soft_placement {
 public:
  explicit soft_placement(bool on) : before_(detail::current_device().soft) {
    detail::current_device().soft = on;
  }
  template <operand X>
  constexpr soft_placement(bool on, [[maybe_unused]] const X& x) {
    if constexpr (symbolic<X>) {
      b_ = &detail::common_builder(x);
      b_->device = b_->guards.push_soft(b_->g.chars, on);
    } else {
      before_ = detail::current_device().soft;
      detail::current_device().soft = on;
    }
  }
  soft_placement(const soft_placement&) = delete;
  soft_placement& operator=(const soft_placement&) = delete;
  constexpr ~soft_placement() {
    if (b_ != nullptr) b_->device = b_->guards.pop();
    else detail::current_device().soft = before_;
  }

 private:
  builder* b_ = nullptr;  // of the trace
  bool before_ = false;
};

}  // namespace calque
