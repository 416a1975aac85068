// What every fused graph must satisfy, whatever was fused: checked on random graphs and functions.
#pragma once

#include <string>
#include <vector>

#include "calque/graph/cluster.hpp"
#include "calque/passes/fuse.hpp"

namespace calque::test {

class cluster_rules {
 public:
  explicit cluster_rules(const graph_view& g) : g_(g) {}

  /// The first rule that does not hold; empty if all do.
  std::string broken() {
    std::vector<int> seen(static_cast<std::size_t>(g_.node_count), -1);
    for (int c = 0; c < g_.cluster_count; ++c) {
      const cluster& k = g_.clusters[c];
      const std::string in = " (cluster " + std::to_string(c) + ")";
      if (k.nodes < 1 || k.nodes > calque::detail::max_cluster_nodes)
        return "has a bounded number of nodes" + in;
      const cluster_inputs inputs = inputs_of(g_, k);
      if (inputs.body.size() + inputs.tail.size() + k.outputs + 1 > max_operands)
        return "has a bounded number of operands" + in;
      if (k.outputs < 1) return "has an output" + in;
      if ((k.kind != cluster_kind::map) != (k.root >= 0)) return "has a root if it reduces" + in;
      if (k.kind == cluster_kind::rows && !calque::detail::row_set(g_, k).is_valid())
        return "works on rows" + in;
      for (int i = 0; i < k.nodes; ++i) {
        const int id = g_.pool[k.first + i];
        if (i > 0 && id <= g_.pool[k.first + i - 1]) return "lists nodes in order" + in;
        if (seen[static_cast<std::size_t>(id)] >= 0) return "shares no node" + in;
        seen[static_cast<std::size_t>(id)] = c;
        if (g_.cluster_of[id] != c) return "is what its nodes say" + in;
        if (g_.nodes[id].region != g_.nodes[g_.pool[k.first]].region)
          return "stays in one region" + in;
        const op_kind o = g_.kind(id);
        if (id == k.root ? (k.kind == cluster_kind::product
                                ? o != op_kind::matmul
                                : o != op_kind::reduce && o != op_kind::sum_to &&
                                      o != op_kind::ordered_reduce && o != op_kind::along_axis)
                         : (o != op_kind::map && o != op_kind::sum_to &&
                            (k.kind != cluster_kind::rows || o != op_kind::reduce)))
          return "computes elementwise but for its root" + in;
        if (is_read_outside(id, c) != is_output(k, id) && !(k.outputs == 1 && !is_read(id)))
          return "has as outputs what others read: node " + std::to_string(id) + in;
        if (k.kind == cluster_kind::reduce && id < k.root && is_read_outside(id, c))
          return "keeps a reduction's body inside" + in;
      }
      if (const std::string w = wrong_extents(k); !w.empty()) return w + in;
    }
    return cyclic() ? "clusters wait for each other" : "";
  }

 private:
  bool is_read(int id) const { return is_read_outside(id, -1); }
  /// Looks that nobody reads count as no reading, and those that a rows cluster reads are its own.
  bool is_read_outside(int id, int c) const {
    const bool rows = c >= 0 && g_.clusters[c].kind == cluster_kind::rows;
    for (int i = 0; i < g_.node_count; ++i) {
      if (calque::detail::is_look(g_.kind(i))) continue;
      for (int k = 0; k < g_.nodes[i].inputs; ++k) {
        const int in = g_.input(i, k);
        if (calque::detail::looked_at(g_, in) != id) continue;
        if (c < 0 || g_.cluster_of[i] != c || (in != id && !rows)) return true;
      }
    }
    for (int r = 0; r < g_.region_count; ++r)
      for (int k = 0; k < g_.regions[r].results; ++k)
        if (calque::detail::looked_at(g_, g_.result(k, r)) == id) return true;
    return false;
  }
  bool is_output(const cluster& k, int id) const {
    for (int i = 0; i < k.outputs; ++i)
      if (g_.pool[k.first_output + i] == id) return true;
    return false;
  }
  bool assumed(const cluster& k, int a, int b) const {
    if (g_.same_dim(a, b)) return true;
    for (int i = 0; i < k.assumptions; ++i) {
      const int x = g_.pool[k.first_assumption + 2 * i],
                y = g_.pool[k.first_assumption + 2 * i + 1];
      if ((g_.same_dim(a, x) && g_.same_dim(b, y)) || (g_.same_dim(a, y) && g_.same_dim(b, x)))
        return true;
    }
    return false;
  }
  std::string wrong_extents(const cluster& k) const {
    if (k.kind == cluster_kind::rows) return wrong_rows(k);
    const node& domain = g_.nodes[k.kind == cluster_kind::reduce ? k.root : k.domain];
    for (int a = 0; k.kind == cluster_kind::product && a < 2; ++a)
      if (!assumed(k, g_.nodes[k.root].dims[a], domain.dims[a]))
        return "proves or assumes its product's extents";
    for (int i = 0; i < k.outputs; ++i) {
      const node& n = g_.nodes[g_.pool[k.first_output + i]];
      if (n.rank != domain.rank) return "gives outputs of one rank";
      for (int a = 0; a < n.rank; ++a)
        if (!assumed(k, n.dims[a], domain.dims[a])) return "proves or assumes its outputs' extents";
    }
    return {};
  }

  std::string wrong_rows(const cluster& k) const {
    using calque::detail::row_form;
    const calque::detail::row_set rows(g_, k);
    const node& domain = g_.nodes[k.domain];
    for (std::int32_t id : rows.ids)
      if (rows.reduces(id))
        for (int a = 0; a < domain.rank; ++a)
          if (!assumed(k, g_.input_node(id, 0).dims[a], domain.dims[a]))
            return "proves or assumes the extents of what it reduces";
    for (int i = 0; i < k.outputs; ++i) {
      const int id = g_.pool[k.first_output + i];
      if (rows.reduces(id) && g_.kind(id) == op_kind::reduce) continue;
      for (int a = 0; a < g_.nodes[id].rank; ++a) {
        const int axis = rows.form(id) == row_form::narrow ? rows.axes.kept_axis(a) : a;
        if (rows.form(id) == row_form::wide && rows.axes.reduced(a)) continue;
        if (!assumed(k, g_.nodes[id].dims[a], domain.dims[axis]))
          return "proves or assumes its outputs' extents";
      }
    }
    return {};
  }

  // Units in the order of their last node; an edge that goes back closes a cycle.
  bool cyclic() const {
    const auto unit = [&](int id) {
      return g_.cluster_of[id] >= 0 ? g_.node_count + g_.cluster_of[id] : id;
    };
    const auto count = static_cast<std::size_t>(g_.node_count + g_.cluster_count);
    std::vector<std::vector<int>> from(count);
    const auto inside = [&](int i, int in) {  // a rows cluster's look at itself
      const int c = g_.cluster_of[i];
      return c >= 0 && g_.clusters[c].kind == cluster_kind::rows &&
             g_.cluster_of[calque::detail::looked_at(g_, in)] == c;
    };
    for (int i = 0; i < g_.node_count; ++i) {
      for (int k = 0; k < g_.nodes[i].inputs; ++k)
        if (unit(g_.input(i, k)) != unit(i) && !inside(i, g_.input(i, k)))
          from[static_cast<std::size_t>(unit(i))].push_back(unit(g_.input(i, k)));
      // an owner waits for what its regions read, and its regions' nodes run with it
      for (int body : {g_.nodes[i].body0, g_.nodes[i].body1})
        for (int j = body < 0 ? 0 : g_.regions[body].first; body >= 0 && j < g_.regions[body].last;
             ++j)
          for (int k = 0; k < g_.nodes[j].inputs; ++k)
            if (g_.input(j, k) < g_.regions[body].first)
              from[static_cast<std::size_t>(i)].push_back(unit(g_.input(j, k)));
    }
    std::vector<char> state(count, 0);
    std::vector<std::pair<int, std::size_t>> stack;
    for (std::size_t s = 0; s < count; ++s) {
      if (state[s] != 0) continue;
      stack.push_back({static_cast<int>(s), 0});
      state[s] = 1;
      while (!stack.empty()) {
        auto& [u, next] = stack.back();
        const auto& edges = from[static_cast<std::size_t>(u)];
        if (next == edges.size()) {
          state[static_cast<std::size_t>(u)] = 2;
          stack.pop_back();
          continue;
        }
        const int v = edges[next++];
        if (state[static_cast<std::size_t>(v)] == 1) return true;
        if (state[static_cast<std::size_t>(v)] == 0)
          state[static_cast<std::size_t>(v)] = 1, stack.push_back({v, 0});
      }
    }
    return false;
  }

  graph_view g_;
};

}  // namespace calque::test
