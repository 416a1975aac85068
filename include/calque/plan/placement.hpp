// Where each value of a call lives and each step runs: a pure function of graph, sizes and devices.
//
// What computes runs where the call's guard says. Values of arguments and variables are where they
// are; what only looks at a value stays with it; numbers and counted indices are anywhere. Called
// by placed_graph.hpp, which adds the transfers.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "calque/core/device.hpp"
#include "calque/graph/leaves.hpp"
#include "calque/plan/overlap.hpp"
#include "calque/plan/sizes.hpp"

namespace calque::detail::planning {

/// Devices of a plan by number: 0 is the host.
inline constexpr int anywhere = -1, on_host = 0;

class placement {
 public:
  std::vector<device_entry*> devices{nullptr};
  std::vector<std::int32_t> of;  // by node: the device's number, or `anywhere`

  placement(const sized_graph& s, const graph_facts& facts, const call_request& r)
      : s_(s), g_(s.g), facts_(facts), r_(r) {
    here_ = number_of(r.where);
    for (int i = 0; i < r.named_count; ++i) named_.push_back(number_of(r.named[i]));
    for (int k = 0; r.outputs != nullptr && k < r.output_count; ++k)
      (void)number_of(r.outputs[k].place);
    of.assign(static_cast<std::size_t>(g_.node_count), anywhere);
    for (int id = 0; id < g_.node_count; ++id) of[static_cast<std::size_t>(id)] = place(id);
  }
  /// The device of a node's value.
  [[nodiscard]] int at(int id) const { return of[static_cast<std::size_t>(id)]; }
  /// Where result `k` goes: where its destination is, or where it was computed.
  [[nodiscard]] int of_result(int k) const {
    if (r_.outputs != nullptr) return number_of_known(r_.outputs[k].place);
    const int d = at(g_.result(k));
    return d == anywhere ? here_ : d;
  }

 private:
  [[nodiscard]] int number_of_known(const device_entry* d) const {
    return static_cast<int>(std::find(devices.begin(), devices.end(), d) - devices.begin());
  }
  int number_of(device_entry* d) {
    if (d != nullptr && d->gone.load(std::memory_order_acquire))
      throw device_error("plan: " + d->name + " is gone; take one of the present devices");
    const int i = number_of_known(d);
    if (i == static_cast<int>(devices.size())) devices.push_back(d);
    return i;
  }
  int place(int id) {
    const node& n = g_.nodes[id];
    switch (n.op->kind) {
      case op_kind::input: return number_of(r_.leaves[n.index].place);
      case op_kind::variable: return number_of(r_.leaves[n.index].place);
      case op_kind::read:
      case op_kind::assign: return at(g_.input(id, 0));
      case op_kind::scalar:
      case op_kind::constant:
      case op_kind::extent:
      case op_kind::entry:
      case op_kind::iota: return anywhere;
      case op_kind::region_arg: return of_argument(id);
      case op_kind::result: return at(g_.input(id, 0));
      case op_kind::transpose:
      case op_kind::reshape:
      case op_kind::broadcast_to:
      case op_kind::slice:
      case op_kind::windows:
      case op_kind::marker:
      case op_kind::stop_gradient: return at(g_.input(id, 0));
      default:
        if (s_.is_number(id)) return anywhere;
        return for_kernel(id);
    }
  }
  /// Where a node was asked to run, else where the call does.
  [[nodiscard]] int asked(int id) const {
    const int i = g_.nodes[id].device < 0 ? -1 : facts_.number_of(g_.nodes[id].device);
    return i < 0 || i >= static_cast<int>(named_.size()) ? here_
                                                         : named_[static_cast<std::size_t>(i)];
  }
  /// The index of a loop is anywhere; a state is where the loop's are; what is scanned stays.
  int of_argument(int id) const {
    const int owner = g_.regions[g_.nodes[id].region].owner, k = g_.nodes[id].index;
    if (k == 0) return anywhere;
    if (k <= g_.nodes[owner].index) return asked(owner);
    return at(g_.input(owner, k));
  }
  int for_kernel(int id) const {
    const int at = asked(id);
    const device_entry* const d = devices[static_cast<std::size_t>(at)];
    const node& n = g_.nodes[id];
    if (d == nullptr ||
        std::find(d->missing.begin(), d->missing.end(), n.op->name) == d->missing.end())
      return at;
    std::string operands;
    for (int k = 0; k < n.inputs; ++k)
      operands.append(k ? ", " : "").append(s_.text(g_.input(id, k)));
    device_table& t = devices_of_process();
    const std::lock_guard lock(t.mutex);
    std::string others = "cpu:0";
    for_each_visible(t, [&](const device_entry* e, int) {
      if (std::find(e->missing.begin(), e->missing.end(), n.op->name) == e->missing.end())
        others.append(", ").append(e->name);
    });
    throw placement_error("plan: " + d->name + " has no kernel for " + std::string(n.op->name) +
                          "(" + operands + ")" + where_text(g_, n) +
                          "; devices that have one: " + others);
  }

  const sized_graph& s_;
  const graph_view& g_;
  const graph_facts& facts_;
  const call_request& r_;
  std::vector<int> named_;  // by number among the graph's names: the device's
  int here_ = on_host;
};

}  // namespace calque::detail::planning
