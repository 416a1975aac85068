// Answers where a named value or a result of a plan is, and why: from the plan, without running it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calque/core/log_sink.hpp"
#include "calque/plan/placement.hpp"
#include "calque/run/plan.hpp"

#if CALQUE_DEFINES_ONCE()
namespace calque {
namespace detail {

/// Where node `id` of a plan is.
[[nodiscard]] CALQUE_HIDDEN inline node_placement placement_of_node(const plan_access& p, int id) {
  const graph_view& g = p.graph();
  node_placement r;
  if (const std::string_view asked = asked_device(g.device(g.nodes[id])); !asked.empty())
    r.requested = argument_of(asked) < 0 ? std::string(asked)
                                         : "argument " + std::to_string(argument_of(asked));
  if (p.places().empty()) {  // nothing leaves the host
    r.reason = planning::text_of(planning::reason_on_host(g, id, p.guarded()));
    return r;
  }
  const node_place& at = p.places()[static_cast<std::size_t>(id)];
  if (at.device > 0) r.assigned = device(device_ref(p.device_at(at.device)));
  r.reason = planning::text_of(static_cast<planning::place_reason>(at.reason));
  return r;
}

/// A line for each value that a kernel computes, and each transfer, in the graph's order. What has
/// no name is called by its operation, numbered where that is not enough.
[[nodiscard]] CALQUE_HIDDEN inline std::vector<std::string> placement_lines(const plan& p) {
  const plan_access access{p};
  const graph_view& g = access.graph();
  std::vector<std::string> lines;
  std::map<std::string, int> used;
  for (int id = 0; id < g.node_count; ++id) {
    const node& n = g.nodes[id];
    const bool counts = n.op->kind == op_kind::transfer ||
                        (graph_view::computes(n.op->kind) && n.op->kind != op_kind::iota);
    if (!counts && n.name < 0) continue;
    std::string name(n.name >= 0 ? g.name(n) : std::string_view(n.op->name));
    if (n.name < 0)
      if (const int k = used[name]++; k > 0) name.append("_").append(std::to_string(k));
    const node_placement at = placement_of_node(access, id);
    lines.push_back(name.append(": (")
                        .append(n.op->name)
                        .append("): ")
                        .append(at.assigned.name())
                        .append("  requested=")
                        .append(at.requested.value_or("-"))
                        .append(" reason=")
                        .append(at.reason));
  }
  return lines;
}

CALQUE_ONCE void log_placements(const plan& p) {
  for (const std::string& line : placement_lines(p)) log_line(line);
}

}  // namespace detail

CALQUE_ONCE node_placement plan::placement_of(std::string_view name) const {
  const detail::plan_access p{*this};
  const graph_view& g = p.graph();
  std::string others;
  for (int id = 0; id < g.node_count; ++id) {
    const std::string_view here = g.name(g.nodes[id]);
    if (here == name && !name.empty()) return detail::placement_of_node(p, id);
    if (!here.empty()) others.append(others.empty() ? "" : ", ").append(here);
  }
  throw value_error(
      "placement_of: nothing is called \"" + std::string(name) + "\"; " +
      (others.empty() ? "name values with cq::named(x, \"logits\")" : "there are " + others));
}
CALQUE_ONCE node_placement plan::placement_of(int k) const {
  if (k < 0 || k >= result_count())
    throw index_error("placement_of: there is no result " + std::to_string(k) +
                      "; the function has " + std::to_string(result_count()));
  const detail::plan_access p{*this};
  node_placement r = detail::placement_of_node(p, p.graph().result(k));
  r.assigned = result(k).device == 0 ? device{} : device(detail::device_ref(result_place(k)));
  return r;
}

}  // namespace calque
#endif
