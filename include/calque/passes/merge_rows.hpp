// Merges groups of nodes that work on the rows of one domain: reductions over the same axes, what
// feeds them and what uses their results.
//
// `fuse` first forms groups around single reductions and elementwise results; this joins those that
// read a full value in common, or hand one on, as long as no value would have to leave the merged
// group and come back. Its kernel then reads a row from memory once and works on it in the cache.
#pragma once

#include "calque/passes/fusion_groups.hpp"

namespace calque::detail {

class row_merger {
 public:
  constexpr explicit row_merger(fusion_groups& groups) : m_(groups), g_(groups.g) {
    form_of_.resize(g_.node_count, {});
    in_rows_.resize(g_.node_count, row_form::none);
    read_.resize(g_.node_count, 0);
    changed_.resize(g_.node_count, 0);
    read_from_.resize(m_.all.size(), 0);
    read_full_from_.resize(m_.all.size(), 0);
  }

  constexpr void run() {
    int most = 0;
    for (const fusion_group& c : m_.all)
      if (!c.dead && reduces(c) && rank_of(c) > most) most = rank_of(c);
    // Domains of many axes first: reductions of their results could take what their own rows use.
    for (int rank = most; rank > 0; --rank)
      for (bool inner : {true, false})  // rows along the last axis lie together
        // what reads full values in common first: only then what works on values of rows alone
        for (bool kept : {false, true})
          for (int c = m_.all.size() - 1; c >= 0; --c)
            if (!m_.all[c].dead && reduces(m_.all[c]) && rank_of(m_.all[c]) == rank &&
                along_last(m_.all[c]) == inner)
              grow(c, kept);
  }

 private:
  constexpr bool reduces(const fusion_group& c) const {
    return c.root >= 0 && is_reduction(g_, c.root);
  }
  constexpr int rank_of(const fusion_group& c) const { return g_.input_node(c.root, 0).rank; }
  constexpr bool along_last(const fusion_group& c) const {
    const int rank = rank_of(c);
    return rank > 0 && ((reduced_mask(g_, c.root) >> (rank - 1)) & 1u) != 0;
  }
  constexpr void grow(int c, bool kept) {
    const row_axes axes{&g_, m_.all[c].domain, reduced_mask(g_, m_.all[c].root)};
    if (!axes.distinct()) return;
    ++growing_;
    for (bool grown = true; grown && !m_.is_exhausted();) {
      grown = false;
      list<std::int32_t> near;
      m_.for_each_neighbour(c, [&](int x) { near.push(x); });
      note_readings(axes, c);
      for (std::int32_t x : near)
        if (!m_.all[x].dead && !m_.is_exhausted() && fits(axes, x, c) &&
            work_together(axes, c, x, kept) && merge(axes, c, x)) {
          note_readings(axes, c);
          grown = true;
        }
    }
  }
  /// The form that a node has for the group that grows.
  constexpr row_form form(const row_axes& axes, int id) {
    if (form_of_[id].growing != growing_) form_of_[id] = {growing_, axes.form_of(g_.nodes[id])};
    return form_of_[id].form;
  }
  /// Marks the full values that group `c` reads from outside, and the groups that give them.
  constexpr void note_readings(const row_axes& axes, int c) {
    ++reading_;
    m_.spend(2 * m_.all[c].nodes);
    for (int id = m_.first(c); id >= 0; id = m_.next(id))
      for (int k = 0; k < g_.nodes[id].inputs; ++k) {
        const int in = looked_at(g_, g_.input(id, k)), from = m_.group[in];
        if (from == c) continue;
        if (from >= 0) read_from_[from] = reading_;
        if (form(axes, in) != row_form::full) continue;
        read_[in] = reading_;
        if (from >= 0) read_full_from_[from] = reading_;
      }
  }
  constexpr bool fits(const row_axes& axes, int x, int c) {
    const fusion_group &a = m_.all[x], &b = m_.all[c];
    if (a.region != b.region || a.device != b.device) return false;
    if (a.root >= 0 && (!reduces(a) || reduced_mask(g_, a.root) != axes.mask)) return false;
    if (a.nodes + b.nodes > max_operands) return false;
    const row_form f = form(axes, a.domain);
    // what is counted again for each element is no result
    if (f != row_form::full && a.root < 0 && is_counting(g_, a.domain) && !m_.is_read_within(x, c))
      return false;
    if (f == row_form::uniform) return a.root < 0 && (axes.kept() == 0 || m_.is_read_within(x, c));
    return f == row_form::full || (a.root < 0 && is_kept(f));
  }
  /// Whether one hands a full value to the other, or both read one; or one works on kept values of
  /// the other alone.
  constexpr bool work_together(const row_axes& axes, int c, int x, bool kept) {
    if (read_full_from_[x] == reading_) return true;
    bool reads = read_from_[x] == reading_;
    for (int id = m_.first(x); id >= 0; id = m_.next(id))
      for (int k = 0; k < g_.nodes[id].inputs; ++k) {
        const int in = looked_at(g_, g_.input(id, k)), from = m_.group[in];
        if (from == x) continue;
        reads |= from == c;
        if (read_[in] == reading_ || (from == c && form(axes, in) == row_form::full)) return true;
      }
    return kept && reads && is_kept_group(axes, x);
  }
  constexpr bool is_kept_group(const row_axes& axes, int x) {
    return m_.all[x].root < 0 && form(axes, m_.all[x].domain) != row_form::full;
  }
  /// Merges `x` into `c`, and with it the groups of row values that lie between the two.
  constexpr bool merge(const row_axes& axes, int c, int x) {
    list<std::int32_t> parts{c, x};
    for (;;) {
      fusion_group sum = m_.together(parts);
      if (!sum.is_ready_in_time() || !m_.fit_one_kernel(parts, sum)) return false;
      const int back = m_.comes_back(parts);
      if (back == fusion_groups::nothing) {
        m_.spend(8 * sum.nodes);
        row_set set(g_, axes.domain, axes.mask);
        set.ids = m_.members(parts);
        if (!set.is_valid(known_forms{*this, c, ++merging_})) return false;
        for (int i = 0; i < set.ids.size(); ++i) in_rows_[set.ids[i]] = set.forms[i];
        sum.rows = true;
        m_.join(parts, sum);
        return true;
      }
      if (back < 0 || !fits(axes, back, c) || !is_kept_group(axes, back)) return false;
      parts.push(back);
    }
  }

  /// The forms of the members of rows cluster `c`, where the other parts do not change them.
  struct known_forms {
    row_merger& m;
    int c, merging;
    constexpr row_form known(int id) const {
      bool old = m.m_.group[id] == c && m.m_.all[c].rows;
      for (int k = 0; old && k < m.g_.nodes[id].inputs; ++k)
        old = m.changed_[looked_at(m.g_, m.g_.input(id, k))] != merging;
      return old ? m.in_rows_[id] : row_form::none;
    }
    constexpr void note(int id, row_form f) const {
      if (m.m_.group[id] != c || !m.m_.all[c].rows || m.in_rows_[id] != f) m.changed_[id] = merging;
    }
  };
  struct known_form {
    std::int32_t growing = 0;
    row_form form = row_form::none;
  };

  fusion_groups& m_;
  const graph_view& g_;
  list<known_form> form_of_;  // by node, for the group that grows
  list<row_form> in_rows_;    // by node: its form in its rows cluster
  list<std::int32_t> read_;   // by node: read, as a full value, by the group that grows
  list<std::int32_t> read_from_, read_full_from_;  // by group
  list<std::int32_t> changed_;  // by node: new in a merged set, or of another form there
  std::int32_t growing_ = 0, reading_ = 0, merging_ = 0;
};

}  // namespace calque::detail
