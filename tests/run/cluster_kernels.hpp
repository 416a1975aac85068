// Kernels for the clusters of graphs fused at run time: each evaluates its cluster's nodes one
// element at a time. A kernel is a plain function, so numbered functions look their cluster up in a
// table.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "calque/backend/interpret.hpp"
#include "calque/graph/cluster.hpp"

namespace harness {

/// Holds the kernels of one fused graph; one at a time per process.
class cluster_kernels {
  using constant = calque::constant;

 public:
  static constexpr int most = 64;

  explicit cluster_kernels(const calque::graph_view& g) : nodes_(g) {
    view() = g;
    for (int c = 0; c < g.cluster_count && c < most; ++c)
      clusters_.push_back(entry(c, std::make_integer_sequence<int, most>()));
    clusters_.resize(static_cast<std::size_t>(g.cluster_count));
  }
  [[nodiscard]] calque::kernel_table table() const {
    return {clusters_.data(), nodes_.table().of_node};
  }
  static std::int64_t& runs() {
    static std::int64_t n = 0;
    return n;
  }

 private:
  static calque::graph_view& view() {
    static calque::graph_view g;
    return g;
  }
  template <int... C>
  static calque::kernel_entry entry(int c, std::integer_sequence<int, C...>) {
    static constexpr calque::kernel_function table[] = {&run<C>...};
    return {table[c], nullptr};
  }
  template <int C>
  static void run(const calque::geometry& g, void* const* data, void*) {
    ++runs();
    evaluate(view().clusters[C], g, data);
  }

  static void evaluate(const calque::cluster& c, const calque::geometry& g, void* const* data) {
    namespace in = calque::detail::interpreting;
    const calque::graph_view& v = view();
    const calque::cluster_inputs names = calque::inputs_of(v, c);
    std::vector<constant> value(static_cast<std::size_t>(v.node_count));
    const auto at = [&](int id) -> constant& { return value[static_cast<std::size_t>(id)]; };
    const auto compute = [&](int first, int last) {
      for (int i = 0; i < c.nodes; ++i) {
        const int id = v.pool[c.first + i];
        if (id < first || id >= last) continue;
        const calque::node& n = v.nodes[id];
        constant x[4];
        for (int k = 0; k < n.inputs; ++k) x[k] = at(v.input(id, k));
        if (n.op->evaluate == nullptr) {  // a sum_to that sums nothing
          at(id) = x[0];
          continue;
        }
        const int typed = n.op->form == calque::map_form::select ? 1 : 0;
        at(id) = n.op->evaluate(v.input_node(id, typed).type, n.type, x);
      }
    };
    const auto load = [&](const in::walk& w, const auto& ids, int first, const in::walk* inner) {
      for (int k = 0; k < ids.size(); ++k)
        at(ids[k]) = in::load(g.operands[first + k].type, data[first + k],
                              w.offset(first + k) + (inner ? inner->offset(first + k) : 0));
    };
    const int outputs = g.inputs + g.tail_inputs;
    const auto save = [&](const in::walk& w) {
      for (int k = 0; k < c.outputs; ++k)
        in::save(g.operands[outputs + k].type, data[outputs + k], w.offset(outputs + k),
                 at(v.pool[c.first_output + k]));
    };
    if (c.kind == calque::cluster_kind::product) {
      const int a = g.inputs, b = g.inputs + 1;
      const calque::dtype t = v.nodes[c.root].type;
      const calque::dtype wide = calque::is_floating(t) ? calque::dtype::float64 : t;
      for (in::walk w(g, 0, 2); !w.done(); w.next()) {
        constant sum{};
        for (std::int64_t k = 0; k < g.extents[2]; ++k) {
          const auto at_k = [&](int matrix) {
            const auto& o = g.operands[matrix];
            const std::int64_t i = matrix == a ? w.index(0) * o.strides[0] + k * o.strides[1]
                                               : k * o.strides[0] + w.index(1) * o.strides[1];
            return in::load(t, data[matrix], i);
          };
          const constant f[2] = {at_k(a), at_k(b)};
          const constant x[2] = {sum, calque::op_info_of<calque::op::mul>.evaluate(wide, wide, f)};
          sum = calque::op_info_of<calque::op::add>.evaluate(wide, wide, x);
        }
        load(w, names.body, 0, nullptr);
        at(c.root) = calque::detail::narrowed(t, sum);
        compute(0, c.root);
        compute(c.root + 1, v.node_count);
        save(w);
      }
      return;
    }
    if (c.kind == calque::cluster_kind::map) {
      for (in::walk w(g, 0, g.rank); !w.done(); w.next()) {
        load(w, names.body, 0, nullptr);
        compute(0, v.node_count);
        save(w);
      }
      return;
    }
    if (c.kind == calque::cluster_kind::rows) {
      evaluate_rows(c, g, data, names);
      return;
    }
    const calque::node& root = v.nodes[c.root];
    if (root.op->kind == calque::op_kind::along_axis) {  // every element combined with those before
      const int out = g.inputs;
      const calque::dtype t = root.type, wide = calque::is_floating(t) ? calque::dtype::float64 : t;
      for (in::walk w(g, 0, g.kept); !w.done(); w.next()) {
        constant sum = root.op->evaluate(wide, wide, nullptr);
        bool first = true;
        for (in::walk r(g, g.kept, g.rank); !r.done(); r.next(), first = false) {
          load(w, names.body, 0, &r);
          compute(0, c.root);
          const constant x[2] = {sum, at(v.input(c.root, 0))};
          const std::int64_t to = w.offset(out) + r.offset(out);
          if (root.exclusive) in::save(t, data[out], to, calque::detail::narrowed(t, sum));
          sum = first ? x[1] : root.op->evaluate(wide, wide, x);
          if (!root.exclusive) in::save(t, data[out], to, calque::detail::narrowed(t, sum));
        }
      }
      return;
    }
    for (in::walk w(g, 0, g.kept); !w.done(); w.next()) {
      std::vector<constant> all;
      for (in::walk r(g, g.kept, g.rank); !r.done(); r.next()) {
        load(w, names.body, 0, &r);
        compute(0, c.root);
        all.push_back(at(v.input(c.root, 0)));
      }
      at(c.root) = reduced(root, all);
      load(w, names.tail, g.inputs, nullptr);
      compute(c.root + 1, v.node_count);
      save(w);
    }
  }

  /// What a reduction makes of some elements; `sum_to` sums.
  static constant reduced(const calque::node& n, const std::vector<constant>& values) {
    const std::string_view name = n.op->name;
    if (n.op->kind == calque::op_kind::ordered_reduce) {
      constant sum = n.op->evaluate(n.type, n.type, nullptr);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const constant x[2] = {sum, values[i]};
        sum = i == 0 ? x[1] : n.op->evaluate(n.type, n.type, x);
      }
      return sum;
    }
    const bool most = name == "max" || name == "pool_max" || name == "largest";
    const calque::dtype wide = calque::is_floating(n.type) ? calque::dtype::float64 : n.type;
    constant sum = calque::detail::visit_dtype<constant>(n.type, [&]<class T>(T) {
      return calque::detail::make_constant<T>(most ? calque::op::reduce_max::identity<T>()
                                              : name == "min"
                                                  ? calque::op::reduce_min::identity<T>()
                                              : name == "prod" || name == "all" ? T{1}
                                                                                : T{});
    });
    const calque::op_info& combine = most || name == "any" ? calque::op_info_of<calque::op::maximum>
                                     : name == "min" || name == "all"
                                         ? calque::op_info_of<calque::op::minimum>
                                     : name == "prod" ? calque::op_info_of<calque::op::mul>
                                                      : calque::op_info_of<calque::op::add>;
    for (const constant& e : values) {
      const constant x[2] = {sum, e};
      sum = combine.evaluate(wide, wide, x);
    }
    return calque::detail::narrowed(n.type, sum);
  }
  /// A row at a time; a value of a row is a vector of one element.
  static void evaluate_rows(const calque::cluster& c, const calque::geometry& g, void* const* data,
                            const calque::cluster_inputs& names) {
    namespace in = calque::detail::interpreting;
    const calque::graph_view& v = view();
    const calque::detail::row_set rows(v, c);
    std::vector<std::vector<constant>> value(static_cast<std::size_t>(v.node_count));
    const auto of = [&](int id) -> std::vector<constant>& {
      return value[static_cast<std::size_t>(id)];
    };
    for (in::walk w(g, 0, g.kept); !w.done(); w.next()) {
      std::size_t elements = 0;
      for (int k = 0; k < names.body.size(); ++k) of(names.body[k]).clear();
      for (in::walk r(g, g.kept, g.rank); !r.done(); r.next(), ++elements)
        for (int k = 0; k < names.body.size(); ++k)
          of(names.body[k])
              .push_back(in::load(g.operands[k].type, data[k], w.offset(k) + r.offset(k)));
      for (int k = 0; k < names.tail.size(); ++k) {
        const int at = g.inputs + k;
        if (v.nodes[names.tail[k]].rank > 0 || of(names.tail[k]).empty())
          of(names.tail[k]) = {in::load(g.operands[at].type, data[at], w.offset(at))};
      }
      for (int i = 0; i < rows.ids.size(); ++i) {
        const int id = rows.ids[i];
        const calque::node& n = v.nodes[id];
        const auto operand = [&](int k, std::size_t e) {
          const auto& x = of(rows.source(id, k));
          return x.size() == 1 ? x[0] : x[e];
        };
        std::vector<constant> r;
        const std::size_t count = rows.forms[i] == calque::detail::row_form::full ? elements : 1;
        if (rows.reduces(id)) {
          std::vector<constant> all;
          for (std::size_t e = 0; e < elements; ++e) all.push_back(operand(0, e));
          r = {reduced(n, all)};
        }
        for (std::size_t e = 0; e < count && !rows.reduces(id); ++e) {
          constant x[4];
          for (int k = 0; k < n.inputs; ++k) x[k] = operand(k, e);
          const int typed = n.op->form == calque::map_form::select ? 1 : 0;
          r.push_back(n.op->evaluate == nullptr
                          ? x[0]
                          : n.op->evaluate(v.input_node(id, typed).type, n.type, x));
        }
        of(id) = r;
      }
      for (int k = 0; k < c.outputs; ++k) {
        const int id = v.pool[c.first_output + k], at = g.inputs + g.tail_inputs + k;
        const auto& x = of(id);
        if (rows.form(id) != calque::detail::row_form::full) {
          in::save(g.operands[at].type, data[at], w.offset(at), x[0]);
          continue;
        }
        std::size_t e = 0;
        for (in::walk r(g, g.kept, g.rank); !r.done(); r.next(), ++e)
          in::save(g.operands[at].type, data[at], w.offset(at) + r.offset(at),
                   x.size() == 1 ? x[0] : x[e]);
      }
    }
  }

  calque::interpreted_kernels<> nodes_;
  std::vector<calque::kernel_entry> clusters_;
};

}  // namespace harness
