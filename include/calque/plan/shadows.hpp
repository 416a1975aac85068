// What a plan does so that a call that throws has written nothing that the caller can see.
//
// Checks of indices come before the first effect where they can. A variable that is written while a
// check, or a user's functor, may yet throw is stood for by a block of the arena, which is copied
// back when all checks are done. Part of schedule.hpp, which says when; separate because most plans
// have nothing of it.
#pragma once

#include <algorithm>
#include <vector>

#include "calque/plan/draft_writer.hpp"

namespace calque::detail::planning {

class shadow_writer : protected draft_writer {
 public:
  /// Leaves of the variables that are written while a check may yet throw: a plan where there are
  /// some is made again, with blocks standing for these.
  [[nodiscard]] std::vector<char> written_too_early() const {
    std::vector<char> early(static_cast<std::size_t>(g_.argument_count));
    bool any = false;
    for (const store& w : d_.stores)
      if (w.to.memory < g_.argument_count && w.position < d_.last_check)
        early[static_cast<std::size_t>(w.to.memory)] = 1, any = true;
    if (!any) early.clear();
    return early;
  }

 protected:
  using draft_writer::draft_writer;

  static bool is_effect(op_kind k) {
    return k == op_kind::read || k == op_kind::assign || k == op_kind::cond || k == op_kind::loop;
  }
  static bool may_throw(op_kind k) { return k == op_kind::take || k == op_kind::scatter_add; }
  /// Arguments and what is computed from them alone can be there before the first effect.
  bool needs_no_effect(int id) const {
    const op_kind k = g_.kind(id);
    if (is_effect(k) || k == op_kind::result || k == op_kind::region_arg || k == op_kind::entry)
      return false;
    for (int i = 0; i < g_.nodes[id].inputs; ++i)
      if (!needs_no_effect(g_.input(id, i))) return false;
    return true;
  }
  void find_last_check() {
    for (std::size_t i = 0; i < d_.steps.size(); ++i) {
      const bool kernel = has_throwing_functor(d_.steps[i]);  // then it is not done before the next
      if (d_.steps[i].kind != step_kind::check && !kernel) continue;
      const int loop = loop_between(0, d_.steps[i].region);
      d_.last_check =
          std::max(d_.last_check, loop < 0 ? static_cast<int>(i) + kernel
                                           : d_.loop_end[static_cast<std::size_t>(loop)]);
    }
  }
  bool has_throwing_functor(const step& s) const {
    if (s.kind == step_kind::single) return g_.nodes[s.node].op->may_throw;
    if (s.kind != step_kind::cluster) return false;
    const cluster& c = g_.clusters[s.cluster];
    for (int i = 0; i < c.nodes; ++i)
      if (g_.nodes[g_.pool[c.first + i]].op->may_throw) return true;
    return false;
  }
  bool is_shadowed(int leaf) const {
    return !d_.shadowed.empty() && d_.shadowed[static_cast<std::size_t>(leaf)] != 0;
  }
  /// Copies the values of shadowed variables to the blocks that stand for them.
  void shadow_variables() {
    if (d_.shadowed.empty()) return;
    shadows_.assign(static_cast<std::size_t>(g_.argument_count), -1);
    for (int id = 0; id < g_.node_count; ++id) {
      if (g_.kind(id) != op_kind::variable || !is_shadowed(g_.nodes[id].index)) continue;
      add_entity(id, variable_place(id), 0);
      const int box = add_box(id, id, here());
      d_.memories[static_cast<std::size_t>(box)].fixed = true;  // read and written in turns
      wish(id, 0, row_major_place(box, id));
      shadows_[static_cast<std::size_t>(g_.nodes[id].index)] = box;
    }
  }
  /// Copies them back, when nothing can throw any more.
  void store_shadows() {
    for (int leaf = 0; leaf < static_cast<int>(shadows_.size()); ++leaf) {
      const int box = shadows_[static_cast<std::size_t>(leaf)];
      if (box < 0) continue;
      int last = -1;  // an assignment stands for the value that the block has at the end
      for (int id = 0; id < g_.node_count; ++id)
        if (g_.kind(id) == op_kind::assign && g_.nodes[g_.input(id, 0)].index == leaf) last = id;
      close(box, here() - 1);
      add_entity(last, row_major_place(box, last), here());
      d_.of(last).region = 0;
      wish(last, 0, variable_place(g_.input(last, 0)));
    }
  }
  /// Where reads and assignments of a variable find it.
  place present_place(int handle) const {
    const int leaf = g_.nodes[handle].index;
    return is_shadowed(leaf) ? row_major_place(shadows_[static_cast<std::size_t>(leaf)], handle)
                             : variable_place(handle);
  }

 private:
  std::vector<int> shadows_{};  // by leaf: the block that stands for a variable, or -1
};

}  // namespace calque::detail::planning
