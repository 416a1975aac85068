// One traced function at one list of argument types: its graphs, its kernels, its plans.
//
// The template instantiation is the trace cache. The plan cache is one object for each instantiation,
// never destroyed, so that nothing depends on the order in which a program ends.
#pragma once

#include "calque/backend/cpu/table.hpp"
#include "calque/passes/pipeline.hpp"
#include "calque/run/plan_cache.hpp"
#include "calque/run/request_frame.hpp"
#include "calque/trace/trace.hpp"

namespace calque {

/// Options of `trace`, part of its type.
struct options {
  /// 0: one node for each traced operation; 1: folded, merged, pruned; 2: fused.
  int pass_level = 2;
};

namespace detail {

/// The plan caches of all signatures of one traced function.
struct cache_list {
  std::atomic<cache_list*> next{nullptr};
  plan_cache* cache = nullptr;
};
template <class F, int Level>
CALQUE_HIDDEN inline std::atomic<cache_list*>& caches_of() {
  static std::atomic<cache_list*> head{nullptr};
  return head;
}

template <class F, int Level, class... A>
struct signature {
  using source = trace_source<F, A...>;
  using stages = pipeline<source, Level>;
  using final = typename stages::final;
  using result = typename source::result;

  static constexpr int leaf_count = (count_leaves<symbols_of<A>>() + ... + 0);
  static constexpr const char* broken_rule = verify(final::view());
  static_assert(broken_rule == nullptr, "calque: internal error: a pass broke the graph");

  /// Whether the function writes the variable that is leaf `k`.
  static constexpr bool writes(int k) {
    const graph_view g = final::view();
    for (int i = 0; i < g.node_count; ++i)
      if (g.kind(i) == op_kind::assign && g.nodes[g.input(i, 0)].index == k) return true;
    return false;
  }

  CALQUE_HIDDEN static plan_cache& cache() {
    static plan_cache* const c = [] {
      auto* made = new plan_cache(final::view(), cpu_table<final>::table());
      auto* entry = new cache_list;
      entry->cache = made;
      std::atomic<cache_list*>& head = caches_of<F, Level>();
      entry->next = head.load(std::memory_order_relaxed);
      cache_list* old = entry->next;
      while (!head.compare_exchange_weak(old, entry, std::memory_order_release)) entry->next = old;
      return made;
    }();
    return *c;
  }
};

}  // namespace detail
}  // namespace calque
