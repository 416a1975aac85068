// A call's graph with its transfers: where a step reads a value that lives on another device, it
// reads a copy, of which there is one for each value and device.
//
// The graph is rewritten once a plan, so that everything after it (schedule, lifetimes, arenas)
// meets transfers as ordinary nodes. A transfer comes right after what it copies. Of a chain of
// views the link with the fewest bytes is copied, and the views after it are made again there.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "calque/graph/graph.hpp"
#include "calque/plan/placement.hpp"

namespace calque::detail {

struct transfer_op {
  static constexpr char name[] = "transfer";
  static constexpr op_kind kind = op_kind::transfer;
  static constexpr int arity = 1;
};

namespace planning {

class placed_graph {
 public:
  graph g;
  std::vector<std::int32_t> of;      // by new node: the device's number, or `anywhere`
  std::vector<std::int32_t> origin;  // by new node: the node it was made of
  std::vector<char> is_copy;         // by new node: it was not there before

  placed_graph(const sized_graph& s, const placement& p) : s_(s), old_(s.g), p_(p) {
    find_copies();
    write();
  }

 private:
  using key = std::pair<int, int>;  // node, device

  /// A copy of a node's value on a device, or a look made again there at a copy of its input's.
  enum class copy_kind : std::uint8_t { transfer, look };

  [[nodiscard]] static bool is_view(op_kind k) { return passes_on(k); }
  [[nodiscard]] bool is_there(int id, int device) const {
    return p_.at(id) == anywhere || p_.at(id) == device;
  }
  void want(int id, int device) {
    if (is_there(id, device) || copies_.count({id, device}) != 0) return;
    // equal bytes further down may serve other views too
    if (is_view(old_.kind(id)) && fewest_bytes(old_.input(id, 0)) <= s_.byte_count(id)) {
      want(old_.input(id, 0), device);
      copies_[{id, device}] = copy_kind::look;
      return;
    }
    copies_[{id, device}] = copy_kind::transfer;
  }
  /// Of a value and what it looks at.
  [[nodiscard]] std::int64_t fewest_bytes(int id) const {
    std::int64_t least = s_.byte_count(id);
    while (is_view(old_.kind(id))) {
      id = old_.input(id, 0);
      least = std::min(least, s_.byte_count(id));
    }
    return least;
  }

  void find_copies() {
    for (int id = 0; id < old_.node_count; ++id)
      for (int k = 0; k < old_.nodes[id].inputs; ++k)
        if (const int d = device_for_input(id, k); d != anywhere) want(old_.input(id, k), d);
    for (int r = 0; r < old_.region_count; ++r)
      for (int k = 0; k < old_.regions[r].results; ++k)
        if (const int d = device_for_result(r, k); d != anywhere) want(old_.result(k, r), d);
  }
  /// Where node `id` reads its input `k`; `anywhere` if it reads it where it is.
  [[nodiscard]] int device_for_input(int id, int k) const {
    switch (old_.kind(id)) {
      case op_kind::read: return anywhere;
      case op_kind::assign: return k == 1 ? p_.at(old_.input(id, 0)) : anywhere;
      case op_kind::cond: return on_host;
      case op_kind::loop:
        if (k == 0) return on_host;
        return k <= old_.nodes[id].index ? p_.at(id) : anywhere;
      case op_kind::result: return anywhere;
      default: return is_view(old_.kind(id)) ? anywhere : p_.at(id);
    }
  }
  [[nodiscard]] int device_for_result(int r, int k) const {
    return r == 0 ? p_.of_result(k) : p_.at(old_.regions[r].owner);
  }

  // --- the new graph ---------------------------------------------------------------------------

  void write() {
    append_all(g.dims, old_.dims, old_.dim_count);
    append_all(g.chars, old_.chars, old_.char_count);
    append_all(g.regions, old_.regions, old_.region_count);
    append_all(g.arguments, old_.arguments, old_.argument_count);
    map_.assign(static_cast<std::size_t>(old_.node_count), -1);
    std::vector<int> waiting;  // arguments of a region, whose copies come after the last of them
    for (int id = 0; id < old_.node_count; ++id) {
      const bool in_front = old_.kind(id) == op_kind::region_arg;
      if (!waiting.empty() &&
          (!in_front || old_.nodes[id].region != old_.nodes[waiting[0]].region)) {
        for (int w : waiting) write_copies(w);
        waiting.clear();
      }
      for (int r = 0; r < old_.region_count; ++r) {
        if (old_.regions[r].last == id) g.regions[r].last = g.nodes.size();
        if (old_.regions[r].first == id) g.regions[r].first = g.nodes.size();
      }
      write_node(id);
      if (in_front) waiting.push_back(id);
      else write_copies(id);
    }
    for (int r = 0; r < old_.region_count; ++r) {
      region& to = g.regions[r];
      if (old_.regions[r].last == old_.node_count) to.last = g.nodes.size();
      if (to.owner >= 0) to.owner = mapped(to.owner);
      std::vector<std::int32_t> results;
      for (int k = 0; k < old_.regions[r].results; ++k)
        results.push_back(seen_from(old_.result(k, r), device_for_result(r, k)));
      to.first_result = g.add_to_pool(results.data(), static_cast<int>(results.size()));
    }
    for (int a = 0; a < g.arguments.size(); ++a)
      if (g.arguments[a].node >= 0) g.arguments[a].node = mapped(g.arguments[a].node);
    write_clusters();
  }
  [[nodiscard]] int mapped(int id) const { return map_[static_cast<std::size_t>(id)]; }
  /// The new node with the value of an old one on a device.
  [[nodiscard]] int seen_from(int id, int device) const {
    if (device == anywhere || is_there(id, device)) return mapped(id);
    return made_.at({id, device});
  }
  int push(node n, const std::vector<std::int32_t>& inputs, int from, int device, bool copy) {
    n.first_input = g.add_to_pool(inputs.data(), static_cast<int>(inputs.size()));
    n.inputs = static_cast<int>(inputs.size());
    of.push_back(device);
    origin.push_back(from);
    is_copy.push_back(copy);
    return g.nodes.push(n);
  }
  void write_node(int id) {
    const node& n = old_.nodes[id];
    std::vector<std::int32_t> inputs;
    for (int k = 0; k < n.inputs; ++k)
      inputs.push_back(seen_from(old_.input(id, k), device_for_input(id, k)));
    map_[static_cast<std::size_t>(id)] = push(n, inputs, id, p_.at(id), false);
  }
  void write_copies(int id) {
    for (auto c = copies_.lower_bound({id, 0}); c != copies_.end() && c->first.first == id; ++c) {
      const int device = c->first.second;
      node n = old_.nodes[id];
      n.name = n.device = -1;
      int input = mapped(id);
      if (c->second == copy_kind::look) input = seen_from(old_.input(id, 0), device);
      else n.op = &op_info_of<transfer_op>, n.body0 = n.body1 = n.index = -1, n.keepdims = false;
      made_[c->first] = push(n, {static_cast<std::int32_t>(input)}, id, device, true);
    }
  }
  void write_clusters() {
    if (!old_.clustered) return;
    g.cluster_of.resize(g.nodes.size(), -1);
    const auto move = [&](std::int32_t first, std::int32_t count) {
      std::vector<std::int32_t> ids(old_.pool + first, old_.pool + first + count);
      for (std::int32_t& id : ids) id = mapped(id);
      return g.add_to_pool(ids.data(), count);
    };
    for (int c = 0; c < old_.cluster_count; ++c) {
      cluster u = old_.clusters[c];
      if (u.domain >= 0) u.domain = mapped(u.domain);
      if (u.root >= 0) u.root = mapped(u.root);
      u.first = move(u.first, u.nodes);
      u.first_output = move(u.first_output, u.outputs);
      u.first_assumption = g.add_to_pool(old_.pool + u.first_assumption, 2 * u.assumptions);
      g.clusters.push(u);
    }
    for (int id = 0; id < old_.node_count; ++id) g.cluster_of[mapped(id)] = old_.cluster_of[id];
  }

  const sized_graph& s_;
  const graph_view& old_;
  const placement& p_;
  std::map<key, copy_kind> copies_;
  std::map<key, int> made_;
  std::vector<int> map_;
};

}  // namespace planning
}  // namespace calque::detail
