// Expands `gradient` nodes into derivatives, inner ones first.
#pragma once

#include "calque/passes/backward.hpp"
#include "calque/passes/explicit_variables.hpp"
#include "calque/passes/rewriter.hpp"

namespace calque {

/// Whether a graph has derivatives to expand.
[[nodiscard]] constexpr bool has_gradients(const graph_view& g) {
  for (int i = 0; i < g.node_count; ++i)
    if (g.kind(i) == op_kind::gradient) return true;
  return false;
}

namespace detail {

/// Appends the derivatives of scalar `y` with respect to `wrt`; zeros where nothing reaches.
constexpr id_list derivatives_of(builder& out, int y, const id_list& wrt) {
  id_list outputs, seeds;
  outputs.push(y);
  seeds.push(out.number(out.at(y).type, 1));
  int first = y;
  for (int w : wrt) first = w < first ? w : first;
  backward back(out);
  id_list d = back.run(first, y + 1, outputs, seeds, wrt);
  for (int k = 0; k < d.size(); ++k)
    if (d[k] < 0) d[k] = back.zeros_like(wrt[k]);
  return d;
}

}  // namespace detail

namespace detail {

constexpr graph expand_gradients(const graph_view& g) {
  rewriter r(g);
  detail::list<std::int32_t> derivatives;  // of the gradient nodes so far; by first_of
  detail::list<std::int32_t> first_of;
  first_of.resize(g.node_count, -1);
  r.run([&](int id) {
    const node& n = g.nodes[id];
    if (n.op->kind == op_kind::result && g.kind(g.input(id, 0)) == op_kind::gradient) {
      r.replace(id, derivatives[first_of[g.input(id, 0)] + n.index]);
      return;
    }
    if (n.op->kind != op_kind::gradient) {
      r.copy(id);
      return;
    }
    const int y = r.input(id, 0);
    detail::id_list wrt;
    for (int k = 1; k < n.inputs; ++k) wrt.push(r.input(id, k));
    r.out.where = {n.line, n.file};
    first_of[id] = derivatives.size();
    for (int d : detail::derivatives_of(r.out, y, wrt)) derivatives.push(d);
    r.to[id] = derivatives.empty() ? y : derivatives[first_of[id]];
  });
  return r.finish();
}

}  // namespace detail

/// The graph with every `gradient` node replaced by the derivatives of its first input with respect
/// to its others. A derivative that nothing reaches is zero.
[[nodiscard]] constexpr graph gradient(const graph_view& g) {
  detail::explicit_variables_pass variables(g);
  if (!variables.has_work()) return detail::expand_gradients(g);
  const graph explicit_graph = variables.run();
  return detail::expand_gradients(explicit_graph.view());
}

}  // namespace calque
