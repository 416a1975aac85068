// The rules of the graph format for operations on parts of values: slice, insert, concatenate,
// take, scatter_add. Separate from verify.hpp, which calls them, for its length.
#pragma once

#include "calque/graph/graph.hpp"

namespace calque::detail {

/// Each member gives the rule that node `id` breaks, or null.
struct part_rules {
  const graph_view& g;

  static constexpr bool alike(const node& a, const node& b) {
    return a.type == b.type && a.rank == b.rank;
  }
  constexpr const char* ranges(int id) const {
    const node& n = g.nodes[id];
    bool fit = n.inputs == (n.op->kind == op_kind::slice ? 1 : 2) && n.index >= 0 &&
               n.index + n.rank <= g.dim_count;
    for (int k = 0; k < n.inputs; ++k) fit = fit && alike(g.input_node(id, k), n);
    for (int i = 0; fit && i < n.rank; ++i) fit = g.dims[n.index + i].kind == dim_kind::range;
    return fit ? nullptr : "slice and insert keep type and rank, and have a range for each axis";
  }
  constexpr const char* windows(int id) const {
    const node& n = g.nodes[id];
    const bool views = n.op->kind == op_kind::windows;
    if (n.inputs != 2 && !(views && n.inputs == 1)) return "windows are of a value";
    const node &whole = views ? g.input_node(id, 0) : n, &part = views ? n : g.input_node(id, 1);
    bool fit = whole.rank >= 2 && part.rank == whole.rank + 2 && part.type == whole.type &&
               (views || alike(g.input_node(id, 0), n)) && n.index >= 0 &&
               n.index + 2 <= g.dim_count;
    for (int i = 0; fit && i < 2; ++i) fit = g.dims[n.index + i].kind == dim_kind::range;
    return fit ? nullptr : "windows keep the type and add two axes, which have entries";
  }
  constexpr const char* concatenation(int id) const {
    const node& n = g.nodes[id];
    bool fit = n.inputs >= 1 && n.index >= 0 && n.index < n.rank;
    for (int k = 0; k < n.inputs; ++k) fit = fit && alike(g.input_node(id, k), n);
    return fit ? nullptr : "values put together have one type and rank, and an axis for it";
  }
  constexpr const char* indexing(int id) const {
    const node& n = g.nodes[id];
    const bool takes = n.op->kind == op_kind::take;
    if (n.inputs != (takes ? 2 : 3)) return "indexing has a value and indices, adding updates too";
    const node &x = g.input_node(id, 0), &at = g.input_node(id, 1);
    if (at.type != dtype::int32 && at.type != dtype::int64) return "indices are int32 or int64";
    if (n.index < 0 || n.index >= x.rank) return "indices are along an axis";
    const node& part = takes ? n : g.input_node(id, 2);
    return part.type == x.type && part.rank == x.rank - 1 + at.rank && (takes || alike(n, x))
               ? nullptr
               : "indexing keeps the type, and has the indices' axes in place of one";
  }
};

}  // namespace calque::detail
