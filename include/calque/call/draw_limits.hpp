// Refuses a call whose numbers cannot be what a draw needs: before anything runs, since a plan does
// not depend on numbers.
//
// Looks at what every call computes of its scalar arguments as they are. What branches and loops
// draw, or what is computed first, becomes NaN there instead (ops/limits.hpp). Called by `traced`
// and `eager`.
#pragma once

#include <string>

#include "calque/array/format.hpp"
#include "calque/ops/limits.hpp"
#include "calque/plan/request.hpp"
#include "calque/plan/text.hpp"

namespace calque::detail {

constexpr bool is_limit(const op_info& o) {
  return o.key == op_info_of<op::probability>.key || o.key == op_info_of<op::deviation>.key ||
         o.key == op_info_of<op::upper_bound>.key;
}
/// Whether calls of a graph have something to look at.
constexpr bool has_limits(const graph_view& g) {
  for (int id = 0; id < g.node_count; ++id)
    if (is_limit(*g.nodes[id].op) && g.nodes[id].region == 0) return true;
  return false;
}

/// A number that a call knows before it runs.
struct known_number {
  bool known = false;
  double value = 0;
  std::string text;
};
[[nodiscard]] inline known_number find_number(const graph_view& g, int id, const leaf* leaves) {
  while (g.kind(id) == op_kind::map && g.nodes[id].op->form == map_form::cast) id = g.input(id, 0);
  const node& n = g.nodes[id];
  const auto number = [](auto v) {
    return known_number{true, static_cast<double>(v), format_scalar(v)};
  };
  if (n.op->kind == op_kind::scalar)
    return visit_dtype<known_number>(
        n.type, [&]<class T>(T) { return number(*static_cast<const T*>(leaves[n.index].data)); });
  if (n.op->kind != op_kind::constant) return {};
  return visit_dtype<known_number>(n.type,
                                   [&]<class T>(T) { return number(constant_as<T>(n.value)); });
}

/// Throws `value_error` for node `id` if the call's numbers are none that it lets through.
inline void check_limit(const graph_view& g, int id, const leaf* leaves) {
  const node& n = g.nodes[id];
  if (!is_limit(*n.op)) return;
  const known_number a = find_number(g, g.input(id, 0), leaves);
  if (!a.known) return;
  const auto refuse = [&](const std::string& what, const char* remedy) {
    throw value_error(std::string(n.function ? n.function : n.op->name) + ": " + what +
                      planning::where_text(g, n) + "; " + remedy);
  };
  if (n.op->key == op_info_of<op::probability>.key) {
    if (!is_probability(a.value))
      refuse("p is " + a.text, "give a probability, a number from 0 to 1");
  } else if (n.op->key == op_info_of<op::deviation>.key) {
    if (!is_deviation(a.value))
      refuse("deviation is " + a.text, "give a deviation that is 0 or more");
  } else if (const known_number b = find_number(g, g.input(id, 1), leaves); b.known) {
    const bool fits = n.type == dtype::float32
                          ? are_bounds(saturate_cast<float>(a.value), saturate_cast<float>(b.value))
                          : are_bounds(a.value, b.value);
    if (!fits)
      refuse("lo is " + a.text + ", hi is " + b.text,
             "give finite bounds, the lower one first, whose distance the type can hold");
  }
}
/// The same for all nodes that every call of the graph computes.
inline void check_limits(const graph_view& g, const leaf* leaves) {
  for (int id = 0; id < g.node_count; ++id)
    if (g.nodes[id].region == 0) check_limit(g, id, leaves);
}

}  // namespace calque::detail
