// How the memory of a call's leaves and destinations overlaps.
//
// Part of the plan's key: a plan made for disjoint memory may write a result while it still reads
// an argument. Only memory that the call may write matters: destinations, and variables that the
// graph assigns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calque/core/error.hpp"
#include "calque/plan/request.hpp"
#include "calque/plan/strides.hpp"

namespace calque::detail::planning {

enum class overlap : std::uint8_t {
  none,
  exact,   // the same elements in the same layout
  partial  // anything else
};

/// What a graph alone says about its calls.
struct graph_facts {
  int leaves = 0, results = 0;
  std::vector<int> written;  // leaf numbers of the variables that some `assign` names, ascending

  explicit graph_facts(const graph_view& g) : leaves(g.argument_count), results(g.result_count()) {
    std::vector<char> seen(static_cast<std::size_t>(leaves));
    for (int id = 0; id < g.node_count; ++id)
      if (g.kind(id) == op_kind::assign)
        seen[static_cast<std::size_t>(g.nodes[g.input(id, 0)].index)] = 1;
    for (int i = 0; i < leaves; ++i)
      if (seen[static_cast<std::size_t>(i)]) written.push_back(i);
  }
  [[nodiscard]] bool writes(int leaf_number) const {
    for (int w : written)
      if (w == leaf_number) return true;
    return false;
  }
};

[[nodiscard]] inline bool has_memory(const leaf& l) {
  return l.kind == argument_kind::array || l.kind == argument_kind::variable;
}

[[nodiscard]] inline reach reach_of(const leaf& l) {
  return planning::reach_of(l.data, size_of(l.type), l.rank, l.extents, l.strides);
}

[[nodiscard]] inline bool same_layout(int rank, const std::int64_t* extents, const std::int64_t* a,
                                      const std::int64_t* b) {
  std::int64_t dense[max_rank];
  if (a == nullptr && b == nullptr) return true;
  if (a == nullptr || b == nullptr) row_major(rank, extents, dense);
  return same_strides(rank, extents, a ? a : dense, b ? b : dense);
}

/// `a` with a block of rank `rank` and type `type`.
[[nodiscard]] inline overlap overlap_of(const leaf& a, const reach& reached, dtype type, int rank,
                                        const void* data, const std::int64_t* extents,
                                        const std::int64_t* strides) {
  if (!has_memory(a) || !reach_of(a).meets(reached)) return overlap::none;
  if (a.data != data || a.type != type || a.rank != rank) return overlap::partial;
  for (int i = 0; i < rank; ++i)
    if (a.extents[i] != extents[i]) return overlap::partial;
  return same_layout(rank, extents, a.strides, strides) ? overlap::exact : overlap::partial;
}

/// Calls `f(first, second, class)` for each pair that overlaps: first an output (counted from
/// `leaf_count`) or an assigned variable, second a leaf.
template <class F>
void for_each_overlap(const graph_view& g, const graph_facts& facts, const call_request& r, F&& f) {
  for (int k = 0; r.outputs != nullptr && k < r.output_count; ++k) {
    const output& o = r.outputs[k];
    const node& n = g.nodes[g.result(k)];
    const reach reached = planning::reach_of(o.data, size_of(n.type), n.rank, o.extents, o.strides);
    for (int i = 0; i < r.leaf_count; ++i) {
      const overlap c =
          overlap_of(r.leaves[i], reached, n.type, n.rank, o.data, o.extents, o.strides);
      if (c != overlap::none) f(r.leaf_count + k, i, c);
    }
  }
  for (int w : facts.written) {
    const leaf& v = r.leaves[w];
    const reach reached = reach_of(v);
    for (int i = 0; i < r.leaf_count; ++i) {
      if (i == w) continue;
      const overlap c =
          overlap_of(r.leaves[i], reached, v.type, v.rank, v.data, v.extents, v.strides);
      if (c != overlap::none) f(w, i, c);
    }
  }
}

/// The overlaps of one call, by number: leaves first, then outputs. Throws `alias_error` for
/// what has no defined meaning.
class overlap_table {
 public:
  overlap_table(const graph_view& g, const graph_facts& facts, const call_request& r)
      : leaves_(r.leaf_count),
        all_(r.leaf_count + g.result_count()),
        classes_(static_cast<std::size_t>(all_) * static_cast<std::size_t>(all_)) {
    refuse_written_twice(facts, r);
    refuse_overlapping_outputs(g, r);
    for_each_overlap(g, facts, r, [&](int a, int b, overlap c) {
      if (a >= leaves_ && facts.writes(b))
        throw alias_error("result " + std::to_string(a - leaves_) +
                          " would be written to memory of " + variable_text(r, b) +
                          ", which this function assigns; give another "
                          "destination");
      at(a, b) = at(b, a) = c;
    });
    for (int i = 0; i < all_; ++i) at(i, i) = overlap::exact;
  }
  [[nodiscard]] overlap of(int a, int b) const {
    return classes_[static_cast<std::size_t>(a * all_ + b)];
  }

 private:
  static std::string variable_text(const call_request& r, int i) {
    const char* name = r.leaves[i].name;
    return name != nullptr
               ? "variable \"" + std::string(name) + "\" (argument " + std::to_string(i) + ")"
               : "the variable of argument " + std::to_string(i);
  }
  static void refuse_written_twice(const graph_facts& facts, const call_request& r) {
    for (int w : facts.written)
      for (int i = 0; i < r.leaf_count; ++i)
        if (i != w && r.leaves[i].kind == argument_kind::variable &&
            r.leaves[i].identity == r.leaves[w].identity)
          throw alias_error(variable_text(r, w) + " and " + variable_text(r, i) +
                            " are one variable, and the function assigns it; pass it once");
  }
  static void refuse_overlapping_outputs(const graph_view& g, const call_request& r) {
    if (r.outputs == nullptr) return;
    const auto reached = [&](int k) {
      const node& n = g.nodes[g.result(k)];
      const output& o = r.outputs[k];
      return planning::reach_of(o.data, size_of(n.type), n.rank, o.extents, o.strides);
    };
    for (int a = 0; a < r.output_count; ++a)
      for (int b = a + 1; b < r.output_count; ++b)
        if (reached(a).meets(reached(b)))
          throw alias_error("results " + std::to_string(a) + " and " + std::to_string(b) +
                            " would be written to overlapping memory; give each its own array");
  }
  overlap& at(int a, int b) { return classes_[static_cast<std::size_t>(a * all_ + b)]; }

  int leaves_, all_;
  std::vector<overlap> classes_;
};

}  // namespace calque::detail::planning
