// Evaluates a graph node by node without plan, kernels or layouts: what `cq::eager` runs on, and
// the oracle of the tests. Values and their operations are in run/tensor_operations.hpp
// and run/line_operations.hpp.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "calque/run/part_operations.hpp"

namespace calque::reference {

/// Arguments by number: arrays and variables by value, scalars of rank 0, shapes as int64 elements.
class interpreter : public part_operations {
 public:
  interpreter(const graph_view& g, std::vector<tensor> arguments, rounding r = rounding::to_type)
      : part_operations(g, std::move(arguments), r) {}

  /// Runs once; variables among `arguments` have their new values afterwards.
  std::vector<tensor> run() {
    find_extents();
    values_.assign(static_cast<std::size_t>(g_.node_count), {});
    count_uses();
    run_region(0);
    std::vector<tensor> results;
    for (int k = 0; k < g_.result_count(); ++k) results.push_back(value(g_.result(k)));
    return results;
  }
  [[nodiscard]] const std::vector<tensor>& arguments() const { return arguments_; }

  /// Evaluates one more node of the body, of a graph that has grown since.
  void evaluate_next(const graph_view& g, int id) {
    g_ = g;
    find_extents();
    values_.resize(static_cast<std::size_t>(g_.node_count));
    evaluate(id, g_.nodes[id]);
  }
  [[nodiscard]] const tensor& value_of(int id) const {
    return values_[static_cast<std::size_t>(id)];
  }
  /// What node `id` gives, computed elsewhere, and the arguments after it.
  void set_results(int id, std::vector<tensor> results, std::vector<tensor> arguments) {
    results_[id] = std::move(results);
    arguments_ = std::move(arguments);
  }

 private:
  tensor& value(int id) { return values_[static_cast<std::size_t>(id)]; }
  const tensor& in(int id, int k) { return value(g_.input(id, k)); }

  // Values of the body go when their last user in the body has run; regions may run again.
  void count_uses() {
    last_use_.assign(static_cast<std::size_t>(g_.node_count), -1);
    for (int id = 0; id < g_.node_count; ++id)
      for (int k = 0; k < g_.nodes[id].inputs; ++k) use(g_.input(id, k), id);
    for (int r = 0; r < g_.region_count; ++r)
      for (int k = 0; k < g_.regions[r].results; ++k) use(g_.result(k, r), g_.node_count);
  }
  void use(int id, int by) {
    int& last = last_use_[static_cast<std::size_t>(id)];
    last = std::max(last, by < g_.node_count && g_.nodes[by].region != 0 ? g_.node_count : by);
  }
  void release_inputs(int id) {
    if (g_.nodes[id].region != 0) return;
    for (int k = 0; k < g_.nodes[id].inputs; ++k)
      if (last_use_[static_cast<std::size_t>(g_.input(id, k))] == id) value(g_.input(id, k)) = {};
  }

  void run_region(int r) {
    const region& e = g_.regions[r];
    for (int id = e.first; id < e.last; ++id) {
      const node& n = g_.nodes[id];
      if (n.region != r) {  // runs with its owner
        id = g_.regions[n.region].last - 1;
        continue;
      }
      evaluate(id, n);
      release_inputs(id);
    }
  }

  void evaluate(int id, const node& n) {
    switch (n.op->kind) {
      case op_kind::input:
      case op_kind::scalar: value(id) = arguments_[static_cast<std::size_t>(n.index)]; break;
      case op_kind::constant: value(id) = scalar_tensor(n.type, n.value); break;
      case op_kind::extent: value(id) = scalar_tensor(n.type, {0, extent(n.index)}); break;
      case op_kind::iota: value(id) = iota(n); break;
      case op_kind::read: value(id) = variable(g_.input(id, 0)); break;
      case op_kind::assign:
        require(in(id, 1).shape == variable(g_.input(id, 0)).shape, "assign: extents differ");
        variable(g_.input(id, 0)) = in(id, 1);
        break;
      case op_kind::map: value(id) = map(id, n); break;
      case op_kind::reduce: value(id) = reduce(n, in(id, 0)); break;
      case op_kind::arg_reduce: value(id) = arg_reduce(n, in(id, 0)); break;
      case op_kind::random: value(id) = random(n, in(id, 0)); break;
      case op_kind::ordered_reduce: value(id) = ordered_reduce(n, in(id, 0)); break;
      case op_kind::along_axis:
        value(id) = along_axis(n, in(id, 0), n.inputs > 1 ? &in(id, 1) : nullptr);
        break;
      case op_kind::transfer: value(id) = in(id, 0); break;
      case op_kind::sum_to: value(id) = sum_to(n, in(id, 0)); break;
      case op_kind::transpose: value(id) = transpose(n, in(id, 0)); break;
      case op_kind::reshape:
        value(id) = {n.type, extents_of(n), in(id, 0).data};
        require(value(id).size() == in(id, 0).size(), "reshape: another number of elements");
        break;
      case op_kind::broadcast_to: value(id) = broadcast(in(id, 0), extents_of(n)); break;
      case op_kind::slice: value(id) = slice(n, in(id, 0)); break;
      case op_kind::insert: value(id) = insert(n, in(id, 0), in(id, 1)); break;
      case op_kind::windows: value(id) = windows(n, in(id, 0)); break;
      case op_kind::overlap_add: value(id) = overlap_add(n, in(id, 0), in(id, 1)); break;
      case op_kind::take: value(id) = take(n, in(id, 0), in(id, 1)); break;
      case op_kind::scatter_add: value(id) = scatter_add(n, in(id, 0), in(id, 1), in(id, 2)); break;
      case op_kind::concatenate: {
        std::vector<const tensor*> parts;
        for (int k = 0; k < n.inputs; ++k) parts.push_back(&in(id, k));
        value(id) = concatenate(n, parts);
        break;
      }
      case op_kind::matmul: value(id) = matmul(n, in(id, 0), in(id, 1)); break;
      case op_kind::cond: {
        const int r = in(id, 0).data[0].i != 0 ? n.body0 : n.body1;
        run_region(r);
        auto& out = results_[id];
        out.clear();
        for (int k = 0; k < g_.regions[r].results; ++k) out.push_back(value(g_.result(k, r)));
        break;
      }
      case op_kind::loop: loop(id, n); break;
      case op_kind::result: value(id) = result_of(g_.input(id, 0), n.index); break;
      case op_kind::marker:
      case op_kind::stop_gradient: value(id) = in(id, 0); break;
      case op_kind::variable:
      case op_kind::entry:
      case op_kind::region_arg: break;
      case op_kind::gradient: require(false, "gradients must be expanded first"); break;
    }
  }

  const tensor& result_of(int owner, int k) { return results_[owner][static_cast<std::size_t>(k)]; }
  tensor& variable(int handle) {
    return arguments_[static_cast<std::size_t>(g_.nodes[handle].index)];
  }

  tensor map(int id, const node& n) {
    extents shape(n.rank);
    for (std::size_t i = 1; i <= n.rank; ++i) {
      std::int64_t e = 1;
      for (int k = 0; k < n.inputs; ++k) {
        const extents& s = in(id, k).shape;
        if (i > s.size() || s[s.size() - i] == 1) continue;
        require(e == 1 || e == s[s.size() - i], "operands do not broadcast");
        e = s[s.size() - i];
      }
      shape[n.rank - i] = e;
    }
    require(shape == extents_of(n), "extents differ from the table's");
    tensor r{n.type, shape, {}};
    const std::int64_t count = r.size();
    const dtype type = in(id, n.op->form == map_form::select ? 1 : 0).type;
    for (std::int64_t i = 0; i < count; ++i) {
      constant operands[3];
      for (int k = 0; k < n.inputs; ++k)
        operands[k] = in(id, k).data[broadcast_index(i, shape, in(id, k).shape)];
      r.data.push_back(call(*n.op, type, n.type, operands));
    }
    return r;
  }

  void loop(int id, const node& n) {
    const std::int64_t steps = std::max<std::int64_t>(0, in(id, 0).data[0].i);
    const region& body = g_.regions[n.body0];
    const int first = body.first + 1, carried = n.index, outputs = body.results - carried;
    std::vector<tensor> states, stacks(static_cast<std::size_t>(outputs));
    for (int k = 0; k < carried; ++k) states.push_back(in(id, 1 + k));
    for (int k = 1 + carried; k < n.inputs; ++k)
      require(in(id, k).shape[0] == steps, "a scanned input has a row for each step");
    for (int k = 0; k < outputs; ++k) {
      const node& y = g_.nodes[g_.result(carried + k, n.body0)];
      tensor& stack = stacks[static_cast<std::size_t>(k)];
      stack.type = y.type;
      stack.shape = extents_of(y);
      stack.shape.insert(stack.shape.begin(), steps);
      stack.data.resize(static_cast<std::size_t>(stack.size()));
    }
    for (std::int64_t s = 0; s < steps; ++s) {
      const std::int64_t step = n.reverse ? steps - 1 - s : s;
      value(first) = scalar_tensor(dtype::int64, {0, step});
      for (int k = 0; k < carried; ++k) value(first + 1 + k) = states[static_cast<std::size_t>(k)];
      for (int k = 1 + carried; k < n.inputs; ++k) value(first + k) = row(in(id, k), step);
      run_region(n.body0);
      for (int k = 0; k < carried; ++k) {
        const tensor& next = value(g_.result(k, n.body0));
        require(next.shape == states[static_cast<std::size_t>(k)].shape,
                "a state keeps its extents");
        states[static_cast<std::size_t>(k)] = next;
      }
      for (int k = 0; k < outputs; ++k) {
        const tensor& y = value(g_.result(carried + k, n.body0));
        std::copy(y.data.begin(), y.data.end(),
                  stacks[static_cast<std::size_t>(k)].data.begin() + step * y.size());
      }
    }
    states.insert(states.end(), stacks.begin(), stacks.end());
    results_[id] = std::move(states);
  }
  std::vector<tensor> values_;                  // by node
  std::vector<int> last_use_;                   // by node: its last user in the body
  std::map<int, std::vector<tensor>> results_;  // by owner, or gradient node
};

}  // namespace calque::reference
