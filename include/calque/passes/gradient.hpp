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

/// Whether a scalar is made of extents and constants alone: `dim_of_node` gives it as an extent.
constexpr bool is_extent(const graph_view& g, int id) {
  const node& n = g.nodes[id];
  if (n.op->kind == op_kind::extent || n.op->kind == op_kind::constant) return true;
  bool known = false;
  for (const op_info* o : {&op_info_of<op::cast>, &op_info_of<op::add>, &op_info_of<op::sub>,
                           &op_info_of<op::mul>, &op_info_of<op::div>})
    known = known || n.op->key == o->key;
  if (!known) return false;
  for (int k = 0; k < n.inputs; ++k)
    if (!is_extent(g, g.input(id, k))) return false;
  return true;
}

/// Marks what the nodes of `marks` reach, among the nodes before `last`, or what they are reached
/// from.
constexpr void spread(const graph_view& g, list<char>& marks, int last, bool forward) {
  for (int i = 0; i < last; ++i) {
    const int id = forward ? i : last - 1 - i;
    const node& n = g.nodes[id];
    const auto meet = [&](int in) {
      if (forward ? marks[in] : marks[id]) marks[forward ? id : in] = 1;
    };
    for (int k = 0; k < n.inputs; ++k) meet(g.input(id, k));
    for (int body : {n.body0, n.body1})
      for (int k = 0; body >= 0 && k < g.regions[body].results; ++k) meet(g.result(k, body));
  }
}

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
    r.out.where = {n.line, n.file, n.function};
    first_of[id] = derivatives.size();
    for (int d : detail::derivatives_of(r.out, y, wrt)) derivatives.push(d);
    r.to[id] = derivatives.empty() ? y : derivatives[first_of[id]];
  });
  return r.finish();
}

}  // namespace detail

/// Whether a derivative passes through a loop whose number of steps is known at run time only: its
/// states could not be recorded.
[[nodiscard]] constexpr bool needs_run_time_steps(const graph_view& g) {
  for (int id = 0; id < g.node_count; ++id) {
    if (g.kind(id) != op_kind::gradient) continue;
    detail::list<char> reached, used;
    reached.resize(id, 0);
    used.resize(id, 0);
    for (int k = 1; k < g.nodes[id].inputs; ++k) reached[g.input(id, k)] = 1;
    used[g.input(id, 0)] = 1;
    detail::spread(g, reached, id, true);
    detail::spread(g, used, id, false);
    for (int i = 0; i < id; ++i)
      if (g.kind(i) == op_kind::loop && reached[i] && used[i] &&
          !detail::is_extent(g, g.input(i, 0)))
        return true;
  }
  return false;
}

/// The graph with every `gradient` node replaced by the derivatives of its first input with respect
/// to its others. A derivative that nothing reaches is zero.
[[nodiscard]] constexpr graph gradient(const graph_view& g) {
  detail::explicit_variables_pass variables(g);
  if (!variables.has_work()) return detail::expand_gradients(g);
  const graph explicit_graph = variables.run();
  return detail::expand_gradients(explicit_graph.view());
}

}  // namespace calque
