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
#include "calque/plan/text.hpp"

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
  std::vector<std::int32_t> named;  // where the names of devices stand that nodes ask for

  explicit graph_facts(const graph_view& g) : leaves(g.argument_count), results(g.result_count()) {
    std::vector<char> seen(static_cast<std::size_t>(leaves));
    for (int id = 0; id < g.node_count; ++id)
      if (g.kind(id) == op_kind::assign)
        seen[static_cast<std::size_t>(g.nodes[g.input(id, 0)].index)] = 1;
    for (int i = 0; i < leaves; ++i)
      if (seen[static_cast<std::size_t>(i)]) written.push_back(i);
    for (int id = 0; id < g.node_count; ++id)
      if (const std::int32_t d = g.nodes[id].device; d >= 0 && number_of(d) < 0) named.push_back(d);
  }
  /// The number among `named` of the device whose name stands at `offset`, or -1.
  [[nodiscard]] int number_of(std::int32_t offset) const {
    for (std::size_t i = 0; i < named.size(); ++i)
      if (named[i] == offset) return static_cast<int>(i);
    return -1;
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

[[nodiscard]] inline strided_block block_of(const leaf& l) {
  return {l.data, size_of(l.type), l.rank, l.extents, l.strides};
}
[[nodiscard]] inline strided_block block_of(const graph_view& g, int result, const output& o) {
  const node& n = g.nodes[g.result(result)];
  return {o.data, size_of(n.type), n.rank, o.extents, o.strides};
}

[[nodiscard]] inline bool same_layout(int rank, const std::int64_t* extents, const std::int64_t* a,
                                      const std::int64_t* b) {
  std::int64_t dense[max_rank];
  if (a == nullptr && b == nullptr) return true;
  if (a == nullptr || b == nullptr) row_major(rank, extents, dense);
  return same_strides(rank, extents, a ? a : dense, b ? b : dense);
}

/// How a leaf overlaps a block of type `type`, where their reaches meet.
[[nodiscard]] CALQUE_HIDDEN [[gnu::noinline]] inline overlap overlap_of(const leaf& a,
                                                                        const strided_block& b,
                                                                        dtype type) {
  const strided_block of_leaf = block_of(a);
  if (!may_meet(of_leaf, reach_of(of_leaf), b, reach_of(b))) return overlap::none;
  if (a.data != b.data || a.type != type || a.rank != b.rank) return overlap::partial;
  for (int i = 0; i < a.rank; ++i)
    if (a.extents[i] != b.extents[i]) return overlap::partial;
  return same_layout(a.rank, a.extents, a.strides, b.strides) ? overlap::exact : overlap::partial;
}
/// Calls `f(leaf's number, class)` for the leaves that overlap a block.
template <class F>
CALQUE_INLINE void for_each_leaf_over(const call_request& r, const strided_block& b, dtype type,
                                      F&& f) {
  const reach reached = reach_of(b);
  for (int i = 0; i < r.leaf_count; ++i) {
    const leaf& l = r.leaves[i];
    if (!has_memory(l) || !reach_of(block_of(l)).meets(reached)) continue;
    const overlap c = overlap_of(l, b, type);
    if (c != overlap::none) f(i, c);
  }
}

/// Calls `f(first, second, class)` for each pair that overlaps: first an output (counted from
/// `leaf_count`) or an assigned variable, second a leaf or a later output.
template <class F>
void for_each_overlap(const graph_view& g, const graph_facts& facts, const call_request& r, F&& f) {
  for (int k = 0; r.outputs != nullptr && k < r.output_count; ++k) {
    const strided_block b = block_of(g, k, r.outputs[k]);
    for_each_leaf_over(r, b, g.nodes[g.result(k)].type,
                       [&](int i, overlap c) { f(r.leaf_count + k, i, c); });
    for (int j = k + 1; j < r.output_count; ++j) {
      const strided_block other = block_of(g, j, r.outputs[j]);
      if (may_meet(b, reach_of(b), other, reach_of(other)))
        f(r.leaf_count + k, r.leaf_count + j, overlap::partial);
    }
  }
  for (int w : facts.written)
    for_each_leaf_over(r, block_of(r.leaves[w]), r.leaves[w].type, [&](int i, overlap c) {
      if (i != w) f(w, i, c);
    });
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
    for_each_overlap(g, facts, r, [&](int a, int b, overlap c) {
      if (b >= leaves_)
        throw alias_error("into: results " + result_text(g, r, a - leaves_) + " and " +
                          result_text(g, r, b - leaves_) +
                          " would be written to overlapping memory; give each its own array");
      if (a >= leaves_ && facts.writes(b))
        throw alias_error("into: result " + result_text(g, r, a - leaves_) +
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
  /// "0 (f32[3,4])"
  static std::string result_text(const graph_view& g, const call_request& r, int k) {
    const node& n = g.nodes[g.result(k)];
    return std::to_string(k) + " (" + value_text(n.type, r.outputs[k].extents, n.rank) + ")";
  }
  static std::string variable_text(const call_request& r, int i) {
    const char* name = r.leaves[i].name;
    return name != nullptr && *name != '\0'
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
  overlap& at(int a, int b) { return classes_[static_cast<std::size_t>(a * all_ + b)]; }

  int leaves_, all_;
  std::vector<overlap> classes_;
};

}  // namespace calque::detail::planning
