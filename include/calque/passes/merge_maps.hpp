// Merges groups of elementwise nodes over one domain into kernels with several results.
//
// A group that hands a value to another, or reads one with it, saves that reading when both are one
// kernel. Rows are merged before (merge_rows.hpp).
#pragma once

#include "calque/passes/fusion_groups.hpp"

namespace calque::detail {

class map_merger : group_joiner {
 public:
  using group_joiner::group_joiner;

  constexpr void run() {
    for (int c = groups_.size() - 1; c >= 0; --c) {  // in the order of their last nodes
      if (!is_map(groups_[c])) continue;
      for (bool grown = true; grown;) {
        grown = false;
        for (int x = groups_.size() - 1; x >= 0 && !grown; --x)
          grown = x != c && fits(c, x) && merge(c, x);
      }
    }
  }

 private:
  constexpr bool is_map(const fusion_group& c) const { return !c.dead && c.root < 0; }
  constexpr bool fits(int c, int x) const {
    const fusion_group &a = groups_[c], &b = groups_[x];
    if (!is_map(b) || a.region != b.region) return false;
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
      for (int id = groups_[own].first; id <= groups_[own].last; ++id) {
        if (group_[id] != own) continue;
        for (int k = 0; k < g_.nodes[id].inputs; ++k) {
          const int in = g_.input(id, k);
          if (is_look(g_.kind(in))) {  // a look at the other is no part of either
            const int seen = group_[looked_at(g_, in)];
            if (seen == c || seen == x) return false;
          }
          if (g_.nodes[in].rank != g_.nodes[groups_[c].domain].rank) continue;
          if (group_[in] == other) found = true;
          else if (pass == 0) read.push(in);
          else found = found || contains(read, in);
        }
      }
    }
    return found;
  }
  constexpr bool merge(int c, int x) {
    const list<std::int32_t> parts{c, x};
    fusion_group sum = together(parts);
    if (comes_back(parts, sum.first, sum.last) != nothing) return false;
    if (groups_[x].last > groups_[c].last) sum.domain = groups_[x].domain;
    join(parts, sum);
    return true;
  }

  static constexpr int max_merged_nodes = 96;
};

}  // namespace calque::detail
