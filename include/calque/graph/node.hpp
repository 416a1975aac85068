// The graph as plain data: nodes, extents, regions, clusters.
//
// One format for both worlds: a `graph` grows (in a constant expression or at run time), a frozen
// graph is a constexpr value of exact size, a `graph_view` reads either. Order is by id: a node's
// inputs come before it, and the nodes of a region come before the node that owns the region.
#pragma once

#include <cstdint>
#include <string_view>

#include "calque/core/config.hpp"
#include "calque/core/dtype.hpp"
#include "calque/graph/constant.hpp"
#include "calque/graph/op_info.hpp"

namespace calque {

/// One operation. Inputs are node ids in the graph's pool at [first_input, first_input + inputs).
struct node {
  const op_info* op = nullptr;
  dtype type = dtype::none;
  std::uint8_t rank = 0;
  bool keepdims = false;          // reductions: reduced axes stay with extent 1; reshape: the
                                  // extents are its input's; insert: the ranges are widths around
                                  // its second input, 0 or more
  bool reverse = false;           // loops and lines along an axis: from the last to the first
  std::uint8_t axis_mask = 0;     // reductions, lines: bit i set if axis i of the input is meant
  std::int8_t perm[max_rank]{};   // transpose: axis i of the result is axis perm[i] of the input
  std::int32_t dims[max_rank]{};  // extents, as ids in the graph's table
  std::int32_t first_input = 0;
  std::int32_t inputs = 0;
  std::int32_t region = 0;  // where the node lives; 0 is the function's body
  std::int32_t body0 = -1;  // cond: then, else; loop: body
  std::int32_t body1 = -1;
  std::int32_t index =
      -1;  // argument, result or region argument number; the axis of an iota,
           // concatenate, take or scatter_add; slice, insert: id of the first
           // axis's range; windows, overlap_add: of the first of two entries (a
           // window's extent, its step); extent's id; loop: how many of its results are carried;
           // marker: number of the variable that it stands for, or -1
  std::int32_t name = -1;    // offset in the graph's characters, zero-terminated
  std::int32_t device = -1;  // where it was asked to run: likewise a name's offset; -1: anywhere
  std::int32_t line = 0;     // where it was written; no part of a node's identity
  const char* file = nullptr;
  const char* function = nullptr;  // composed of this node and others; whose name errors give
  constant value{};                // constants
  bool exclusive = false;          // running reductions: without the element itself
};

/// How an extent is known.
enum class dim_kind : std::uint8_t {
  literal,
  argument,
  broadcast,
  add,
  sub,
  mul,
  div,
  maximum,
  range,  // no extent: the bounds `a` and `b` (literals may be negative or open) and the step
          // `value`
  count   // how many indices range `b` keeps of extent `a`
};

/// A symbolic extent. `broadcast` is NumPy's rule on two extents; arithmetic is on ids `a` and `b`.
struct dim {
  dim_kind kind = dim_kind::literal;
  std::int32_t a = -1;  // argument number, or first operand
  std::int32_t b = -1;  // axis, or second operand
  std::int64_t value = 0;
  std::int32_t same_as = -1;       // proven equal to an earlier extent by an operation's check
  const char* function = nullptr;  // the one that needs that, if it is composed of operations

  friend constexpr bool operator==(const dim& x, const dim& y) {
    return x.kind == y.kind && x.a == y.a && x.b == y.b && x.value == y.value &&
           x.same_as == y.same_as;
  }
};

/// A sub-graph: nodes [first, last), the first being its `entry`, then its arguments.
struct region {
  std::int32_t parent = -1, owner = -1;
  std::int32_t first = 0, last = 0;
  std::int32_t arguments = 0;
  std::int32_t first_result = 0, results = 0;  // in the graph's pool
};

enum class argument_kind : std::uint8_t { array, scalar, variable, extents, device };

/// A leaf of the call's arguments, in order.
struct argument {
  argument_kind kind = argument_kind::array;
  dtype type = dtype::none;
  std::int32_t rank = 0;
  std::int32_t node = -1;
};

/// Nodes that become one kernel.
enum class cluster_kind : std::uint8_t {
  map,     // elementwise, one or several outputs
  reduce,  // elementwise into one reduction, with an elementwise tail on its result
  rows,    // reductions over the same axes of one domain with their elementwise users (rows.hpp)
  product  // a product of two matrices, with an elementwise end on its result
};

struct cluster {
  cluster_kind kind = cluster_kind::map;
  std::int32_t domain = -1;  // node whose extents are the loop's
  std::int32_t root = -1;    // reduce: the reduction's node; rows: the first one;
                             // product: the matmul
  std::int32_t first = 0;    // in the pool: node ids, ascending
  std::int32_t nodes = 0;
  std::int32_t first_output = 0;  // in the pool: node ids that other steps or results read
  std::int32_t outputs = 0;
  std::int32_t first_assumption = 0;  // in the pool: pairs of extents taken as equal
  std::int32_t assumptions = 0;       // number of pairs
};

/// Read access to a graph, wherever its data lives.
struct graph_view {
  const node* nodes = nullptr;
  const std::int32_t* pool = nullptr;
  const dim* dims = nullptr;
  const region* regions = nullptr;
  const argument* arguments = nullptr;
  const cluster* clusters = nullptr;
  const std::int32_t* cluster_of = nullptr;  // by node, -1 if none; null before `fuse`
  bool clustered = false;                    // whether it is set (see op_info::differentiable)
  const char* chars = nullptr;
  int node_count = 0, pool_count = 0, dim_count = 0, region_count = 0, argument_count = 0,
      cluster_count = 0, char_count = 0;

  [[nodiscard]] constexpr const std::int32_t* inputs(const node& n) const {
    return pool + n.first_input;
  }
  [[nodiscard]] constexpr int input(int id, int k) const { return pool[nodes[id].first_input + k]; }
  [[nodiscard]] constexpr const node& input_node(int id, int k) const {
    return nodes[input(id, k)];
  }
  [[nodiscard]] constexpr op_kind kind(int id) const { return nodes[id].op->kind; }
  [[nodiscard]] constexpr int result_count() const { return regions[0].results; }
  [[nodiscard]] constexpr int result(int k, int of_region = 0) const {
    return pool[regions[of_region].first_result + k];
  }
  /// The earliest extent that `d` is proven equal to.
  [[nodiscard]] constexpr int canonical(int d) const {
    while (dims[d].same_as >= 0) d = dims[d].same_as;
    return d;
  }
  [[nodiscard]] constexpr bool same_dim(int a, int b) const {
    return a == b || canonical(a) == canonical(b);
  }
  [[nodiscard]] constexpr bool same_extents(const node& a, const node& b) const {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (!same_dim(a.dims[i], b.dims[i])) return false;
    return true;
  }
  [[nodiscard]] constexpr bool is_literal(int d, std::int64_t value) const {
    const dim& c = dims[canonical(d)];
    return c.kind == dim_kind::literal && c.value == value;
  }
  /// True if the nodes may have the same extents: both are known to be 1 along the same axes.
  [[nodiscard]] constexpr bool same_ones(const node& a, const node& b) const {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (is_literal(a.dims[i], 1) != is_literal(b.dims[i], 1)) return false;
    return true;
  }
  /// True if `inner` is `outer` or lies inside it.
  [[nodiscard]] constexpr bool encloses(int outer, int inner) const {
    while (inner > outer) inner = regions[inner].parent;
    return inner == outer;
  }
  [[nodiscard]] constexpr std::string_view name(const node& n) const {
    return n.name < 0 ? std::string_view{} : std::string_view(chars + n.name);
  }
  /// The device that a node was asked to run on; empty if it was not.
  [[nodiscard]] constexpr std::string_view device(const node& n) const {
    return n.device < 0 ? std::string_view{} : std::string_view(chars + n.device);
  }
  /// The cluster of a node, -1 if it is in none.
  [[nodiscard]] constexpr int cluster_number(int id) const {
    return clustered ? cluster_of[id] : -1;
  }
  /// Kernels that a call launches when every assumption holds and every region runs once.
  [[nodiscard]] constexpr int kernels() const;  // graph/leaves.hpp
  /// Whether an operation outside every cluster takes a kernel of its own.
  [[nodiscard]] static constexpr bool computes(op_kind k) {
    return k == op_kind::map || k == op_kind::reduce || k == op_kind::sum_to ||
           k == op_kind::arg_reduce || k == op_kind::matmul || k == op_kind::iota ||
           k == op_kind::along_axis || k == op_kind::ordered_reduce || k == op_kind::random ||
           k == op_kind::take || k == op_kind::scatter_add || k == op_kind::overlap_add;
  }
};

}  // namespace calque
