// Copies a graph node by node into a new one: the machinery that all passes share.
//
// It keeps regions, owners, names, extents, arguments and results; a pass says what to do with each
// node: copy it, let another node stand for it, or append new ones through `out`. Extents and
// characters are taken over whole, so their ids mean the same in both graphs.
#pragma once

#include "calque/graph/builder.hpp"

namespace calque {

/// A copy in progress of graph `in` into `out`. It never recurses and takes linear time.
///
///   rewriter r(g);
///   r.run([&](int id) { r.copy(id); });
///   graph same = r.finish();
class rewriter {
 public:
  graph_view in;
  builder out;
  detail::list<std::int32_t> to;         // by node of `in`: its node of `out`, -1 if it has none
  detail::list<std::int32_t> to_region;  // by region of `in`: its region of `out`, -1 if dropped

  constexpr explicit rewriter(const graph_view& g) : in(g) {
    out.g.nodes.reserve(g.node_count);
    out.g.pool.reserve(g.pool_count);
    out.g.dims.reserve(g.dim_count);
    for (int i = 0; i < g.dim_count; ++i) out.g.dims.push(g.dims[i]);
    out.g.chars.reserve(g.char_count);
    for (int i = 0; i < g.char_count; ++i) out.g.chars.push(g.chars[i]);
    to.resize(g.node_count, -1);
    to_region.resize(g.region_count, -1);
    to[g.regions[0].first] = out.g.regions[0].first;
    to_region[0] = 0;
  }

  /// Visits the nodes in order, opening and closing regions on the way. `pass(id)` is called for
  /// every node but the entries. A pass may also have members
  ///   bool enters(int region)           false drops a region with all that is in it
  ///   void leaves(int region)           called before a region is closed
  ///   bool keeps(int region, int k)     false drops the region's k-th result
  template <class Pass>
  constexpr void run(Pass&& pass) {
    detail::list<std::int32_t> inside;
    for (int id = in.regions[0].first + 1; id < in.node_count; ++id) {
      while (!inside.empty() && in.regions[inside.back()].last == id) {
        close(pass, inside.back());
        inside.pop();
      }
      const int r = in.nodes[id].region;
      if (in.regions[r].first != id) {
        pass(id);
      } else if (entered(pass, r)) {
        open(r);
        inside.push(r);
      } else {
        id = in.regions[r].last - 1;
      }
    }
    while (!inside.empty()) {
      close(pass, inside.back());
      inside.pop();
    }
  }

  /// Appends a copy of node `id`, whose inputs must have nodes of their own in `out`.
  constexpr int copy(int id) { return append(id, in.nodes[id]); }
  /// The same with other attributes: `n` replaces what the node holds, its inputs aside.
  constexpr int append(int id, const node& n) {
    inputs_.clear();
    const std::int32_t* ids = in.inputs(in.nodes[id]);
    for (int k = 0; k < in.nodes[id].inputs; ++k) inputs_.push(to[ids[k]]);
    const int made = out.append(n, inputs_.begin(), inputs_.size());
    if (n.body0 >= 0) out.own(made, to_region[n.body0], n.body1 < 0 ? -1 : to_region[n.body1]);
    if (n.op->kind == op_kind::region_arg) ++out.g.regions[out.open()].arguments;
    to[id] = made;
    return made;
  }
  /// Lets node `by` of `out` stand for node `id`; it inherits the name if it has none.
  constexpr void replace(int id, int by) {
    if (in.nodes[id].name >= 0 && out.g.nodes[by].name < 0)
      out.g.nodes[by].name = in.nodes[id].name;
    to[id] = by;
  }
  /// The node of `out` for input `k` of node `id`.
  [[nodiscard]] constexpr int input(int id, int k) const { return to[in.input(id, k)]; }

  /// Ends the copy with the results and arguments of `in`.
  constexpr graph finish() {
    for (int i = 0; i < in.argument_count; ++i) {
      argument a = in.arguments[i];
      if (a.node >= 0) a.node = to[a.node];
      out.g.arguments.push(a);
    }
    inputs_.clear();
    for (int k = 0; k < in.result_count(); ++k) inputs_.push(to[in.result(k)]);
    return out.finish(inputs_.begin(), inputs_.size());
  }

 private:
  template <class Pass>
  static constexpr bool entered(Pass& pass, int r) {
    if constexpr (requires { pass.enters(r); }) return pass.enters(r);
    else return true;
  }
  constexpr void open(int r) {
    to_region[r] = out.begin_region(in.kind(in.regions[r].owner) == op_kind::loop);
    const int from = in.regions[r].first, made = out.g.nodes.size() - 1;
    out.g.nodes[made].line = in.nodes[from].line;
    out.g.nodes[made].file = in.nodes[from].file;
    out.g.nodes[made].function = in.nodes[from].function;
    to[from] = made;
  }
  template <class Pass>
  constexpr void close(Pass& pass, int r) {
    if constexpr (requires { pass.leaves(r); }) pass.leaves(r);
    inputs_.clear();
    for (int k = 0; k < in.regions[r].results; ++k) {
      if constexpr (requires { pass.keeps(r, k); })
        if (!pass.keeps(r, k)) continue;
      inputs_.push(to[in.result(k, r)]);
    }
    out.end_region(inputs_.begin(), inputs_.size());
  }

  detail::list<std::int32_t> inputs_;
};

}  // namespace calque
