// The geometry, the kernel and the scratch of every step of a draft, once values have their places.
//
// Steps without elements are switched off here. Called by planner.hpp between the search for homes
// and the layout of the arena, which has to know the scratch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "calque/backend/cpu/copy.hpp"
#include "calque/backend/cpu/gather.hpp"
#include "calque/backend/cpu/stream.hpp"
#include "calque/run/geometry.hpp"
#include "calque/run/step_work.hpp"

namespace calque::detail {

/// By step of the draft.
class step_layouts {
 public:
  std::vector<step_layout> of;
  std::vector<kernel_function> kernels;
  std::vector<std::int64_t> scratch;

  step_layouts(planning::draft& d, const kernel_table& table,
               const std::vector<std::pair<int, planning::place>>& snapshots)
      : of(d.steps.size()),
        kernels(d.steps.size()),
        scratch(d.steps.size()),
        d_(d),
        s_(d.sizes),
        kernels_(table) {
    for (std::size_t i = 0; i < d.steps.size(); ++i) lay_out(i, snapshots);
  }

 private:
  using step_kind = planning::step_kind;

  std::vector<int> id_list(int first, int count) const {
    return {d_.ids.begin() + first, d_.ids.begin() + first + count};
  }
  void lay_out(std::size_t i, const std::vector<std::pair<int, planning::place>>& snapshots) {
    planning::step& s = d_.steps[i];
    step_layout& l = of[i];
    geometry_builder b(d_, l);
    const graph_view& g = s_.g;
    const kernel_entry* kernel = nullptr;
    bool empty = false;
    switch (s.kind) {
      case step_kind::cluster: {
        const cluster& c = g.clusters[s.cluster];
        const auto body = id_list(s.first_input, s.inputs);
        const auto tail = id_list(s.first_input + s.inputs, s.tail_inputs);
        const auto out = id_list(s.first_output, s.outputs);
        if (c.kind == cluster_kind::map) b.elementwise(body, out, c.domain);
        else if (c.kind == cluster_kind::product) b.product(c.root, body, out);
        else if (c.kind == cluster_kind::reduce && g.kind(c.root) == op_kind::along_axis)
          b.lines(c.root, body);
        else if (c.kind == cluster_kind::reduce) b.reduction(c.root, body, tail, out);
        else b.rows(row_set(g, c), body, tail, out);
        empty = std::all_of(out.begin(), out.end(), [&](int o) { return s_.elements(o) == 0; });
        kernel = &kernels_.of_cluster[s.cluster];
        break;
      }
      case step_kind::single:
        lay_out_node(s, b);
        empty = s_.elements(s.node) == 0;
        kernel = g.kind(s.node) == op_kind::iota   ? &copy_kernel
                 : g.kind(s.node) == op_kind::take ? &take_kernel
                                                   : &kernels_.of_node[s.node];
        break;
      case step_kind::copy: {
        // the source under its own extents; the result is its elements in that order
        const int in = d_.ids[static_cast<std::size_t>(s.first_input)];
        planning::place to = d_.place_of(s.node);  // row-major
        planning::row_major(s_.rank(in), s_.extents(in), to.strides);
        b.copy(in, d_.place_of(in), to);
        empty = s_.elements(s.node) == 0;
        kernel = &copy_kernel;
        break;
      }
      case step_kind::transfer: {
        const int in = d_.ids[static_cast<std::size_t>(s.first_input)];
        b.copy(s.node, d_.place_of(in), d_.place_of(s.node));
        empty = s_.elements(s.node) == 0;
        kernel = &copy_kernel;
        break;
      }
      case step_kind::check: {
        const int in = d_.ids[static_cast<std::size_t>(s.first_input)];
        b.check(s.node, in);
        empty = s_.elements(in) == 0;
        kernel = &check_kernel;
        break;
      }
      case step_kind::store: {
        if (!s.enabled) return;
        const auto& w = d_.stores[static_cast<std::size_t>(s.store)];
        b.copy(w.node, d_.place_of(w.node), w.to);
        empty = s_.elements(w.node) == 0;
        kernel = &copy_kernel;
        break;
      }
      case step_kind::snapshot: {
        if (!s.enabled) return;
        const auto& e = d_.entities[static_cast<std::size_t>(s.entity)];
        for (const auto& [at, from] : snapshots)
          if (at == static_cast<int>(i)) b.copy(e.node, from, e.where);
        empty = s_.elements(e.node) == 0;
        kernel = &copy_kernel;
        break;
      }
      default: return;
    }
    if (empty) {
      s.enabled = false;
      return;
    }
    kernels[i] = kernel->run;
    const bool elementwise = s.kind == step_kind::cluster
                                 ? g.clusters[s.cluster].kind == cluster_kind::map ||
                                       g.clusters[s.cluster].kind == cluster_kind::rows
                                 : s.kind == step_kind::single && g.kind(s.node) == op_kind::map;
    if (elementwise && (!kernel->heavy || d_.request.threads > 1)) stream_results(l);
    l.shape.operands = l.operands.data();
    l.shape.threads = threads_for(work_of(s, g, l.shape), d_.request.threads);
    if (kernel->scratch != nullptr) scratch[i] = kernel->scratch(l.shape);
  }
  /// Results of an elementwise step that moves more than the caches hold are written past them,
  /// unless they lie where an operand is read.
  void stream_results(step_layout& l) const {
    const auto reads = [&](const operand_layout& o) {
      return std::any_of(o.strides, o.strides + l.shape.rank,
                         [](std::int64_t s) { return s != 0; });
    };
    std::int64_t bytes = 0;
    for (const operand_layout& o : l.operands)
      if (reads(o) && !o.counted) bytes += l.shape.size * size_of(o.type);
    if (bytes <= streaming_threshold()) return;
    const auto inputs = static_cast<std::size_t>(l.shape.inputs + l.shape.tail_inputs);
    for (std::size_t k = inputs; k < l.operands.size(); ++k) {
      bool fresh = l.operands[k].linear && has_all_axes(l, l.operands[k]);
      for (std::size_t i = 0; i < inputs; ++i)
        fresh = fresh && d_.root(l.places[i].memory) != d_.root(l.places[k].memory);
      l.operands[k].streamed = fresh;
    }
  }
  /// Not a value of rows alone.
  static bool has_all_axes(const step_layout& l, const operand_layout& o) {
    return l.shape.kept == l.shape.rank ||
           std::any_of(o.strides + l.shape.kept, o.strides + l.shape.rank,
                       [](std::int64_t s) { return s != 0; });
  }
  void lay_out_node(const planning::step& s, geometry_builder& b) const {
    const auto in = id_list(s.first_input, s.inputs);
    const std::vector<int> out{s.node};
    switch (s_.g.kind(s.node)) {
      case op_kind::iota: b.iota(s.node); break;
      case op_kind::overlap_add: b.overlapping(s.node); break;
      case op_kind::take:
      case op_kind::scatter_add: b.indexed(s.node); break;
      case op_kind::matmul: b.matmul(s.node); break;
      case op_kind::along_axis: b.lines(s.node, in); break;
      case op_kind::random: b.random(s.node); break;
      case op_kind::map: b.elementwise(in, out, s.node); break;
      default: b.reduction(s.node, in, {}, out);
    }
  }

  planning::draft& d_;
  const planning::sized_graph& s_;
  const kernel_table& kernels_;
};

}  // namespace calque::detail
