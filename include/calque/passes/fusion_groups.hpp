// Groups of nodes while clusters are formed, and whether some of them may become one.
//
// `fuse` makes groups around reductions and elementwise results; merge_rows.hpp and merge_maps.hpp
// join them. What all have to avoid is a value that leaves a kernel and comes back into it.
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

/// The groups of a graph, and by node the group that it is in, or -1.
class group_joiner {
 public:
  constexpr group_joiner(const graph_view& g, list<std::int32_t>& group, list<fusion_group>& groups)
      : g_(g), group_(group), groups_(groups) {}

 protected:
  static constexpr int nothing = -1, no_group = -2;

  /// What the groups `parts` are together; `first` is the one that stays.
  constexpr fusion_group together(const list<std::int32_t>& parts) const {
    fusion_group sum = groups_[parts[0]];
    for (std::int32_t p : parts) {
      const fusion_group& a = groups_[p];
      if (a.first < sum.first) sum.first = a.first;
      if (a.last > sum.last) sum.last = a.last;
      if (p == parts[0]) continue;
      if (a.root >= 0 && a.root < sum.root) sum.root = a.root;
      sum.nodes += a.nodes;
      sum.inputs += a.inputs;
      sum.outputs += a.outputs;
    }
    return sum;
  }
  constexpr void join(const list<std::int32_t>& parts, const fusion_group& sum) {
    for (int id = sum.first; id <= sum.last; ++id)
      if (contains(parts, group_[id])) group_[id] = parts[0];
    for (std::int32_t p : parts) groups_[p].dead = p != parts[0];
    groups_[parts[0]] = sum;
  }
  static constexpr bool contains(const list<std::int32_t>& parts, int group) {
    for (std::int32_t p : parts)
      if (p == group) return true;
    return false;
  }
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
