// The cold half of the plan cache behind plain functions: making a plan, and saying why one was
// made.
//
// By default they are inline like everything else. Compiling the planner costs some seconds in
// every file that calls a traced function, so a program of many files may define
// CALQUE_SEPARATE_PLANNER everywhere (link the CMake target `calque::separate_planner`, which does
// it all), and in one file CALQUE_PLANNER_HERE as well.
#pragma once

#include <memory>
#include <string>

#include "calque/plan/key.hpp"
#include "calque/run/plan.hpp"

#if CALQUE_PLANS_INLINE()
#include "calque/run/inspect.hpp"
#include "calque/run/planner.hpp"
#endif
#if CALQUE_PLANS_ELSEWHERE()
#define CALQUE_PLANNING
#else
#define CALQUE_PLANNING inline
#endif

namespace calque::detail {

#if CALQUE_PLANS_ELSEWHERE()
inline namespace separate {  // never mixed up with the inline functions of another file
#endif

/// Plans one call. Throws `shape_error`, `alias_error`, … before anything has changed.
[[nodiscard]] CALQUE_HIDDEN CALQUE_PLANNING std::unique_ptr<plan> plan_call(
    const graph_view& g, const kernel_table& kernels, const planning::graph_facts& facts,
    const call_request& request, run_counters* counters);

/// Which argument and field tell a new call from the latest plan's.
[[nodiscard]] CALQUE_HIDDEN CALQUE_PLANNING std::string key_difference_text(
    const graph_view& g, const std::int64_t* now, std::size_t now_size, const std::int64_t* before,
    std::size_t before_size);

#if CALQUE_PLANS_INLINE()
CALQUE_PLANNING std::unique_ptr<plan> plan_call(const graph_view& g, const kernel_table& kernels,
                                                const planning::graph_facts& facts,
                                                const call_request& request,
                                                run_counters* counters) {
  return make_plan(g, kernels, facts, request, counters);
}
CALQUE_PLANNING std::string key_difference_text(const graph_view& g, const std::int64_t* now,
                                                std::size_t now_size, const std::int64_t* before,
                                                std::size_t before_size) {
  return planning::key_difference(g, now, now_size, before, before_size).text();
}
#endif

#if CALQUE_PLANS_ELSEWHERE()
}  // namespace separate
#endif

}  // namespace calque::detail

#undef CALQUE_PLANNING
