// What a cluster of kind `rows` may hold, and how its nodes read each other.
//
// Such a cluster has one domain and one set of reduced axes. Its nodes are full (an element for
// each of the domain's), kept (one for each row: reductions and what is computed from them) or
// uniform (rank 0). A kept value is wide (reduced axes are there with extent 1) or narrow (they are
// gone). Reshapes between the two and broadcasts are looked through: they are no nodes of it. What
// is counted from indices is full wherever it can be stretched to the domain, for kernels count
// again for each element. Used by the pass that forms clusters, by lowering, by plans.
#pragma once

#include "calque/graph/leaves.hpp"

namespace calque::detail {

enum class row_form : std::uint8_t { none, uniform, full, wide, narrow };

[[nodiscard]] constexpr bool is_kept(row_form f) {
  return f == row_form::wide || f == row_form::narrow;
}
[[nodiscard]] constexpr bool is_look(op_kind k) {
  return k == op_kind::reshape || k == op_kind::broadcast_to;
}
/// The node that a chain of reshapes and broadcasts looks at.
[[nodiscard]] constexpr int looked_at(const graph_view& g, int id) {
  while (is_look(g.kind(id))) id = g.input(id, 0);
  return id;
}

/// The axes of its input that a node reduces, whatever the sizes: none if it is no reduction. A
/// `sum_to` may sum further axes where its extents are 1: that it does not is an assumption.
[[nodiscard]] constexpr unsigned reduced_mask(const graph_view& g, int id) {
  const node& n = g.nodes[id];
  if (n.op->kind != op_kind::sum_to) return n.axis_mask;
  const node& x = g.input_node(id, 0);
  const int lead = x.rank - n.rank;
  unsigned mask = 0;
  for (int i = 0; i < x.rank; ++i)
    if (i < lead || (g.is_literal(n.dims[i - lead], 1) && !g.is_literal(x.dims[i], 1)))
      mask |= 1u << i;
  return mask;
}
[[nodiscard]] constexpr bool is_reduction(const graph_view& g, int id) {
  const op_kind k = g.kind(id);
  return k == op_kind::reduce || (k == op_kind::sum_to && reduced_mask(g, id) != 0);
}

/// The axes that the rows of a domain lie along.
struct row_axes {
  const graph_view* g = nullptr;
  int domain = -1;
  unsigned mask = 0;

  [[nodiscard]] constexpr const node& over() const { return g->nodes[domain]; }
  [[nodiscard]] constexpr int rank() const { return over().rank; }
  [[nodiscard]] constexpr bool reduced(int axis) const { return ((mask >> axis) & 1u) != 0; }
  [[nodiscard]] constexpr int kept() const {
    int n = 0;
    for (int i = 0; i < rank(); ++i) n += !reduced(i);
    return n;
  }
  /// A narrow value is broadcast along the reduced axes by itself: they are the first ones.
  [[nodiscard]] constexpr bool leading() const { return ((mask + 1) & mask) == 0; }
  /// The domain's axis that axis `i` of a narrow value is.
  [[nodiscard]] constexpr int kept_axis(int i) const {
    int axis = 0;
    while (reduced(axis) || i-- > 0) ++axis;
    return axis;
  }
  /// What a node looks like by its extents. Rank 0 is uniform, also where no axis is kept.
  [[nodiscard]] constexpr row_form form_of(const node& n) const {
    if (n.rank == 0) return row_form::uniform;
    bool full = n.rank == rank(), wide = full, narrow = n.rank == kept();
    for (int i = 0; i < n.rank; ++i) {
      const bool one = g->is_literal(n.dims[i], 1);
      if (full) full = one == is_one(i);
      if (wide) wide = one == (reduced(i) || is_one(i));
      if (narrow) narrow = one == is_one(kept_axis(i));
    }
    return full     ? row_form::full
           : wide   ? row_form::wide
           : narrow ? row_form::narrow
                    : row_form::none;
  }
  /// Whether a node is stretched to the domain by broadcasting, whatever the sizes.
  [[nodiscard]] constexpr bool stretches(const node& n) const {
    const int lead = rank() - n.rank;
    bool fits = lead >= 0;
    for (int i = 0; i < n.rank && fits; ++i)
      fits = g->is_literal(n.dims[i], 1) || g->same_dim(n.dims[i], over().dims[lead + i]);
    return fits;
  }
  /// No reduced axis is known to have one element, so that forms cannot be mistaken.
  [[nodiscard]] constexpr bool distinct() const {
    for (int i = 0; i < rank(); ++i)
      if (reduced(i) && is_one(i)) return false;
    return mask != 0;
  }

 private:
  [[nodiscard]] constexpr bool is_one(int axis) const {
    return g->is_literal(over().dims[axis], 1);
  }
};

/// Some nodes, ascending, as the members of a rows cluster.
class row_set {
 public:
  row_axes axes;
  list<std::int32_t> ids;
  list<row_form> forms;  // by position in `ids`

  /// Whether every node and every reading has a place in such a cluster. `memory.known(id)` may
  /// give a member's form as it was found before, `memory.note(id, form)` gets what is found now.
  template <class Memory>
  constexpr bool is_valid(Memory&& memory) {
    forms.clear();
    if (!axes.distinct()) return false;
    for (int i = 0; i < ids.size(); ++i) {
      const row_form f = memory.known(ids[i]);
      if (f != row_form::none) {
        forms.push(f);
      } else {
        if (!add(ids[i])) return false;
        memory.note(ids[i], forms.back());
      }
    }
    return true;
  }
  constexpr bool is_valid() { return is_valid(no_memory{}); }
  /// Keeps the address of `g`.
  constexpr row_set(const graph_view& g, int domain, unsigned mask) : axes{&g, domain, mask} {}
  constexpr row_set(const graph_view& g, const cluster& c)
      : axes{&g, c.domain, reduced_mask(g, c.root)} {
    ids.reserve(c.nodes);
    for (int i = 0; i < c.nodes; ++i) ids.push(g.pool[c.first + i]);
    (void)is_valid();
  }
  row_set(graph_view&&, int, unsigned) = delete;
  row_set(graph_view&&, const cluster&) = delete;

  /// Position of a node, -1 if it is no member.
  [[nodiscard]] constexpr int find(int id) const {
    int low = 0, high = ids.size();
    while (low < high) {
      const int middle = (low + high) / 2;
      if (ids[middle] < id) low = middle + 1;
      else high = middle;
    }
    return low < ids.size() && ids[low] == id ? low : -1;
  }
  [[nodiscard]] constexpr bool reduces(int id) const { return is_reduction(*axes.g, id); }
  /// The member that input `k` of a member is, seen through looks; or, outside, the node that it is
  /// an operand for.
  [[nodiscard]] constexpr int source(int id, int k) const {
    const graph_view& g = *axes.g;
    const int in = g.input(id, k), seen = looked_at(g, in);
    if (find(seen) >= 0 || g.nodes[seen].rank == 0) return seen;
    int out = in;
    while (g.kind(out) == op_kind::broadcast_to) {
      const int next = g.input(out, 0);
      const row_form f = axes.form_of(g.nodes[next]);
      if (f != row_form::wide && f != row_form::uniform) break;
      out = next;
    }
    return out;
  }
  [[nodiscard]] constexpr row_form form(int id) const { return forms[find(id)]; }
  /// By position, when a member can be computed: a full one in which sweep over the row, a kept one
  /// after how many sweeps.
  [[nodiscard]] constexpr list<std::int32_t> stages() const {
    list<std::int32_t> stage;
    stage.resize(ids.size(), 0);
    for (int i = 0; i < ids.size(); ++i) {
      for (int k = 0; k < axes.g->nodes[ids[i]].inputs; ++k)
        if (const int in = find(source(ids[i], k)); in >= 0 && stage[in] > stage[i])
          stage[i] = stage[in];
      stage[i] += reduces(ids[i]);
    }
    return stage;
  }
  /// Whether a node outside is read once a row by a full member: else it is read element by
  /// element.
  [[nodiscard]] constexpr bool is_row_value(int id) const {
    return axes.form_of(axes.g->nodes[id]) == row_form::wide;
  }

 private:
  struct no_memory {
    static constexpr row_form known(int) { return row_form::none; }
    static constexpr void note(int, row_form) {}
  };
  constexpr bool add(int id) {
    const graph_view& g = *axes.g;
    const node& n = g.nodes[id];
    row_form f = axes.form_of(n);
    if (reduces(id)) {
      if (reduced_mask(g, id) != axes.mask || f == row_form::none || f == row_form::full)
        return false;
      const int in = g.input(id, 0), seen = looked_at(g, in);
      if (axes.form_of(g.nodes[in]) != row_form::full) return false;
      if (find(seen) >= 0 && !leads_to(in, seen)) return false;
      if (f == row_form::uniform) f = row_form::narrow;
      forms.push(f);
      return true;
    }
    if ((f == row_form::none || (f == row_form::narrow && !axes.leading())) && axes.stretches(n) &&
        is_counting(g, id))
      f = row_form::full;
    if (f == row_form::none) return false;
    for (int k = 0; k < n.inputs; ++k) {
      const int in = g.input(id, k), at = find(looked_at(g, in));
      if (at >= 0 && !leads_to(in, ids[at])) return false;
      const bool member_full = at >= 0 && ids[at] == in && forms[at] == row_form::full;
      if (member_full && f != row_form::full) return false;
      const row_form seen = member_full ? row_form::full : axes.form_of(g.nodes[in]);
      const bool member_kept = at >= 0 && is_kept(forms[at]);
      switch (f) {
        case row_form::full:
          if (at >= 0 && seen == row_form::narrow && !axes.leading()) return false;
          if (member_kept && axes.kept() == 0) return false;  // would be a second pass over all
          break;
        case row_form::uniform:
          if (member_kept) {  // no axis is kept
            f = row_form::narrow;
            k = -1;  // read its inputs again as a kept value
          }
          break;
        default:
          if (seen != f && seen != row_form::uniform) return false;
      }
      if (f == row_form::narrow && axes.kept() == 0 && k >= 0 && seen != row_form::uniform)
        return false;
    }
    forms.push(f);
    return true;
  }
  /// Whether the looks from `id` down to member `to` only repeat or drop axes of one element.
  [[nodiscard]] constexpr bool leads_to(int id, int to) const {
    const graph_view& g = *axes.g;
    while (id != to) {
      const int in = g.input(id, 0);
      const row_form f = axes.form_of(g.nodes[id]);
      row_form from = axes.form_of(g.nodes[in]);
      if (f == row_form::none || from == row_form::none) return false;
      if (g.kind(id) == op_kind::broadcast_to) {
        if (from == row_form::narrow && f == row_form::full && !axes.leading()) return false;
      } else if (!same_rows(g.nodes[id], f, g.nodes[in], from)) {
        return false;
      }
      id = in;
    }
    return true;
  }
  [[nodiscard]] constexpr bool same_rows(const node& a, row_form f, const node& b,
                                         row_form h) const {
    if (axes.kept() == 0) return f != row_form::full && h != row_form::full;
    if (!is_kept(f) || !is_kept(h)) return f == h && axes.g->same_extents(a, b);
    for (int i = 0; i < axes.kept(); ++i) {
      const int axis = axes.kept_axis(i);
      const int x = a.dims[f == row_form::wide ? axis : i];
      const int y = b.dims[h == row_form::wide ? axis : i];
      if (!axes.g->same_dim(x, y)) return false;
    }
    return true;
  }
};

}  // namespace calque::detail
