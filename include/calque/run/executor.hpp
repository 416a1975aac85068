// Replays a plan: fills the table of slots with this call's addresses and launches the steps.
//
// A plan without control flow is a plain loop over its kernels. Nothing is allocated once the plan
// has run before and is not run by more callers at once than arenas are kept.
#pragma once

#include "calque/core/device.hpp"
#include "calque/plan/request.hpp"
#include "calque/run/plan.hpp"

namespace calque {
namespace detail {

/// Runs a plan with a given arena and table of slots; the arena may be null where it has no bytes.
CALQUE_ONCE std::int64_t replay_in(const plan& p, const leaf* leaves, void* const* results,
                                   void* arena, void** slots);

}  // namespace detail

/// Runs a plan on a call's leaves. `results[k]` is where result k goes: the destination that the
/// plan was made for, or a fresh row-major block of `result_extents(k)`. Throws `out_of_memory`
/// before any kernel runs if there is no memory for the temporaries; then nothing has changed.
CALQUE_ONCE void replay(const plan& p, const leaf* leaves, void* const* results);

#if CALQUE_DEFINES_ONCE()
namespace detail {

/// Runs the steps of one call.
class replayer {
 public:
  replayer(const plan& p, void** slots, char* arena) : p_{p}, slots_(slots), arena_(arena) {}

  /// Number of kernels launched.
  std::int64_t run() {
    const plan_step* const first = p_.steps().data();
    const auto count = static_cast<std::int32_t>(p_.steps().size());
    if (p_.straight()) {
      for (std::int32_t i = 0; i < count; ++i) launch(first[i]);
      return count;
    }
    std::int64_t launched = 0;
    for (std::int32_t i = 0; i < count;) {
      const plan_step& s = first[i];
      switch (s.action) {
        case plan_action::launch:
          launch(s);
          ++launched;
          ++i;
          break;
        case plan_action::branch: i = *at<bool>(operand(s, 0)) ? i + 1 : s.target; break;
        case plan_action::jump: i = s.target; break;
        case plan_action::loop: i = start(s) ? i + 1 : s.target; break;
        case plan_action::next: i = advance(s) ? s.target : i + 1; break;
      }
    }
    return launched;
  }

 private:
  struct loop_counters {
    std::int64_t index, left;
  };

  const operand_address& operand(const plan_step& s, int k) const {
    return p_.operands()[static_cast<std::size_t>(s.first_operand + k)];
  }
  template <class T>
  T* at(const operand_address& a) const {
    return reinterpret_cast<T*>(static_cast<char*>(slots_[a.slot]) + a.offset);
  }
  void launch(const plan_step& s) const {
    void* data[max_operands];
    const operand_address* const a = p_.operands().data() + s.first_operand;
    for (std::int32_t k = 0; k < s.operands; ++k)
      data[k] = static_cast<char*>(slots_[a[k].slot]) + a[k].offset;
    s.run(*s.shape, data, s.scratch < 0 ? nullptr : arena_ + s.scratch);
  }
  bool start(const plan_step& s) const {
    auto* const c = at<loop_counters>(operand(s, 0));
    const std::int64_t n = s.count >= 0 ? s.count : *at<std::int64_t>(operand(s, 1));
    if (n <= 0) return false;
    *c = {s.reverse ? n - 1 : 0, n};
    move_slices(s, c->index);
    return true;
  }
  bool advance(const plan_step& s) const {
    auto* const c = at<loop_counters>(operand(s, 0));
    if (--c->left == 0) return false;
    c->index += s.reverse ? -1 : 1;
    move_slices(s, c->index);
    return true;
  }
  void move_slices(const plan_step& s, std::int64_t index) const {
    for (std::int32_t k = 0; k < s.slices; ++k) {
      const plan_slice& m = p_.slices()[static_cast<std::size_t>(s.first_slice + k)];
      slots_[m.slot] = at<char>(m.from) + index * m.stride;
    }
  }

  plan_access p_;
  void** slots_;
  char* arena_;
};

CALQUE_ONCE std::int64_t replay_in(const plan& p, const leaf* leaves, void* const* results,
                                   void* arena, void** slots) {
  const plan_access a{p};
  int n = 0;
  for (int i = 0; i < a.leaves(); ++i) slots[n++] = leaves[i].data;
  for (int k = 0; k < p.result_count(); ++k) slots[n++] = results[k];
  slots[n++] = const_cast<void*>(a.constants());
  slots[n] = arena;
  return replayer(p, slots, static_cast<char*>(arena)).run();
}

}  // namespace detail

CALQUE_ONCE void replay(const plan& p, const leaf* leaves, void* const* results) {
  const detail::plan_access a{p};
  const detail::arena_lease arena(a.arenas());
  void* on_stack[detail::slots_on_stack];
  void** const slots = a.slots() <= detail::slots_on_stack
                           ? on_stack
                           : reinterpret_cast<void**>(static_cast<char*>(arena.data()) +
                                                      detail::slot_table_offset(p));
  const std::int64_t launched = detail::replay_in(p, leaves, results, arena.data(), slots);
  detail::host_state().launches.fetch_add(launched, std::memory_order_relaxed);
  if (detail::run_counters* c = a.counters()) {
    c->launches.fetch_add(launched, std::memory_order_relaxed);
    if (arena.fresh()) c->allocations.fetch_add(1, std::memory_order_relaxed);
  }
}
#endif

}  // namespace calque
