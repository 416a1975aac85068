// A plan under construction: places, memories, values that live in them, and steps in order.
//
// schedule.hpp fills it, homes.hpp decides which values are computed where they are wanted,
// lifetimes.hpp which memory of the arena they share. Positions are indices of steps.
#pragma once

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

#include "calque/plan/overlap.hpp"
#include "calque/plan/sizes.hpp"

namespace calque::detail::planning {

/// Where a value's first element lies, and its strides.
struct place {
  int memory = -1;
  int slice = -1;           // index of a slice that a loop moves, or -1
  std::int64_t offset = 0;  // bytes
  std::int64_t strides[max_rank]{};
};

enum class memory_kind : std::uint8_t {
  leaf,
  output,
  constants,
  indices,  // 0, 1, 2, … of any type, which nobody stores (core/counted.hpp)
  arena
};

struct memory {
  memory_kind kind = memory_kind::arena;
  int index = 0;           // of the leaf or output
  int device = 0;          // its number; 0 is the host
  std::int64_t bytes = 0;  // arena
  int region = 0;          // arena: where it is owned
  bool box = false;        // written more than once: a result of a cond, a state or stack of a loop
  bool fixed = false;      // a box that becomes part of no other memory
  int start = INT_MAX, end = -1;  // first write, last read
  int home = -1;  // the memory it became part of; its values' places say where there
  int cell = -1;  // arena: index of its bytes
};

/// A step's reading of an entity. `indexwise`: an elementwise step reads exactly the element that
/// it computes.
struct reading {
  int position = 0;
  bool indexwise = false;
  int loop = -1;  // owner of the outermost loop that repeats the reading, until that is resolved
};

/// A value with a place of its own: an argument, a variable's value at a point, a computed node,
/// a region's argument. Views have none: they are another look at an entity.
struct entity {
  int node = -1;
  int region = 0;
  place where;
  int defined = 0;        // position from which its content is there
  bool computed = false;  // a step's output: it may move to where it is wanted
  bool reshaped = false;  // read under other extents without a copy: needs row-major elements
  int snapshot = -1;      // step that may copy it away before its memory is overwritten
  std::vector<reading> readings;
};

enum class step_kind : std::uint8_t {
  start,      // nothing
  cluster,    // a kernel of several nodes
  single,     // a kernel of one node
  copy,       // a reshape that strides cannot express
  transfer,   // a copy from another device
  store,      // a value's copy to where it is wanted, unless it was computed there
  check,      // of indices: may throw
  snapshot,   // a copy of a value whose memory is overwritten too early for it
  branch,     // cond: start of the first region
  otherwise,  // start of the second
  join,       // end
  loop,       // start of the body
  next        // end of the body
};

struct step {
  step_kind kind = step_kind::start;
  bool enabled = true;
  int node = -1;  // single, copy: the node; control: the region's owner; store: the source
  int cluster = -1;
  int region = 0;
  int entity = -1;  // snapshot
  int store = -1;
  int first_input = 0, inputs = 0, tail_inputs = 0;  // node ids in `ids`
  int first_output = 0, outputs = 0;
};

/// A wish: the value of `node` at `to` when step `position` is done.
struct store {
  int position = 0;
  int node = -1;
  int region = 0;
  place to;
  int from = 0;          // position of the first write; before `position` if the value moved there
  bool nothing = false;  // it is there already
  int box = -1;          // the box that became part of the target, if one did
  bool kernel = false;   // no copy: the node's own step works on what is at `to`
};

/// Memory that a loop moves by `stride` bytes a step, from the place of a node or a memory.
struct slice {
  int loop = -1;  // owner
  int node = -1, memory = -1;
  std::int64_t stride = 0;
};

struct draft {
  const sized_graph& sizes;
  const graph_view& g;
  const graph_facts& facts;
  const call_request& request;
  const overlap_table& overlaps;
  const std::vector<std::int32_t>* devices = nullptr;         // by node; none: all are on the host
  const std::vector<std::int32_t>* result_devices = nullptr;  // by result

  std::vector<memory> memories{};
  std::vector<entity> entities{};
  std::vector<int> entity_of{};  // by node: what it is or what it looks at; -1
  std::vector<step> steps{};
  std::vector<int> ids{};
  std::vector<store> stores{};
  std::vector<slice> slices{};
  std::vector<constant> constants{};  // 8 bytes each in the block
  std::vector<dtype> constant_types{};
  std::vector<int> loop_end{};   // by owner: position of `next`
  std::vector<int> control{};    // by loop owner: memory of its counters
  std::vector<char> is_view{};   // by node: no step computes it
  std::vector<int> slice_of{};   // by node: the slice that a region's argument is, or -1
  int last_check = -1;           // position until which a check may throw
  std::vector<char> shadowed{};  // by leaf: a variable that a block stands for until the end

  /// Empty again, with blocks standing for variables.
  void restart(std::vector<char> shadows) {
    memories.clear(), entities.clear(), steps.clear(), ids.clear(), stores.clear();
    slices.clear(), constants.clear(), constant_types.clear();
    last_check = -1;
    shadowed = std::move(shadows);
  }
  /// The device of a node's value.
  [[nodiscard]] int device(int id) const {
    return devices == nullptr ? 0 : std::max((*devices)[static_cast<std::size_t>(id)], 0);
  }
  [[nodiscard]] int result_device(int k) const {
    return result_devices == nullptr ? 0 : (*result_devices)[static_cast<std::size_t>(k)];
  }
  int leaf_memory(int i) const { return i; }
  int output_memory(int k) const { return g.argument_count + k; }
  int index_memory() const { return g.argument_count + g.result_count() + 1; }
  /// Where a counted index finds its elements.
  [[nodiscard]] place counted_place(int id) const {
    place p{.memory = index_memory()};
    p.strides[g.nodes[id].index] = 1;
    return p;
  }

  /// The memory that holds `m` after moves.
  [[nodiscard]] int root(int m) const {
    while (memories[static_cast<std::size_t>(m)].home >= 0)
      m = memories[static_cast<std::size_t>(m)].home;
    return m;
  }
  /// Whether `m` is `box` or became part of it.
  [[nodiscard]] bool within(int m, int box) const {
    while (m >= 0 && m != box) m = memories[static_cast<std::size_t>(m)].home;
    return m >= 0 && m == box;
  }
  [[nodiscard]] overlap between(int a, int b) const {
    a = root(a), b = root(b);
    if (a == b) return overlap::exact;
    const int external = g.argument_count + g.result_count();
    return a < external && b < external ? overlaps.of(a, b) : overlap::none;
  }
  entity& of(int node) {
    return entities[static_cast<std::size_t>(entity_of[static_cast<std::size_t>(node)])];
  }
  const entity& of(int node) const {
    return entities[static_cast<std::size_t>(entity_of[static_cast<std::size_t>(node)])];
  }
  int add_memory(memory m) {
    memories.push_back(m);
    return static_cast<int>(memories.size()) - 1;
  }

  /// The place of a view, from the place of what it looks at. False: strides cannot express it.
  [[nodiscard]] bool look(int id, const place& in, place* out) const {
    const node& n = g.nodes[id];
    const int source = g.input(id, 0);
    const std::int64_t *from = sizes.extents(source), *to = sizes.extents(id);
    place p = in;
    switch (n.op->kind) {
      case op_kind::transpose:
        for (int i = 0; i < n.rank; ++i) p.strides[i] = in.strides[n.perm[i]];
        break;
      case op_kind::broadcast_to:
        broadcast_strides(sizes.rank(source), from, in.strides, n.rank, to, p.strides);
        break;
      case op_kind::sum_to:  // of nothing: leading axes of extent 1 go
        for (int i = 0; i < n.rank; ++i) p.strides[i] = in.strides[i + sizes.rank(source) - n.rank];
        break;
      case op_kind::windows:
        for (int i = n.rank - 4; i < n.rank - 2; ++i) {
          p.strides[i + 2] = in.strides[i];
          const std::int64_t step = sizes.window_step(id, i - (n.rank - 4));
          p.strides[i] = to[i] > 1 ? in.strides[i] * step : in.strides[i];
        }
        break;
      case op_kind::slice:
        for (int i = 0; i < n.rank; ++i) {
          const resolved_range r = sizes.range_of(n.index + i, from[i]);
          if (r.count == 0) continue;
          p.offset += r.first * in.strides[i] * size_of(n.type);
          // a single element has no next one, and a huge step times a stride need not fit
          if (r.count > 1) p.strides[i] = in.strides[i] * r.step;
        }
        break;
      case op_kind::reshape:
        if (!reshape_strides(sizes.rank(source), from, in.strides, n.rank, to, p.strides))
          return false;
        break;
      default: break;  // marker
    }
    *out = p;
    return true;
  }
  /// One element along axis 0, moved by a loop.
  [[nodiscard]] static place sliced(place p, int slice) {
    for (int i = 0; i + 1 < max_rank; ++i) p.strides[i] = p.strides[i + 1];
    p.slice = slice;
    p.offset = 0;
    return p;
  }
  /// Where a node's value lies.
  [[nodiscard]] place place_of(int id) const {
    if (!is_view[static_cast<std::size_t>(id)]) return of(id).where;
    std::vector<int> chain{};
    while (is_view[static_cast<std::size_t>(id)]) {
      const int slice = slice_of[static_cast<std::size_t>(id)];
      chain.push_back(id);
      id = slice < 0 ? g.input(id, 0) : slices[static_cast<std::size_t>(slice)].node;
    }
    place p = of(id).where;
    for (auto i = chain.rbegin(); i != chain.rend(); ++i) {
      const int slice = slice_of[static_cast<std::size_t>(*i)];
      if (slice < 0) (void)look(*i, p, &p);
      else p = sliced(p, slice);
    }
    return p;
  }
};

}  // namespace calque::detail::planning
