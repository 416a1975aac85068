// One traced function at one list of argument types: its graphs, its kernels, its plans.
//
// The template instantiation is the trace cache. The plan cache is one object for each
// instantiation, never destroyed, so that nothing depends on the order in which a program ends.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "calque/backend/cpu/table.hpp"
#include "calque/call/draw_limits.hpp"
#include "calque/call/request_frame.hpp"
#include "calque/passes/pipeline.hpp"
#include "calque/run/plan_cache.hpp"
#include "calque/trace/trace.hpp"

namespace calque {

/// Options of `trace`, part of its type.
struct options {
  /// 0: one node for each traced operation; 1: folded, merged, pruned; 2: fused.
  int pass_level = 2;
};

namespace detail {

/// The plan caches of all signatures of one traced function, and the bounds that new ones start
/// with.
struct cache_list {
  cache_list* next = nullptr;
  plan_cache* cache = nullptr;
};
struct cache_registry {
  std::mutex mutex;
  std::atomic<cache_list*> head{nullptr};
  std::int64_t most_plans = -1;  // -1: the cache's own default
  bytes most_bytes{};

  void add(plan_cache* cache) {
    const std::lock_guard lock(mutex);
    if (most_plans >= 0) cache->limit(most_plans, most_bytes);
    head.store(new cache_list{head.load(std::memory_order_relaxed), cache},
               std::memory_order_release);
  }
  void limit(std::int64_t count, bytes most) {
    const std::lock_guard lock(mutex);
    most_plans = count;
    most_bytes = most;
    for (cache_list* e = head.load(std::memory_order_relaxed); e; e = e->next)
      e->cache->limit(count, most);
  }
};
template <class F, int Level>
CALQUE_HIDDEN inline cache_registry& caches_of() {
  static auto* const registry = new cache_registry;  // never destroyed: no order at exit
  return *registry;
}

template <class F, int Level, class... A>
struct signature {
  using source = trace_source<F, A...>;
  using result = typename source::result;
  static_assert(check_trace<source>());  // before the passes, which would fail without a text
  using stages = pipeline<source, Level>;
  using final = typename stages::final;

  /// The graph as the body made it.
  static constexpr graph_view unchanged() { return traced_stage<source>::view(); }
  static constexpr bool has_limits = detail::has_limits(unchanged());

  static constexpr int leaf_count = (count_leaves<symbols_of<A>>() + ... + 0);
  static constexpr const char* broken_rule = verify(final::view());
  /// A refused call may leave a trace that breaks rules: the compiler has said why by then.
  static constexpr bool refused =
      broken_rule != nullptr && verify(traced_stage<source>::view()) != nullptr;
  static_assert(!refused, "calque: no graph, since an operation refuses its operands");
  static_assert(refused || broken_rule == nullptr,
                "calque: internal error: a pass broke the graph");

  /// Whether every call writes the variable that is leaf `k`, whatever branches and loops do.
  static constexpr bool always_writes(int k, int region = 0) {
    const graph_view g = final::view();
    for (int id = g.regions[region].first; id < g.regions[region].last; ++id) {
      const node& n = g.nodes[id];
      if (n.region != region) continue;
      if (n.op->kind == op_kind::assign && g.nodes[g.input(id, 0)].index == k) return true;
      if (n.op->kind == op_kind::cond && always_writes(k, n.body0) && always_writes(k, n.body1))
        return true;
    }
    return false;
  }

  CALQUE_HIDDEN static plan_cache& cache() {
    static plan_cache* const c = [] {
      auto made = std::make_unique<plan_cache>(final::view(), cpu_table<final>::table());
      caches_of<F, Level>().add(made.get());
      return made.release();
    }();
    return *c;
  }
};

}  // namespace detail
}  // namespace calque
