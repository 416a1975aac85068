// When a rows cluster reads and writes: whether a result of it may lie where an operand does.
#pragma once

#include <algorithm>

#include "calque/graph/rows.hpp"
#include "calque/plan/sizes.hpp"

namespace calque::detail::planning {

/// What a rows cluster writes element by element it writes last; but a value of each row it may
/// write before it reads an operand for the last time, which matters where the two are of a size.
[[nodiscard]] inline bool writes_last(const sized_graph& s, const cluster& c) {
  const row_set rows(s.g, c);
  for (int k = 0; k < c.outputs; ++k) {
    const int id = s.g.pool[c.first_output + k];
    if (rows.form(id) != row_form::full && s.elements(id) == s.elements(c.domain)) return false;
  }
  return true;
}
/// Whether rows of operand `in` are only read where values of rows are computed, before any of
/// the cluster's results is written.
[[nodiscard]] inline bool read_before_rows(const sized_graph& s, const cluster& c, int in) {
  const row_set rows(s.g, c);
  const list<std::int32_t> stages = rows.stages();
  int last = 0;
  for (int i = 0; i < rows.ids.size(); ++i)
    for (int k = 0; k < s.g.nodes[rows.ids[i]].inputs; ++k) {
      if (rows.source(rows.ids[i], k) != in) continue;
      if (rows.forms[i] == row_form::full || rows.reduces(rows.ids[i])) return false;
      last = std::max(last, stages[i]);
    }
  for (int k = 0; k < c.outputs; ++k) {
    const int id = s.g.pool[c.first_output + k];
    // a reduction is there at the end of its sweep, before the values that are computed from it
    const int written = stages[rows.find(id)] - (rows.reduces(id) ? 1 : 0);
    if (rows.form(id) == row_form::full ? s.elements(id) == s.elements(in) : written < last)
      return false;
  }
  return true;
}

}  // namespace calque::detail::planning
