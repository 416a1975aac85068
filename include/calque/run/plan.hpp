// A plan: the steps of one call's sizes and layouts, ready to be replayed.
//
// Plain data once made; replays share it and write nothing in it but counters. Made by planner.hpp,
// kept by plan_cache.hpp, run by executor.hpp, shown by inspect.hpp.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calque/backend/backend.hpp"
#include "calque/core/bytes.hpp"
#include "calque/core/device.hpp"
#include "calque/graph/graph.hpp"
#include "calque/run/arena.hpp"

namespace calque {

namespace detail {

/// One operand's address: a slot's pointer and bytes.
struct operand_address {
  std::int32_t slot = 0;
  std::int64_t offset = 0;
};

enum class plan_action : std::uint8_t {
  launch,  // a kernel
  branch,  // to `target` unless operand 0, a bool, holds
  jump,    // to `target`
  loop,    // starts; to `target` if there is no step
  next     // ends a step of the loop; to `target` if another follows
};

/// One instruction of a replay.
struct plan_step {
  plan_action action = plan_action::launch;
  bool reverse = false;      // loops
  std::int16_t device = 0;   // its number in the plan; 0 is the host
  std::int16_t source = -1;  // transfers: the device that operand 0 is on
  kernel_function run = nullptr;
  const geometry* shape = nullptr;
  std::int32_t first_operand = 0, operands = 0;
  std::int32_t target = 0;
  std::int32_t first_slice = 0, slices = 0;  // loops: slots they move
  std::int64_t scratch = -1;                 // offset in the arena
  std::int64_t count = -1;                   // loops: number of steps, or -1: operand 1 holds it
};

/// A slot that a loop moves: `from` plus `stride` bytes a step.
struct plan_slice {
  std::int32_t slot = 0;
  operand_address from;
  std::int64_t stride = 0;
};

enum class step_role : std::uint8_t {
  kernel,
  transfer,
  check,
  reshape,
  store,
  snapshot,
  branch,
  otherwise,
  loop,
  next
};

/// Where a step comes from; texts are made of it when somebody asks.
struct step_note {
  step_role role = step_role::kernel;
  std::int32_t node = -1, cluster = -1, depth = 0;
  std::int32_t first = -1, last = -1;  // steps between which its first output lives in the arena
};

struct plan_result {
  dtype type = dtype::none;
  int rank = 0;
  std::array<std::int64_t, max_rank> extents{};
  int device = 0;
};

/// A device of a plan besides the host, and the plan's temporaries there.
struct plan_device {
  device_ref where;
  std::int64_t arena_bytes = 0, fresh_bytes = 0;
  mutable arena_set arenas;

  explicit plan_device(device_entry* d, std::int64_t bytes) : where(d), arena_bytes(bytes) {
    arenas.set_device(where);
    arenas.set_size(bytes);
  }
};

/// Counters that the plans of one cache share.
struct run_counters {
  std::atomic<std::int64_t> launches{0}, allocations{0};
};

/// Where a node is, and why (planning::place_reason).
struct node_place {
  std::int16_t device = 0;
  std::uint8_t reason = 0;
};

class planner;
struct plan_access;

}  // namespace detail

/// Where a value of a plan is: what a guard in the body asked for, if one did; the device; why.
struct node_placement {
  std::optional<std::string> requested{};
  device assigned{};
  std::string reason{};
};

/// The steps of a function for one set of sizes and layouts. Safe to read and replay from any
/// thread.
class plan {
 public:
  plan() = default;
  plan(const plan&) = delete;
  plan& operator=(const plan&) = delete;

  [[nodiscard]] int result_count() const { return static_cast<int>(results_.size()); }
  [[nodiscard]] const std::int64_t* result_extents(int k) const { return result(k).extents.data(); }
  [[nodiscard]] int result_rank(int k) const { return result(k).rank; }
  [[nodiscard]] dtype result_type(int k) const { return result(k).type; }
  /// The device that a fresh result is on; null for the host.
  [[nodiscard]] detail::device_entry* result_place(int k) const {
    return result(k).device == 0 ? nullptr : device_entry_at(result(k).device);
  }

  /// Bytes that a call has at its peak on the host: its arena and its fresh results.
  [[nodiscard]] bytes peak_bytes() const { return bytes(arena_bytes_ + fresh_bytes_); }
  /// The same on any device.
  [[nodiscard]] bytes peak_bytes(const device& where) const {
    if (where.is_host()) return peak_bytes();
    for (const auto& d : devices_)
      if (d->where.get() == where.entry()) return bytes(d->arena_bytes + d->fresh_bytes);
    return bytes{0};
  }
  /// Temporaries and scratch.
  [[nodiscard]] bytes arena_bytes() const { return bytes(arena_bytes_); }
  /// Bytes that the plan itself and its arenas take, or will take once it has run.
  [[nodiscard]] bytes held_bytes() const { return bytes(own_bytes_ + arenas_.held()); }

  /// Whether the call needs the value that the variable of this leaf has before it.
  [[nodiscard]] bool reads_variable(int leaf) const {
    return variables_[static_cast<std::size_t>(leaf)] & 1;
  }
  [[nodiscard]] bool writes_variable(int leaf) const {
    return variables_[static_cast<std::size_t>(leaf)] & 2;
  }
  /// Number of steps that launch a kernel.
  [[nodiscard]] int steps() const { return launches_; }

  /// Where the value is that the body called `name` (with its scopes), or result `k`. Nothing runs.
  /// Throws `value_error` for a name of none, and lists those there are.
  ///
  ///   auto p = f.plan(x);
  ///   std::cout << p.placement_of("logits").assigned.name();
  [[nodiscard]] CALQUE_ONCE node_placement placement_of(std::string_view name) const;
  [[nodiscard]] CALQUE_ONCE node_placement placement_of(int k) const;

  /// Deterministic text of the steps; the same in every process and for every compiler.
  [[nodiscard]] CALQUE_ONCE std::string dump() const;
  /// The steps and what they hand on, for Graphviz.
  [[nodiscard]] CALQUE_ONCE std::string dot() const;
  [[nodiscard]] CALQUE_ONCE std::string json() const;
  /// One line a step: what it computes and why it is a step of its own, bytes, offset, lifetime.
  [[nodiscard]] CALQUE_ONCE std::string explain() const;

 private:
  friend class detail::planner;
  friend struct detail::plan_access;

  const detail::plan_result& result(int k) const { return results_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] detail::device_entry* device_entry_at(int number) const {
    return devices_[static_cast<std::size_t>(number - 1)]->where.get();
  }

  std::vector<detail::plan_step> steps_;
  std::vector<detail::operand_address> operands_;
  std::vector<detail::plan_slice> slices_;
  std::vector<geometry> shapes_;
  std::vector<operand_layout> layouts_;
  std::vector<std::uint64_t> constants_;
  std::vector<std::unique_ptr<const std::string>> texts_;  // of steps that throw
  std::vector<detail::plan_result> results_;
  std::vector<unsigned char> variables_;  // by leaf: 1 reads, 2 writes
  std::vector<detail::step_note> notes_;  // by step
  graph_view graph_;
  graph own_graph_;                         // with transfers; else the function's is used
  std::vector<detail::node_place> places_;  // by node, in a plan with devices besides the host
  bool guarded_ = false;                    // a guard was around the call
  std::vector<std::unique_ptr<detail::plan_device>> devices_;  // besides the host, from 1 on
  int leaves_ = 0, slots_ = 0, launches_ = 0;
  bool straight_ = true;  // launches only
  std::int64_t arena_bytes_ = 0, fresh_bytes_ = 0, own_bytes_ = 0;
  mutable detail::arena_set arenas_;
  detail::run_counters* counters_ = nullptr;
};

namespace detail {

/// What the library's own headers may see of a plan.
struct plan_access {
  const plan& p;

  [[nodiscard]] static calque::graph& own_graph(plan& of) { return of.own_graph_; }
  [[nodiscard]] static std::vector<node_place>& places(plan& of) { return of.places_; }
  [[nodiscard]] const std::vector<plan_step>& steps() const { return p.steps_; }
  [[nodiscard]] const std::vector<operand_address>& operands() const { return p.operands_; }
  [[nodiscard]] const std::vector<plan_slice>& slices() const { return p.slices_; }
  [[nodiscard]] const std::vector<step_note>& notes() const { return p.notes_; }
  [[nodiscard]] const graph_view& graph() const { return p.graph_; }
  [[nodiscard]] const void* constants() const { return p.constants_.data(); }
  [[nodiscard]] int leaves() const { return p.leaves_; }
  [[nodiscard]] int slots() const { return p.slots_; }
  [[nodiscard]] bool straight() const { return p.straight_; }
  [[nodiscard]] const std::vector<std::unique_ptr<plan_device>>& devices() const {
    return p.devices_;
  }
  [[nodiscard]] const std::vector<node_place>& places() const { return p.places_; }
  [[nodiscard]] bool guarded() const { return p.guarded_; }
  /// Null for the host.
  [[nodiscard]] device_entry* device_at(int number) const {
    return number == 0 ? nullptr : p.device_entry_at(number);
  }
  [[nodiscard]] arena_set& arenas() const { return p.arenas_; }
  [[nodiscard]] run_counters* counters() const { return p.counters_; }
};

/// Tables of up to this many slots are on the replay's stack, longer ones behind the arena.
inline constexpr int slots_on_stack = 64;

[[nodiscard]] inline std::int64_t slot_table_offset(const plan& p) {
  return (p.arena_bytes().count() + host_alignment - 1) / host_alignment * host_alignment;
}

}  // namespace detail
}  // namespace calque
