// Merges groups of elementwise nodes over one domain into kernels with several results.
//
// A group that hands a value to another, or reads one with it, saves that reading when both are one
// kernel. Rows are merged before (merge_rows.hpp).
#pragma once

#include "calque/passes/fusion_groups.hpp"

namespace calque::detail {

class map_merger {
 public:
  constexpr explicit map_merger(fusion_groups& groups) : m_(groups), g_(groups.g) {}

  constexpr void run() {
    for (int c = m_.all.size() - 1; c >= 0; --c) {  // in the order of their last nodes
      for (bool grown = is_map(m_.all[c]); grown && !m_.is_exhausted();) {
        grown = false;
        list<std::int32_t> near;
        m_.for_each_neighbour(c, [&](int x) { near.push(x); });
        for (std::int32_t x : near)
          if (!m_.all[x].dead && fits(c, x)) grown = merge(c, x) || grown;
      }
    }
  }

 private:
  constexpr bool is_map(const fusion_group& c) const { return !c.dead && c.root < 0; }
  constexpr bool fits(int c, int x) const {
    const fusion_group &a = m_.all[c], &b = m_.all[x];
    if (!is_map(b) || a.region != b.region || a.device != b.device) return false;
    if (a.inputs + b.inputs + a.outputs + b.outputs > max_operands - 8) return false;
    if (a.nodes + b.nodes > max_merged_nodes) return false;
    const node &p = g_.nodes[a.domain], &q = g_.nodes[b.domain];
    return p.rank > 0 && g_.same_extents(p, q) && work_together(c, x);
  }
  /// Whether one reads the other's value, or both one from outside that has as many axes.
  constexpr bool work_together(int c, int x) const {
    bool found = false;
    list<std::int32_t> read;
    for (int pass = 0; pass < 2; ++pass) {
      const int own = pass == 0 ? c : x, other = pass == 0 ? x : c;
      for (int id = m_.first(own); id >= 0; id = m_.next(id))
        for (int k = 0; k < g_.nodes[id].inputs; ++k) {
          const int in = g_.input(id, k);
          if (is_look(g_.kind(in)) && m_.group[looked_at(g_, in)] == other)
            return false;  // a look at the other is no part of either
          if (g_.nodes[in].rank != g_.nodes[m_.all[c].domain].rank) continue;
          if (m_.group[in] == other) found = true;
          else if (pass == 0) read.push(in);
          else found = found || m_.contains(read, in);
        }
    }
    return found;
  }
  constexpr bool merge(int c, int x) {
    const list<std::int32_t> parts{c, x};
    fusion_group sum = m_.together(parts);
    if (!sum.is_ready_in_time() || m_.comes_back(parts) != fusion_groups::nothing) return false;
    if (m_.all[x].last > m_.all[c].last) sum.domain = m_.all[x].domain;
    m_.join(parts, sum);
    return true;
  }

  static constexpr int max_merged_nodes = 96;

  fusion_groups& m_;
  const graph_view& g_;
};

}  // namespace calque::detail
