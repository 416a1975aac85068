// Computes cheap elementwise values again where they are read, instead of storing them.
//
// Looks at the clusters that the graph would get. A value that one of them would hand to others
// alone is duplicated into its readers if the bytes that they then read instead are fewer than
// those of storing it and reading it back. So a gradient's kernel takes x again rather than a
// stored 2 * x.
#pragma once

#include "calque/graph/cluster.hpp"
#include "calque/passes/rewriter.hpp"

namespace calque {
namespace detail {

class recompute_pass {
 public:
  /// `fused` has clusters.
  constexpr explicit recompute_pass(const graph_view& fused) : g_(fused) {
    find_readers();
    for (int id = 0; id < g_.node_count; ++id) choose(id);
  }
  [[nodiscard]] constexpr bool finds_any() const { return !copies_.empty(); }

  constexpr graph run() {
    rewriter r(g_);
    list<std::int32_t> made;  // by entry of `copies_`: its node
    made.resize(copies_.size(), -1);
    r.run([&](int id) {
      const int c = g_.cluster_of[id];
      if (c >= 0 && reads_copy(id, c)) r.to[id] = append(r, g_.nodes[id], c, made);
      else r.copy(id);
    });
    return r.finish();
  }

 private:
  struct copied {
    std::int32_t node, cluster;
  };
  static constexpr int most_cost = 6, most_nodes = 6;

  // Who reads each node; `elsewhere` if something does that is in no cluster.
  constexpr void find_readers() {
    elsewhere_.resize(g_.node_count, 0);
    readers_of_.resize(g_.node_count + 1, 0);
    const auto each = [&](auto&& f) {
      for (int id = 0; id < g_.node_count; ++id)
        for (int k = 0; k < g_.nodes[id].inputs; ++k) f(g_.input(id, k), id);
    };
    each([&](int in, int id) {
      ++readers_of_[in + 1];
      if (g_.cluster_of[id] < 0) elsewhere_[in] = 1;
    });
    for (int id = 0; id < g_.node_count; ++id) readers_of_[id + 1] += readers_of_[id];
    readers_.resize(readers_of_[g_.node_count], -1);
    list<std::int32_t> at = readers_of_;
    each([&](int in, int id) { readers_[at[in]++] = id; });
    for (int r = 0; r < g_.region_count; ++r)
      for (int k = 0; k < g_.regions[r].results; ++k) elsewhere_[g_.result(k, r)] = 1;
  }
  constexpr void choose(int id) {
    const node& n = g_.nodes[id];
    const int home = g_.cluster_of[id];
    if (home < 0 || n.rank == 0 || elsewhere_[id] != 0 || !is_elementwise(id, home)) return;
    list<std::int32_t> readers;
    bool fits = true;
    for (int u = readers_of_[id]; u < readers_of_[id + 1] && fits; ++u) {
      const int i = readers_[u];
      if (g_.cluster_of[i] == home) continue;
      fits = g_.nodes[i].region == n.region && g_.nodes[i].device == n.device;
      add_once(readers, g_.cluster_of[i]);
    }
    if (!fits || readers.empty()) return;
    list<std::int32_t> slice, inputs;
    if (!collect(id, home, slice, inputs)) return;
    std::int64_t again = 0;
    for (std::int32_t c : readers) {
      if (g_.clusters[c].nodes + slice.size() > max_operands / 2) return;
      for (std::int32_t in : inputs)
        if (!reads(c, in) && index_seen(g_, in) < 0) again += bytes_of(g_.nodes[in], n);
    }
    const std::int64_t stored = size_of(n.type) * (1 + readers.size());
    if (again >= stored) return;
    for (std::int32_t c : readers)
      for (std::int32_t s : slice) {
        bool known = false;
        for (const copied& k : copies_) known |= k.node == s && k.cluster == c;
        if (!known) copies_.push({s, c});
      }
  }
  /// A `sum_to` in a rows cluster that sums nothing stands for its input.
  [[nodiscard]] constexpr bool is_elementwise(int id, int home) const {
    if (g_.kind(id) == op_kind::map) return true;
    return g_.kind(id) == op_kind::sum_to && g_.clusters[home].kind == cluster_kind::rows &&
           !row_set(g_, g_.clusters[home]).reduces(id);
  }
  /// Whether `in` has fewer elements than `of`, by its axes or by an extent of 1: a value of rows.
  [[nodiscard]] constexpr bool is_smaller(const node& in, const node& of) const {
    if (in.rank < of.rank) return true;
    for (int a = 0; a < in.rank && in.rank == of.rank; ++a)
      if (g_.is_literal(in.dims[a], 1) && !g_.is_literal(of.dims[a], 1)) return true;
    return false;
  }
  /// Bytes of an element of `in` for each of `of`.
  [[nodiscard]] constexpr std::int64_t bytes_of(const node& in, const node& of) const {
    return is_smaller(in, of) ? 0 : size_of(in.type);
  }
  /// The members of cluster `home` that `id` is computed from, ascending, and what they read
  /// outside; false if that is too much, or no elementwise work.
  constexpr bool collect(int id, int home, list<std::int32_t>& slice,
                         list<std::int32_t>& inputs) const {
    list<std::int32_t> open{id};
    int cost = 0;
    while (!open.empty()) {
      const int at = open.back();
      open.pop();
      bool seen = false;
      for (std::int32_t s : slice) seen |= s == at;
      if (seen) continue;
      const node& n = g_.nodes[at];
      cost += g_.kind(at) == op_kind::map ? n.op->cost : 0;
      if (!is_elementwise(at, home) || n.op->may_throw || cost > most_cost ||
          slice.size() == most_nodes)
        return false;
      int to = slice.push(at);
      for (; to > 0 && slice[to - 1] > at; --to) slice[to] = slice[to - 1];
      slice[to] = at;
      for (int k = 0; k < n.inputs; ++k) {
        const int in = g_.input(at, k);
        if (g_.cluster_of[in] == home && is_counting(g_, in)) open.push(in);
        else if (is_smaller(g_.nodes[in], g_.nodes[id])) add_once(inputs, in);
        else if (g_.cluster_of[in] == home) open.push(in);
        else if (g_.cluster_of[in] >= 0 && g_.kind(in) == op_kind::map && elsewhere_[in] == 0 &&
                 g_.nodes[in].rank > 0)
          return false;  // may be recomputed itself
        else add_once(inputs, in);
      }
    }
    return true;
  }
  [[nodiscard]] constexpr bool reads(int c, int id) const {
    for (int i = 0; i < g_.clusters[c].nodes; ++i) {
      const node& n = g_.nodes[g_.pool[g_.clusters[c].first + i]];
      for (int k = 0; k < n.inputs; ++k)
        if (g_.pool[n.first_input + k] == id) return true;
    }
    return false;
  }
  [[nodiscard]] constexpr int copy_of(int node, int cluster) const {
    for (int k = 0; k < copies_.size(); ++k)
      if (copies_[k].node == node && copies_[k].cluster == cluster) return k;
    return -1;
  }
  [[nodiscard]] constexpr bool reads_copy(int id, int c) const {
    for (int k = 0; k < g_.nodes[id].inputs; ++k)
      if (copy_of(g_.input(id, k), c) >= 0) return true;
    return false;
  }
  /// Appends a node of cluster `c`, on copies where there are some; these come right before it,
  /// when everything that they read is there.
  constexpr int append(rewriter& r, const node& n, int c, list<std::int32_t>& made) const {
    list<std::int32_t> inputs;
    for (int i = 0; i < n.inputs; ++i) {
      const int in = g_.pool[n.first_input + i], k = copy_of(in, c);
      if (k >= 0 && made[k] < 0) {
        node copy = g_.nodes[in];
        copy.name = -1;
        made[k] = append(r, copy, c, made);
      }
      inputs.push(k >= 0 ? made[k] : r.to[in]);
    }
    return r.out.append(n, inputs.begin(), inputs.size());
  }

  graph_view g_;
  list<char> elsewhere_;                     // by node
  list<std::int32_t> readers_of_, readers_;  // of node i: [readers_of_[i], readers_of_[i + 1])
  list<copied> copies_;                      // a cluster's in ascending order of nodes
};

}  // namespace detail

/// Whether some value would better be computed again.
[[nodiscard]] constexpr bool recomputes(const graph_view& fused) {
  return detail::recompute_pass(fused).finds_any();
}
/// The graph with such values duplicated, without clusters.
[[nodiscard]] constexpr graph recompute(const graph_view& fused) {
  return detail::recompute_pass(fused).run();
}

}  // namespace calque
