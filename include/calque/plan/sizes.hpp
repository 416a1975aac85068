// Extents of every node for the real sizes of a call.
//
// Dims are evaluated once; what does not fit is found by check.hpp at the node that causes it, so a
// dim without a value only carries the reason. Used by everything in plan/.
#pragma once

#include <vector>

#include "calque/core/error.hpp"
#include "calque/core/range.hpp"
#include "calque/plan/numbers.hpp"
#include "calque/plan/request.hpp"
#include "calque/plan/strides.hpp"
#include "calque/plan/text.hpp"

namespace calque::detail::planning {

/// A graph with the extents of one call.
class sized_graph {
 public:
  graph_view g;

  sized_graph(const graph_view& graph, const leaf* leaves, int leaf_count) : g(graph) {
    evaluate_dims(leaves, leaf_count);
    extents_.resize(static_cast<std::size_t>(g.node_count) * max_rank);
    for (int id = 0; id < g.node_count; ++id) {
      const node& n = g.nodes[id];
      for (int i = 0; i < n.rank; ++i)
        extents_[static_cast<std::size_t>(id * max_rank + i)] = dim_value(n.dims[i]);
    }
    find_numbers();
    find_dead_regions();
  }

  /// -1 where the extent has no value.
  [[nodiscard]] const std::int64_t* extents(int id) const {
    return extents_.data() + static_cast<std::size_t>(id) * max_rank;
  }
  [[nodiscard]] int rank(int id) const { return g.nodes[id].rank; }
  [[nodiscard]] std::int64_t elements(int id) const { return element_count(rank(id), extents(id)); }
  [[nodiscard]] std::int64_t byte_count(int id) const {
    return elements(id) * size_of(g.nodes[id].type);
  }
  [[nodiscard]] std::int64_t dim_value(int d) const {
    return d < 0 || dims_[static_cast<std::size_t>(d)] < 0 ? -1
                                                           : dims_[static_cast<std::size_t>(d)];
  }
  /// What entry `r` of the extents' table keeps of an axis of `extent`.
  [[nodiscard]] resolved_range range_of(int r, std::int64_t extent) const {
    const dim& e = g.dims[r];
    return resolve(
        {dims_[static_cast<std::size_t>(e.a)], dims_[static_cast<std::size_t>(e.b)], e.value},
        extent < 0 ? 0 : extent);
  }
  /// The step of windows along the last axis but one (`axis` 0) or the last one (1).
  [[nodiscard]] std::int64_t window_step(int id, int axis) const {
    return dim_value(g.dims[g.nodes[id].index + axis].b);
  }
  [[nodiscard]] bool same(int a, int b) const {
    if (rank(a) != rank(b)) return false;
    for (int i = 0; i < rank(a); ++i)
      if (extents(a)[i] != extents(b)[i]) return false;
    return true;
  }
  [[nodiscard]] std::string text(int id) const {
    return value_text(g.nodes[id].type, extents(id), rank(id));
  }

  /// The value of a rank-0 integer that sizes and literals alone decide.
  [[nodiscard]] bool known(int id, std::int64_t* value) const {
    if (is_floating(g.nodes[id].type) || known_[static_cast<std::size_t>(id)] == 0) return false;
    *value = numbers_[static_cast<std::size_t>(id)].i;
    return true;
  }
  /// Whether sizes and literals decide a rank-0 node's value, and the operation that gives it.
  [[nodiscard]] bool is_number(int id) const { return known_[static_cast<std::size_t>(id)] != 0; }
  [[nodiscard]] const constant& number(int id) const {
    return numbers_[static_cast<std::size_t>(id)];
  }

  /// Whether no call of these sizes runs a region: an extent decides the other branch, or no step.
  /// Nothing in it needs to fit.
  [[nodiscard]] bool is_dead(int region) const { return dead_[static_cast<std::size_t>(region)]; }

  /// The axes that a `sum_to` really sums.
  [[nodiscard]] unsigned summed_axes(int id) const {
    const int in = g.input(id, 0), lead = rank(in) - rank(id);
    unsigned mask = 0;
    for (int i = 0; i < rank(in); ++i)
      if (i < lead ? extents(in)[i] != 1 : extents(id)[i - lead] != extents(in)[i]) mask |= 1u << i;
    return mask;
  }

 private:
  void find_dead_regions() {
    dead_.assign(static_cast<std::size_t>(g.region_count), 0);
    for (int r = 1; r < g.region_count; ++r) {
      const int owner = g.regions[r].owner;
      std::int64_t v = 0;
      bool dead = dead_[static_cast<std::size_t>(g.regions[r].parent)];
      if (!dead && owner >= 0 && known(g.input(owner, 0), &v))
        dead = g.kind(owner) == op_kind::loop ? v <= 0 : (v != 0) != (g.nodes[owner].body0 == r);
      dead_[static_cast<std::size_t>(r)] = dead;
    }
  }
  void find_numbers() {
    known_.assign(static_cast<std::size_t>(g.node_count), 0);
    numbers_.assign(static_cast<std::size_t>(g.node_count), {});
    for (int id = 0; id < g.node_count; ++id)
      if (g.nodes[id].rank == 0)
        known_[static_cast<std::size_t>(id)] =
            find_number(id, &numbers_[static_cast<std::size_t>(id)]);
  }
  [[nodiscard]] bool find_number(int id, constant* out) const {
    const node& n = g.nodes[id];
    switch (n.op->kind) {
      case op_kind::constant: *out = n.value; return true;
      case op_kind::extent: *out = {0, dim_value(n.index)}; return true;
      case op_kind::marker: *out = number(g.input(id, 0)); return is_number(g.input(id, 0));
      case op_kind::map: {
        if (n.inputs > 3) return false;
        constant in[3];
        for (int k = 0; k < n.inputs; ++k) {
          if (!is_number(g.input(id, k))) return false;
          in[k] = number(g.input(id, k));
        }
        const int typed = n.op->form == map_form::select ? 1 : 0;
        return evaluate_numbers(n.op->key, g.input_node(id, typed).type, n.type, in, out);
      }
      default: return false;
    }
  }

  void evaluate_dims(const leaf* leaves, int leaf_count) {
    dims_.assign(static_cast<std::size_t>(g.dim_count), unknown);
    for (int d = 0; d < g.dim_count; ++d) evaluate_dim(d, leaves, leaf_count);
  }
  std::int64_t evaluate_dim(int d, const leaf* leaves, int leaf_count) {
    std::int64_t& out = dims_[static_cast<std::size_t>(d)];
    if (out != unknown) return out;
    out = invalid;  // a cycle is no extent
    const dim& e = g.dims[d];
    std::int64_t v = invalid;
    switch (e.kind) {
      case dim_kind::literal: v = e.value; break;
      case dim_kind::argument:
        if (e.a >= 0 && e.a < leaf_count && e.b < leaves[e.a].rank) v = leaves[e.a].extents[e.b];
        break;
      default: {
        const std::int64_t a = evaluate_dim(e.a, leaves, leaf_count);
        const std::int64_t b = evaluate_dim(e.b, leaves, leaf_count);
        if (a == invalid || b == invalid) break;
        if (e.kind == dim_kind::range) {
          v = 0;
          break;
        }
        if (e.kind == dim_kind::count) {
          evaluate_dim(g.dims[e.b].a, leaves, leaf_count);
          evaluate_dim(g.dims[e.b].b, leaves, leaf_count);
          if (a >= 0) v = range_of(e.b, a).count;
          break;
        }
        bool overflow = false;
        if (e.kind == dim_kind::broadcast) v = a == b || b == 1 ? a : a == 1 ? b : invalid;
        else if (e.kind == dim_kind::add) overflow = __builtin_add_overflow(a, b, &v);
        else if (e.kind == dim_kind::sub) overflow = __builtin_sub_overflow(a, b, &v);
        else if (e.kind == dim_kind::mul) overflow = __builtin_mul_overflow(a, b, &v);
        else if (e.kind == dim_kind::maximum) v = a > b ? a : b;
        else if (b == -1) overflow = __builtin_sub_overflow(std::int64_t{0}, a, &v);
        else v = b == 0 ? 0 : a / b;
        if (overflow) v = invalid;
      }
    }
    return out = v;
  }

  // Intermediate results may be negative; only a node's own extents may not.
  static constexpr std::int64_t unknown = INT64_MIN, invalid = INT64_MIN + 1;
  std::vector<std::int64_t> dims_;
  std::vector<std::int64_t> extents_;
  std::vector<char> known_;        // by node: its value is in `numbers_`
  std::vector<constant> numbers_;  // by node
  std::vector<char> dead_;         // by region
};

}  // namespace calque::detail::planning
