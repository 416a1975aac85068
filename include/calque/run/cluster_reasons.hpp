// Why a cluster ends where it does: who reads its results, and why the reader is another kernel.
//
// For people who read `plan.explain()`; derived from the graph when somebody asks.
#pragma once

#include <string>
#include <vector>

#include "calque/graph/cluster.hpp"

namespace calque::detail {

class cluster_reasons {
 public:
  explicit cluster_reasons(const graph_view& g) : g_(g) {}

  /// "ends at the call's result; at matmul, which has a kernel of its own".
  [[nodiscard]] std::string text(int cluster) const {
    const calque::cluster& c = g_.clusters[cluster];
    std::vector<std::string> reasons;
    for (int k = 0; k < c.outputs; ++k) find(cluster, g_.pool[c.first_output + k], "", reasons);
    std::string s;
    for (const std::string& r : reasons) s += (s.empty() ? "ends at " : "; at ") + r;
    return s;
  }

 private:
  static void note(std::vector<std::string>& reasons, std::string reason) {
    for (const std::string& r : reasons)
      if (r == reason) return;
    reasons.push_back(std::move(reason));
  }
  void find(int cluster, int id, const std::string& layout, std::vector<std::string>& to) const {
    for (int k = 0; k < g_.result_count(); ++k)
      if (g_.result(k) == id) note(to, "a result of the call" + layout);
    for (int r = 1; r < g_.region_count; ++r)
      for (int k = 0; k < g_.regions[r].results; ++k)
        if (g_.result(k, r) == id) note(to, "the end of its branch or loop" + layout);
    for (int i = 0; i < g_.node_count; ++i)
      for (int k = 0; k < g_.nodes[i].inputs; ++k)
        if (g_.input(i, k) == id) {
          reader(cluster, id, i, layout, to);
          break;
        }
  }
  void reader(int cluster, int id, int by, const std::string& layout,
              std::vector<std::string>& to) const {
    const node& n = g_.nodes[by];
    const int d = g_.cluster_of[by];
    if (d == cluster) return;
    if (n.region != g_.nodes[id].region) {
      note(to, "a branch or loop that reads it" + layout);
    } else if (d >= 0) {
      note(to, other(cluster, d) + layout);
    } else if (n.op->kind == op_kind::assign) {
      note(to, "a variable's new value" + layout);
    } else if (n.op->kind == op_kind::cond || n.op->kind == op_kind::loop) {
      note(to, "a branch or loop that starts from it" + layout);
    } else if (is_look(n.op->kind)) {
      find(cluster, by, layout, to);
    } else if (graph_view::computes(n.op->kind)) {
      note(to, name_of_step(by) + ", which has a kernel of its own" + layout);
    } else {
      const bool copied = n.op->kind == op_kind::transfer;
      find(cluster, by, copied ? "" : " through a " + std::string(n.op->name), to);
    }
  }
  std::string name_of_step(int id) const {
    const std::string_view name = g_.name(g_.nodes[id]);
    return std::string(g_.nodes[id].op->name) +
           (name.empty() ? "" : " \"" + std::string(name) + "\"");
  }
  std::string other(int cluster, int d) const {
    const calque::cluster &a = g_.clusters[cluster], &b = g_.clusters[d];
    const std::string who = "cluster " + std::to_string(d);
    if (g_.nodes[g_.pool[a.first]].device != g_.nodes[g_.pool[b.first]].device)
      return who + ", which another guard is for";
    if (a.root >= 0 && b.root >= 0 && reduced_mask(g_, a.root) != reduced_mask(g_, b.root))
      return who + ", which reduces other axes";
    const node &p = g_.nodes[a.domain], &q = g_.nodes[b.domain];
    if (!g_.same_ones(p, q)) return who + ", which has other extents";
    const auto size = [&](const calque::cluster& c) {
      const cluster_inputs in = inputs_of(g_, c);
      return c.nodes + c.outputs + in.body.size() + in.tail.size();
    };
    if (size(a) + size(b) > max_operands) return who + ": one kernel holds no more";
    if (a.root >= 0 && row_axes{&g_, a.domain, reduced_mask(g_, a.root)}.kept() == 0)
      return who + ", which needs what only the whole array gives";
    return who + ", which also waits for a step between the two";
  }

  const graph_view& g_;
};

}  // namespace calque::detail
