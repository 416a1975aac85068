// Merges groups of nodes that work on the rows of one domain: reductions over the same axes, what
// feeds them and what uses their results.
//
// `fuse` first forms groups around single reductions and elementwise results; this joins those that
// read a full value in common, or hand one on, as long as no value would have to leave the merged
// group and come back. Its kernel then reads a row from memory once and works on it in the cache.
#pragma once

#include "calque/passes/fusion_groups.hpp"

namespace calque::detail {

class row_merger : group_joiner {
 public:
  using group_joiner::group_joiner;

  constexpr void run() {
    // what reads full values in common first: only then what works on values of rows alone
    for (bool kept : {false, true})
      for (int c = groups_.size() - 1; c >= 0; --c)  // in the order of their last nodes
        if (!groups_[c].dead && reduces(groups_[c])) grow(c, kept);
  }

 private:
  constexpr bool reduces(const fusion_group& c) const {
    return c.root >= 0 && is_reduction(g_, c.root);
  }
  constexpr void grow(int c, bool kept) {
    const row_axes axes{&g_, groups_[c].domain, reduced_mask(g_, groups_[c].root)};
    if (!axes.distinct()) return;
    for (bool grown = true; grown;) {
      grown = false;
      for (int x = groups_.size() - 1; x >= 0 && !grown; --x)
        grown = x != c && fits(axes, x, c) && work_together(axes, c, x, kept) && merge(axes, c, x);
    }
  }
  constexpr bool fits(const row_axes& axes, int x, int c) const {
    const fusion_group &a = groups_[x], &b = groups_[c];
    if (a.dead || a.region != b.region) return false;
    if (a.root >= 0 && (!reduces(a) || reduced_mask(g_, a.root) != axes.mask)) return false;
    if (a.nodes + b.nodes + a.inputs + b.inputs + a.outputs + b.outputs > max_operands)
      return false;
    const row_form f = axes.form_of(g_.nodes[a.domain]);
    return f == row_form::full || (a.root < 0 && f != row_form::none);
  }
  /// Whether one hands a full value to the other, or both read one; or one works on kept values of
  /// the other alone.
  constexpr bool work_together(const row_axes& axes, int c, int x, bool kept) const {
    bool reads = false, full = false;
    list<std::int32_t> common;
    for (int pass = 0; pass < 2 && !full; ++pass) {
      const fusion_group& a = groups_[pass == 0 ? c : x];
      for (int id = a.first; id <= a.last && !full; ++id) {
        if (group_[id] != (pass == 0 ? c : x)) continue;
        for (int k = 0; k < g_.nodes[id].inputs; ++k) {
          const int in = looked_at(g_, g_.input(id, k));
          const bool is_full = axes.form_of(g_.nodes[in]) == row_form::full;
          const int from = group_[in];
          if (from == (pass == 0 ? x : c)) {
            reads = true;
            full = full || is_full;
          } else if (is_full && from != (pass == 0 ? c : x)) {
            if (pass == 0) common.push(in);
            else
              for (std::int32_t seen : common) full = full || seen == in;
          }
        }
      }
    }
    return full || (kept && reads && is_kept_group(axes, x));
  }
  constexpr bool is_kept_group(const row_axes& axes, int x) const {
    return groups_[x].root < 0 && axes.form_of(g_.nodes[groups_[x].domain]) != row_form::full;
  }
  /// Merges `x` into `c`, and with it the groups of row values that lie between the two.
  constexpr bool merge(const row_axes& axes, int c, int x) {
    list<std::int32_t> parts{c, x};
    for (;;) {
      row_set all(g_, axes.domain, axes.mask);
      fusion_group sum = together(parts);
      if (sum.nodes + sum.inputs + sum.outputs > max_operands) return false;
      for (int id = sum.first; id <= sum.last; ++id)
        if (contains(parts, group_[id])) all.ids.push(id);
      if (!all.is_valid()) return false;
      const int back = comes_back(parts, sum.first, sum.last);
      if (back == nothing) {
        sum.rows = true;
        join(parts, sum);
        return true;
      }
      if (back < 0 || !fits(axes, back, c) || !is_kept_group(axes, back)) return false;
      parts.push(back);
    }
  }
};

}  // namespace calque::detail
