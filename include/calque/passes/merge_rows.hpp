// Merges groups of nodes that work on the rows of one domain: reductions over the same axes, what
// feeds them and what uses their results.
//
// `fuse` first forms groups around single reductions and elementwise results; this joins those that
// read a full value in common, or hand one on, as long as no value would have to leave the merged
// group and come back. Its kernel then reads a row from memory once and works on it in the cache.
#pragma once

#include "calque/graph/cluster.hpp"

namespace calque::detail {

/// Nodes that may become one kernel, while clusters are formed.
struct fusion_group {
  std::int32_t region = 0, domain = -1, root = -1, nodes = 0, first = -1, last = -1;
  std::int32_t inputs = 0, outputs = 0;  // bounds
  std::int32_t input[max_operands]{};
  bool rows = false;
  bool dead = false;
};

class row_merger {
 public:
  constexpr row_merger(const graph_view& g, list<std::int32_t>& group, list<fusion_group>& groups)
      : g_(g), group_(group), groups_(groups) {}

  constexpr void run() {
    // what reads full values in common first: only then what works on values of rows alone
    for (bool kept : {false, true})
      for (int c = groups_.size() - 1; c >= 0; --c)  // in the order of their last nodes
        if (!groups_[c].dead && reduces(groups_[c])) grow(c, kept);
  }

 private:
  constexpr bool reduces(const fusion_group& c) const {
    return c.root >= 0 && g_.kind(c.root) == op_kind::reduce;
  }
  constexpr void grow(int c, bool kept) {
    const row_axes axes{&g_, groups_[c].domain, g_.nodes[groups_[c].root].axis_mask};
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
    if (a.root >= 0 && (!reduces(a) || g_.nodes[a.root].axis_mask != axes.mask)) return false;
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
      fusion_group sum = groups_[c];
      for (std::int32_t p : parts) {
        const fusion_group& a = groups_[p];
        if (a.first < sum.first) sum.first = a.first;
        if (a.last > sum.last) sum.last = a.last;
        if (p == c) continue;
        if (a.root >= 0 && a.root < sum.root) sum.root = a.root;
        sum.nodes += a.nodes;
        sum.inputs += a.inputs;
        sum.outputs += a.outputs;
      }
      if (sum.nodes + sum.inputs + sum.outputs > max_operands) return false;
      for (int id = sum.first; id <= sum.last; ++id)
        if (contains(parts, group_[id])) all.ids.push(id);
      if (!all.is_valid()) return false;
      const int back = comes_back(parts, sum.first, sum.last);
      if (back == nothing) {
        for (std::int32_t id : all.ids) group_[id] = c;
        for (std::int32_t p : parts) groups_[p].dead = p != c;
        groups_[c] = sum;
        groups_[c].rows = true;
        return true;
      }
      if (back < 0 || !fits(axes, back, c) || !is_kept_group(axes, back)) return false;
      parts.push(back);
    }
  }
  static constexpr bool contains(const list<std::int32_t>& parts, int group) {
    for (std::int32_t p : parts)
      if (p == group) return true;
    return false;
  }
  static constexpr int nothing = -1, no_group = -2;
  /// The group outside through which a value of the groups would reach them again; `nothing` if
  /// none does, `no_group` if it is a node by itself.
  constexpr int comes_back(const list<std::int32_t>& parts, int first, int last) const {
    const auto inside = [&](int id) { return group_[id] >= 0 && contains(parts, group_[id]); };
    list<char> node, group;  // reached from the groups
    node.resize(last - first + 1, 0);
    group.resize(groups_.size(), 0);
    const auto reached = [&](int id) {
      if (id < first || id > last) return false;
      return node[id - first] != 0 || (group_[id] >= 0 && group[group_[id]] != 0);
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (int id = first; id <= last; ++id) {
        if (node[id - first] != 0 || is_look(g_.kind(id))) continue;
        const bool in = inside(id);
        bool hit = !in && reached(id);
        for (int k = 0; k < g_.nodes[id].inputs && !hit; ++k) {
          const int from = looked_at(g_, g_.input(id, k));
          hit = reached(from) || (!in && inside(from));
          if (hit && in) return group_[from] >= 0 ? group_[from] : no_group;
        }
        for (int body : {g_.nodes[id].body0, g_.nodes[id].body1})
          if (body >= 0 && !hit) hit = region_reached(body, first, node, inside);
        if (!hit) continue;
        node[id - first] = 1;
        if (group_[id] >= 0) group[group_[id]] = 1;
        changed = true;
      }
    }
    return nothing;
  }
  /// Whether a region's node was reached, or it hands out a value of the groups.
  template <class Inside>
  constexpr bool region_reached(int body, int first, const list<char>& node,
                                const Inside& inside) const {
    const region& r = g_.regions[body];
    for (int id = r.first < first ? first : r.first; id < r.last; ++id)
      if (node[id - first] != 0) return true;
    for (int k = 0; k < r.results; ++k) {
      const int id = looked_at(g_, g_.result(k, body));
      if (inside(id) || (id >= first && id - first < node.size() && node[id - first] != 0))
        return true;
    }
    return false;
  }

  graph_view g_;
  list<std::int32_t>& group_;
  list<fusion_group>& groups_;
};

}  // namespace calque::detail
