// Whether a call fits its graph: leaves of the traced types and ranks, destinations of the results'
// extents. The first and the last look at a request before anything is planned.
#pragma once

#include <string>

#include "calque/core/error.hpp"
#include "calque/plan/request.hpp"
#include "calque/plan/sizes.hpp"

namespace calque::detail::planning {

/// Throws `value_error` or `dtype_error`.
inline void check_request(const graph_view& g, const call_request& r) {
  if (r.leaf_count != g.argument_count)
    throw value_error("plan: the function has " + std::to_string(g.argument_count) +
                      " argument leaves, the call brings " + std::to_string(r.leaf_count));
  for (int i = 0; i < g.argument_count; ++i) {
    const argument& a = g.arguments[i];
    const leaf& l = r.leaves[i];
    if (a.kind != l.kind || a.rank != l.rank ||
        (a.kind != argument_kind::extents && a.type != l.type))
      throw dtype_error("plan: argument " + std::to_string(i) + " is " +
                        std::string(name_of(l.type)) + " of rank " + std::to_string(l.rank) +
                        ", the function was traced for " + std::string(name_of(a.type)) +
                        " of rank " + std::to_string(a.rank));
  }
  if (r.outputs != nullptr && r.output_count != g.result_count())
    throw value_error("into: the function has " + std::to_string(g.result_count()) +
                      " results, the call brings " + std::to_string(r.output_count) +
                      " destinations");
}

/// Throws `shape_error`, or `alias_error` for elements that share memory.
inline void check_destinations(const sized_graph& s, const call_request& r) {
  for (int k = 0; r.outputs != nullptr && k < r.output_count; ++k) {
    const int id = s.g.result(k);
    const output& o = r.outputs[k];
    for (int i = 0; i < s.rank(id); ++i)
      if (o.extents[i] != s.extents(id)[i])
        throw shape_error("into: result " + std::to_string(k) + " is " + s.text(id) +
                          ", its destination is " +
                          value_text(s.g.nodes[id].type, o.extents, s.rank(id)) + ": extents " +
                          std::to_string(s.extents(id)[i]) + " and " +
                          std::to_string(o.extents[i]) + " of axis " + std::to_string(i) +
                          " differ; give a destination of the result's extents");
      else if (o.strides != nullptr && o.strides[i] == 0 && o.extents[i] > 1 && s.elements(id) > 0)
        throw alias_error("into: axis " + std::to_string(i) + " of the destination of result " +
                          std::to_string(k) +
                          " has stride 0, so its elements share memory; give "
                          "a destination whose elements are distinct");
  }
}

}  // namespace calque::detail::planning
