// Questions that the tests of tracing ask of a graph; all of them work in static_assert.
#pragma once

#include <calque/calque.hpp>

#include <string>
#include <string_view>

namespace graphs {

namespace cq = calque;

/// Number of nodes of operation `op`, in all regions.
constexpr int count(const cq::graph_view& g, std::string_view op) {
  int n = 0;
  for (int id = 0; id < g.node_count; ++id) n += g.nodes[id].op->name == op;
  return n;
}

/// Id of the k-th node of operation `op`; -1 if there is none.
constexpr int find(const cq::graph_view& g, std::string_view op, int k = 0) {
  for (int id = 0; id < g.node_count; ++id)
    if (g.nodes[id].op->name == op && k-- == 0) return id;
  return -1;
}
constexpr const cq::node& node(const cq::graph_view& g, std::string_view op, int k = 0) {
  return g.nodes[find(g, op, k)];
}
constexpr const cq::node& result(const cq::graph_view& g, int k = 0) {
  return g.nodes[g.result(k)];
}

/// Whether axis `i` of `n` has the literal extent `value`.
constexpr bool literal(const cq::graph_view& g, const cq::node& n, int i, std::int64_t value) {
  return g.is_literal(n.dims[i], value);
}
/// Whether axis `i` of `n` has the extent of axis `b` of argument `a`.
constexpr bool same(const cq::graph_view& g, const cq::node& n, int i, int a, int b) {
  const cq::dim& d = g.dims[g.canonical(n.dims[i])];
  return d.kind == cq::dim_kind::argument && d.a == a && d.b == b;
}

/// Names of the operations in order, without the entries of regions: "input mul add".
inline std::string operations(const cq::graph_view& g) {
  std::string s;
  for (int id = 0; id < g.node_count; ++id)
    if (g.kind(id) != cq::op_kind::entry)
      s += (s.empty() ? "" : " ") + std::string(g.nodes[id].op->name);
  return s;
}

/// `f` traced without any pass: one node for each operation that the body does.
template <class F>
constexpr auto plain(F f) {
  return cq::trace<cq::options{.pass_level = 0}>(f);
}

}  // namespace graphs
