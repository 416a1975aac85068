// The passes in order, each in a constant evaluation of its own, for one traced graph.
//
//   traced    what the body did, node for node
//   gradient  derivatives expanded
//   fold      constants computed, exact identities and markers removed
//   cse       equal nodes merged
//   dce       what neither results nor effects need dropped
//   fuse      clusters formed, in two steps
//   recompute cheap values computed again where that moves fewer bytes; then clusters once more
//
// Level 0 stops after `gradient`, level 1 after `dce`, level 2 runs all.
#pragma once

#include "calque/graph/frozen.hpp"
#include "calque/passes/cse.hpp"
#include "calque/passes/dce.hpp"
#include "calque/passes/fold.hpp"
#include "calque/passes/fuse.hpp"
#include "calque/passes/gradient.hpp"
#include "calque/passes/recompute.hpp"
#include "calque/passes/verify.hpp"

namespace calque {

/// A pass's name and the number of nodes before and after it.
struct pass_report {
  const char* name = "";
  int before = 0, after = 0;
};

/// All passes from fold on, by name: what the plain run-time pipeline runs.
[[nodiscard]] constexpr graph optimised(const graph_view& traced, int level = 2) {
  graph g = has_gradients(traced) ? gradient(traced) : graph{};
  const graph_view first = has_gradients(traced) ? g.view() : traced;
  if (level <= 0) return duplicate(first);
  graph folded = fold(first);
  graph merged = cse(folded.view());
  graph live = dce(merged.view());
  if (level == 1) return live;
  graph fused = fuse(live.view());
  if (!recomputes(fused.view())) return fused;
  graph again = recompute(fused.view());
  graph rest = dce(again.view());
  return fuse(rest.view());
}

namespace detail {

// Each step is a class template so that its result is a static member: evaluated once, by itself.

template <class Source>
struct traced_stage {
  static constexpr graph_sizes sizes = sizes_of(Source::trace());
  static constexpr frozen_graph<sizes> value = freeze<sizes>(Source::trace());
  static constexpr graph_view view() { return value.view(); }
};

#define CALQUE_STAGE(NAME, PASS, PLAINLY)                                                      \
  template <class Before>                                                                      \
  struct NAME##_stage {                                                                        \
    static constexpr graph_sizes sizes = sizes_of(PASS(Before::view()));                       \
    static constexpr frozen_graph<sizes> value = freeze<sizes>(PASS(Before::view()), PLAINLY); \
    static constexpr graph_view view() { return value.view(); }                                \
  }
CALQUE_STAGE(gradient, calque::gradient, false);
CALQUE_STAGE(fold, fold, true);  // the last to evaluate anything
CALQUE_STAGE(cse, cse, true);
CALQUE_STAGE(dce, dce, true);
CALQUE_STAGE(group, group, true);
CALQUE_STAGE(fuse, fuse_groups, true);
CALQUE_STAGE(recompute, recompute, true);
#undef CALQUE_STAGE

template <class Traced>
constexpr auto after_gradient() {
  if constexpr (has_gradients(Traced::view())) {
    constexpr bool counted = !needs_run_time_steps(Traced::view());
    static_assert(counted, CALQUE_FAULT_STEPS);
    if constexpr (counted) return gradient_stage<Traced>{};
    else return Traced{};
  } else {
    return Traced{};
  }
}

template <class Fused>
constexpr auto after_recomputing() {
  if constexpr (recomputes(Fused::view()))
    return fuse_stage<group_stage<dce_stage<recompute_stage<Fused>>>>{};
  else return Fused{};
}

}  // namespace detail

/// The graphs of one traced function: `traced`, then `final` after the passes of `Level`.
template <class Source, int Level>
struct pipeline {
  using traced = detail::traced_stage<Source>;
  using expanded = decltype(detail::after_gradient<traced>());
  using folded = detail::fold_stage<expanded>;
  using merged = detail::cse_stage<folded>;
  using live = detail::dce_stage<merged>;
  using grouped = detail::group_stage<live>;
  using fused = detail::fuse_stage<grouped>;
  using lean = decltype(detail::after_recomputing<fused>());

  static constexpr auto pick() {
    if constexpr (Level <= 0) return expanded{};
    else if constexpr (Level == 1) return live{};
    else return lean{};
  }
  using final = decltype(pick());

  /// Nodes before and after each pass that ran; the number of entries is the result.
  static constexpr int reports(pass_report (&r)[6]) {
    int n = 0;
    const auto add = [&](const char* name, graph_view a, graph_view b) {
      r[n++] = {name, a.node_count, b.node_count};
    };
    if constexpr (!std::is_same_v<traced, expanded>)
      add("gradient", traced::view(), expanded::view());
    if constexpr (Level >= 1) {
      add("fold", expanded::view(), folded::view());
      add("cse", folded::view(), merged::view());
      add("dce", merged::view(), live::view());
    }
    if constexpr (Level >= 2) {
      add("fuse", live::view(), fused::view());
      if constexpr (!std::is_same_v<fused, lean>) add("recompute", fused::view(), lean::view());
    }
    return n;
  }
};

}  // namespace calque
