// Runs a leased plan for a call: variables have values and memory of their own before, and count as
// initialised after it. Part of traced.hpp, which has the ways to a plan.
#pragma once

#include "calque/call/request_frame.hpp"
#include "calque/run/plan_cache.hpp"

namespace calque::detail {

/// The ways to run a plan for a call.
struct plain_replay {
  void operator()(const plan& p, const leaf* leaves, void* const* results) const {
    replay_use(p, leaves, results);
  }
};
struct recorded_replay {
  record& into;
  void operator()(const plan& p, const leaf* leaves, void* const* results) const {
    replay_recorded(p, leaves, results, into);
  }
};

/// Runs a leased plan for the arguments in `frame` by `replay`, and writes the results to
/// `results`.
template <class S, class Frame, class Replay>
void run_plan(plan_use& lease, Frame& frame, void* const* results, Replay replay) {
  const calque::plan& p = *lease;
  for (int k = 0; k < S::leaf_count; ++k) {
    if (frame.at(k).kind != argument_kind::variable) continue;
    if (frame.initialised(k)) continue;
    if (p.writes_variable(k) && !p.reads_variable(k) && !S::always_writes(k))
      throw value_error(
          "calque: " + frame.variable_text(k) +
          " has no value yet and is written only in a branch or loop that may not run; "
          "assign one, or construct it from an array");
    if (p.reads_variable(k))
      throw value_error(
          "calque: " + frame.variable_text(k) +
          " is read before it has a value; assign one, or construct it from an array");
  }
  for (int k = 0; k < S::leaf_count; ++k)
    if (frame.at(k).kind == argument_kind::variable && p.writes_variable(k)) frame.prepare_write(k);
  replay(p, frame.leaves(), results);
  lease.ran();
  for (int k = 0; k < S::leaf_count; ++k)
    if (frame.at(k).kind == argument_kind::variable && p.writes_variable(k))
      frame.mark_initialised(k);
}

}  // namespace calque::detail
