// Replays a plan: fills the table of slots with this call's addresses and launches the steps.
//
// A plan without control flow is a plain loop over its kernels. Nothing is allocated once the plan
// has run before and is not run by more callers at once than arenas are kept.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "calque/array/device_copy.hpp"
#include "calque/core/counted.hpp"
#include "calque/core/device.hpp"
#include "calque/plan/request.hpp"
#include "calque/run/plan.hpp"
#include "calque/run/record.hpp"

namespace calque {
namespace detail {

/// Runs a plan with a given arena and table of slots; the arena may be null where it has no bytes.
CALQUE_ONCE std::int64_t replay_in(const plan& p, const leaf* leaves, void* const* results,
                                   void* arena, void** slots);

/// As `replay`, for a lease that its cache counts: the launches of a plan without control flow are
/// counted with the uses of the plan, which costs no atomic instruction here.
CALQUE_ONCE void replay_use(const plan& p, const leaf* leaves, void* const* results);
/// The same where the caller has filled `count` slots, the leaves' and the results', of a table of
/// `slots_on_stack`.
CALQUE_ONCE void replay_use(const plan& p, void** slots, int count);
/// The same for a call that is recorded.
CALQUE_ONCE void replay_recorded(const plan& p, const leaf* leaves, void* const* results,
                                 record& into);

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
  /// `arenas` are the devices', the host's first.
  replayer(const plan& p, void** slots, void* const* arenas, record* into)
      : p_{p}, slots_(slots), arenas_(arenas), record_(into) {}

  /// Number of kernels launched.
  std::int64_t run() {
    const plan_step* const first = p_.steps().data();
    const auto count = static_cast<std::int32_t>(p_.steps().size());
    if (p_.straight() && p_.devices().empty() && record_ == nullptr) {
      for (std::int32_t i = 0; i < count; ++i) launch(first[i]);
      return on_host_ = count;
    }
    std::int64_t launched = 0;
    for (std::int32_t i = 0; i < count;) {
      const plan_step& s = first[i];
      switch (s.action) {
        case plan_action::launch:
          if (record_ != nullptr) launch_recorded(s, i);
          else launch_anywhere(s);
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
  /// How many of them were kernels of the host.
  [[nodiscard]] std::int64_t on_host() const { return on_host_; }

 private:
  void launch_anywhere(const plan_step& s) {
    if (s.device == 0 && s.source <= 0) launch(s), ++on_host_;
    else launch_on_device(s);
  }
  void launch_recorded(const plan_step& s, std::int32_t i) {
    noted_step n{.step = i, .start = std::chrono::steady_clock::now()};
    launch_anywhere(s);
    n.end = std::chrono::steady_clock::now();
    record_->noted().push_back(n);
  }
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
    s.run(*s.shape, data,
          s.scratch < 0 ? nullptr : static_cast<char*>(arenas_[s.device]) + s.scratch);
  }
  /// A kernel of a device besides the host, or a transfer.
  void launch_on_device(const plan_step& s) const {
    device_entry *const here = p_.device_at(s.device), *const from = s.source < 0
                                                                         ? here
                                                                         : p_.device_at(s.source);
    const auto began = std::chrono::steady_clock::now();
    {
      const device_access reading(from == here ? nullptr : from), writing(here);
      launch(s);
    }
    if (s.source >= 0)
      return end_transfer(from, here, s.shape->size * size_of(s.shape->operands[0].type), began);
    here->state.more_launches.fetch_add(1, std::memory_order_relaxed);
    if (here->speed == 1) return;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    wait_until(began, took.count() / here->speed);
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
  void* const* arenas_;
  record* record_;
  std::int64_t on_host_ = 0;
};

/// The arenas of one replay on the devices besides the host.
class device_arenas {
 public:
  explicit device_arenas(const plan_access& p) {
    for (const auto& d : p.devices()) {
      if (d->where.get()->gone.load(std::memory_order_acquire))
        throw device_error("calque: " + d->where.get()->name +
                           " is gone; take one of the present devices");
      leases_.push_back(std::make_unique<arena_lease>(d->arenas));
    }
  }
  /// `to[0]` is the host's.
  void put(void** to) {
    for (std::size_t d = 0; d < leases_.size(); ++d) to[d + 1] = leases_[d]->data();
  }

 private:
  std::vector<std::unique_ptr<arena_lease>> leases_;
};

/// Runs a plan whose first `count` slots, the leaves' and the results', are filled.
CALQUE_HIDDEN inline std::int64_t run_slots(const plan& p, void** slots, int count, void* arena,
                                            record* into = nullptr) {
  slots[count] = const_cast<void*>(plan_access{p}.constants());
  slots[count + 1] = counted_memory();
  void** const arenas = slots + count + 2;
  arenas[0] = arena;
  const plan_access a{p};
  std::optional<device_arenas> others;
  if (!a.devices().empty()) [[unlikely]]
    others.emplace(a).put(arenas);
  replayer run(p, slots, arenas, into);
  const std::int64_t launched = run.run();
  count_launches(run.on_host());
  return launched;
}
CALQUE_HIDDEN inline int fill_slots(const plan& p, const leaf* leaves, void* const* results,
                                    void** slots) {
  int n = 0;
  for (int i = 0; i < plan_access{p}.leaves(); ++i) slots[n++] = leaves[i].data;
  for (int k = 0; k < p.result_count(); ++k) slots[n++] = results[k];
  return n;
}

CALQUE_ONCE std::int64_t replay_in(const plan& p, const leaf* leaves, void* const* results,
                                   void* arena, void** slots) {
  return run_slots(p, slots, fill_slots(p, leaves, results, slots), arena);
}

/// Runs a plan; `fill(slots)` writes the leaves' and results' slots and returns their number.
template <class Fill>
CALQUE_HIDDEN inline void replay_filled(const plan& p, void** on_stack, bool by_use, Fill&& fill,
                                        record* into = nullptr) {
  const plan_access a{p};
  const arena_lease arena(a.arenas());
  void** slots = on_stack;
  if (a.slots() > slots_on_stack) [[unlikely]]
    slots = reinterpret_cast<void**>(static_cast<char*>(arena.data()) + slot_table_offset(p));
  const std::int64_t launched = run_slots(p, slots, fill(slots), arena.data(), into);
  run_counters* const c = a.counters();
  if (c == nullptr) return;
  if (!by_use || !a.straight()) c->launches.fetch_add(launched, std::memory_order_relaxed);
  if (arena.fresh()) c->allocations.fetch_add(1, std::memory_order_relaxed);
}
CALQUE_HIDDEN inline void replay_leaves(const plan& p, const leaf* leaves, void* const* results,
                                        bool by_use, record* into = nullptr) {
  void* on_stack[slots_on_stack];
  replay_filled(
      p, on_stack, by_use, [&](void** slots) { return fill_slots(p, leaves, results, slots); },
      into);
}

CALQUE_ONCE void replay_use(const plan& p, const leaf* leaves, void* const* results) {
  replay_leaves(p, leaves, results, true);
}
CALQUE_ONCE void replay_recorded(const plan& p, const leaf* leaves, void* const* results,
                                 record& into) {
  const plan_access a{p};
  into.noted().clear();
  const auto began = std::chrono::steady_clock::now();
  replay_leaves(p, leaves, results, true, &into);
  const graph_view& g = a.graph();
  const auto seconds = [began](std::chrono::steady_clock::time_point t) {
    return std::chrono::duration<double>(t - began).count();
  };
  for (const noted_step& n : into.noted()) {
    const plan_step& s = a.steps()[static_cast<std::size_t>(n.step)];
    const node& x = g.nodes[a.notes()[static_cast<std::size_t>(n.step)].node];
    recorded_step r{.start = seconds(n.start), .end = seconds(n.end)};
    if (s.device > 0) r.where = device(device_ref(a.device_at(s.device)));
    r.op = s.source >= 0 ? "transfer" : x.op->name;
    r.node = x.name >= 0 ? std::string(g.name(x)) : r.op;
    const int counted = s.source >= 0 ? 1 : s.operands;
    for (int k = 0; k < counted; ++k) {
      const operand_layout& o = s.shape->operands[k];
      std::int64_t elements = 1;
      for (int axis = 0; axis < s.shape->rank; ++axis)
        if (o.strides[axis] != 0) elements *= s.shape->extents[axis];
      r.bytes += elements * size_of(o.type);
    }
    into.add(std::move(r));
  }
}
CALQUE_ONCE void replay_use(const plan& p, void** slots, int count) {
  replay_filled(p, slots, true, [&](void** to) {
    if (to != slots) [[unlikely]]
      std::copy_n(slots, count, to);
    return count;
  });
}

}  // namespace detail

CALQUE_ONCE void replay(const plan& p, const leaf* leaves, void* const* results) {
  detail::replay_leaves(p, leaves, results, false);
}
#endif

}  // namespace calque
