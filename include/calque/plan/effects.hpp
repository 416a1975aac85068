// Which variables a call reads before it has written them, and which it writes.
#pragma once

#include <vector>

#include "calque/plan/overlap.hpp"

namespace calque::detail::planning {

/// Follows the regions in order; `assigned` are the leaves that every path so far has written.
class variable_flow {
 public:
  variable_flow(const graph_view& g, std::vector<unsigned char>& use) : g_(g), use_(use) {}

  void run(int region, std::vector<char>& assigned) {
    const struct region& r = g_.regions[region];
    for (int id = r.first; id < r.last; ++id) {
      const node& n = g_.nodes[id];
      if (n.region != region) continue;
      if (n.op->kind == op_kind::read && !at(assigned, id)) use_[leaf_of(id)] |= 1;
      if (n.op->kind == op_kind::assign) at(assigned, id) = 1;
      if (n.body0 < 0) continue;
      std::vector<char> first = assigned;
      run(n.body0, first);
      if (n.body1 < 0) continue;  // a loop may have no step: it writes nothing for sure
      std::vector<char> second = assigned;
      run(n.body1, second);
      for (std::size_t i = 0; i < assigned.size(); ++i) assigned[i] = first[i] && second[i];
    }
  }

 private:
  std::size_t leaf_of(int id) const {
    return static_cast<std::size_t>(g_.nodes[g_.input(id, 0)].index);
  }
  char& at(std::vector<char>& v, int id) const { return v[leaf_of(id)]; }

  const graph_view& g_;
  std::vector<unsigned char>& use_;
};

/// By leaf: bit 0 if the variable's value before the call may be read, bit 1 if it may be written.
[[nodiscard]] inline std::vector<unsigned char> variable_use(const graph_view& g,
                                                             const graph_facts& facts) {
  std::vector<unsigned char> use(static_cast<std::size_t>(g.argument_count));
  for (int w : facts.written) use[static_cast<std::size_t>(w)] |= 2;
  std::vector<char> assigned(static_cast<std::size_t>(g.argument_count));
  variable_flow(g, use).run(0, assigned);
  return use;
}

}  // namespace calque::detail::planning
