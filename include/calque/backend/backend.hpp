// What a device's back end offers to plans: kernels as plain functions on a geometry and pointers.
//
// A kernel knows its program (types and operations) at compile time and nothing of sizes; a plan
// computes each step's geometry once, a replay only passes base pointers. The table of a traced
// function is a constexpr array; run-time graphs bring a table of interpreting kernels.
#pragma once

#include <cstdint>

#include "calque/core/config.hpp"
#include "calque/core/dtype.hpp"

namespace calque {

/// One operand's layout over the axes of its step's domain.
struct operand_layout {
  dtype type = dtype::none;
  /// Elements follow each other in the order of the domain (its kept axes, for a reduction's output
  /// and tail operands), so that the kernel may walk it without strides.
  bool linear = false;
  std::int64_t strides[max_rank]{};  // in elements; 0 where the operand is broadcast
  bool streamed = false;  // an output that is linear and larger than the caches: written past them
  bool counted = false;   // an index of which no memory holds the elements (core/counted.hpp)
};

/// A step's sizes and layouts: everything about it but its addresses.
///
/// map:        `rank` axes; operands are inputs, then outputs.
/// reduce:     kept axes first (`kept` of them), then reduced ones; operands are the inputs of the
///             elementwise part, the inputs of the tail (strides over the kept axes), then outputs
///             (over the kept axes).
/// arg_reduce: like reduce with one input, one output, one reduced axis; `alpha` is unused.
/// along_axis: the lines' axis last, after `kept` others; `start` is 1 where a running reduction
///             leaves an element out of its own result; operands are the inputs, then the output.
/// ordered reductions: like reduce; `start` is 1 where neighbours along the last kept axis would be
///             neighbours in what is reduced.
/// random:     operands are the state (a seed and the number of the draw) and the result.
/// matmul:     extents are m, n, k, then those of the axes that repeat the product; operands a
///             (strides of m, k in [0], [1]; of the repeating axes from [3] on), b (k, n), out (m,
///             n). A sixth repeating axis has its extent in `kept_size` and its strides in [2].
/// take:       over the result's axes: operands x and indices (stride 0 along each other's axes),
///             out; `kept_size` is the extent of x along the axis, `start` its stride there.
/// scatter_add: over the updates' axes: operands indices, updates, out, which has x's elements;
///             `kept_size` and `start` are the axis's in out.
/// overlap_add: over the windows' axes: operands windows, out, where windows may overlap.
/// check:      operand 0 are indices into axis `start` of extent `kept_size`; `text` is the
/// operation. copy, fill: like map with one input (or none) and one output.
struct geometry {
  std::int32_t rank = 0;
  std::int32_t kept = 0;
  std::int32_t inputs = 0;       // of the elementwise part
  std::int32_t tail_inputs = 0;  // of a reduction's tail
  std::int32_t outputs = 0;
  std::int64_t extents[max_rank]{};
  std::int64_t size = 0;       // elements of the domain
  std::int64_t kept_size = 0;  // product of the kept extents
  std::int64_t start = 0;      // along_axis and others: see above
  const operand_layout* operands = nullptr;
  const char* text = nullptr;  // what a kernel that throws names
  std::int32_t threads = 1;    // that may share the step: the plan's choice

  [[nodiscard]] constexpr int operand_count() const { return inputs + tail_inputs + outputs; }
};

/// Runs one step. `data[i]` is operand i's first element; `scratch` has the bytes asked for.
using kernel_function = void (*)(const geometry&, void* const* data, void* scratch);
/// Bytes of scratch that a kernel needs for a geometry and its threads (0 where the pointer is
/// null).
using scratch_function = std::int64_t (*)(const geometry&);

struct kernel_entry {
  kernel_function run = nullptr;
  scratch_function scratch = nullptr;
  bool heavy = false;  // computes so much for an element that memory keeps up with one thread
};

/// The kernels of one graph on one back end.
struct kernel_table {
  const kernel_entry* of_cluster = nullptr;  // by cluster
  const kernel_entry* of_node = nullptr;     // by node: single steps and fallbacks; run may be null
};

}  // namespace calque
