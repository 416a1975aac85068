// A step's geometry: the sizes and strides that its kernel walks, with as few axes as they allow.
//
// Axes of extent 1 go; neighbours that every operand walks as one become one; what an elementwise
// step or a copy writes decides the order of axes. Called once a step when planning.
#pragma once

#include <algorithm>
#include <vector>

#include "calque/backend/backend.hpp"
#include "calque/graph/cluster.hpp"
#include "calque/plan/draft.hpp"

namespace calque::detail {

/// Where an operand's first element lies.
struct operand_base {
  int memory = -1, slice = -1;
  std::int64_t offset = 0;
};

/// The geometry of a step and where its operands lie; `run` is set by the caller.
struct step_layout {
  geometry shape;
  std::vector<operand_layout> operands;  // `shape.operands` is set when both have found their place
  std::vector<operand_base> places;
};

class geometry_builder {
 public:
  geometry_builder(const planning::draft& d, step_layout& out) : d_(d), s_(d.sizes), o_(out) {}

  void elementwise(const std::vector<int>& in, const std::vector<int>& out, int domain) {
    begin(s_.rank(domain), s_.extents(domain));
    for (int id : in) add_broadcast(id, d_.place_of(id), domain);
    for (int id : out) add_broadcast(id, d_.place_of(id), domain);
    o_.shape.inputs = static_cast<int>(in.size());
    o_.shape.outputs = static_cast<int>(out.size());
    o_.shape.kept = o_.shape.rank;
    order_axes();
    finish(false);
  }
  void copy(int id, const planning::place& from, const planning::place& to) {
    begin(s_.rank(id), s_.extents(id));
    add(id, from, from.strides);
    add(id, to, to.strides);
    o_.shape.inputs = o_.shape.outputs = 1;
    o_.shape.kept = o_.shape.rank;
    order_axes();
    finish(false);
  }
  /// A counted index, stored: 0, 1, 2, … along its axis; the others repeat it.
  void iota(int id) { copy(id, d_.counted_place(id), d_.place_of(id)); }
  /// Lines along the axis of the node's mask, which comes last; strides along it are negative for
  /// what runs from the last element on. `start`: an element is left out of its own result.
  void lines(int id, const std::vector<int>& inputs) {
    const node& n = d_.g.nodes[id];
    const int rank = n.rank, axis = __builtin_ctz(n.axis_mask);
    int axes[max_rank]{};
    for (int i = 0, at = 0; i < rank; ++i)
      if (i != axis) axes[at++] = i;
    axes[rank - 1] = axis;
    begin(rank, nullptr);
    geometry& g = o_.shape;
    for (int i = 0; i < rank; ++i) g.extents[i] = s_.extents(id)[axes[i]];
    g.kept = rank - 1;
    const auto add_line = [&](int operand) {
      planning::place p = d_.place_of(operand);
      std::int64_t wide[max_rank]{}, strides[max_rank]{};
      planning::broadcast_strides(s_.rank(operand), s_.extents(operand), p.strides, rank,
                                  s_.extents(id), wide);
      for (int i = 0; i < rank; ++i) strides[i] = wide[axes[i]];
      if (n.reverse && g.extents[rank - 1] > 0) {
        p.offset +=
            (g.extents[rank - 1] - 1) * strides[rank - 1] * size_of(d_.g.nodes[operand].type);
        strides[rank - 1] = -strides[rank - 1];
      }
      add(operand, p, strides);
    };
    for (int operand : inputs) add_line(operand);
    add_line(id);
    g.inputs = static_cast<int>(inputs.size()), g.outputs = 1;
    g.start = n.exclusive;
    finish(true);
  }
  /// Random numbers: each a function of its place in row-major order.
  void random(int id) {
    const planning::place to = d_.place_of(id);
    constexpr std::int64_t still[max_rank]{};
    begin(s_.rank(id), s_.extents(id));
    add(d_.g.input(id, 0), d_.place_of(d_.g.input(id, 0)), still);
    add(id, to, to.strides);
    o_.shape.inputs = o_.shape.outputs = 1;
    o_.shape.kept = o_.shape.rank;
    finish(false);
  }
  /// The indices of node `id`.
  void check(int id, int indices) {
    const planning::place p = d_.place_of(indices);
    begin(s_.rank(indices), s_.extents(indices));
    add(indices, p, p.strides);
    o_.shape.inputs = 1;
    finish(false);
    o_.shape.start = d_.g.nodes[id].index;
    o_.shape.kept_size = s_.extents(d_.g.input(id, 0))[d_.g.nodes[id].index];
  }
  /// take, scatter_add: over the axes that have the indices' in place of one of the whole's.
  void indexed(int id) {
    const bool takes = d_.g.kind(id) == op_kind::take;
    const int at = d_.g.input(id, 1), axis = d_.g.nodes[id].index;
    const int whole = takes ? d_.g.input(id, 0) : id, part = takes ? id : d_.g.input(id, 2);
    const planning::place w = d_.place_of(whole), i = d_.place_of(at), p = d_.place_of(part);
    begin(s_.rank(part), s_.extents(part));
    std::int64_t along[max_rank]{}, by_index[max_rank]{};
    for (int a = 0; a < o_.shape.rank; ++a) {
      if (a < axis) along[a] = w.strides[a];
      else if (a < axis + s_.rank(at)) by_index[a] = i.strides[a - axis];
      else along[a] = w.strides[a - s_.rank(at) + 1];
    }
    if (takes) add(whole, w, along);
    add(at, i, by_index);
    add(part, p, p.strides);
    if (!takes) add(whole, w, along);
    o_.shape.inputs = 2, o_.shape.outputs = 1;
    o_.shape.kept = o_.shape.rank;
    finish(false);
    o_.shape.start = w.strides[axis];
    o_.shape.kept_size = s_.extents(whole)[axis];
  }
  /// Windows, added to what they are windows of: along the windows innermost, for long walks.
  void overlapping(int id) {
    const int part = d_.g.input(id, 1), rank = s_.rank(part), last = rank - 4;
    const planning::place from = d_.place_of(part), to = d_.place_of(id);
    begin(rank, s_.extents(part));
    std::int64_t strides[max_rank]{};
    for (int i = 0; i < rank - 2; ++i) strides[i] = to.strides[i];
    for (int i = last; i < last + 2; ++i) {
      strides[i + 2] = strides[i];
      if (o_.shape.extents[i] > 1) strides[i] *= s_.window_step(id, i - last);
    }
    add(part, from, from.strides);
    add(id, to, strides);
    o_.shape.inputs = o_.shape.outputs = 1;
    o_.shape.kept = o_.shape.rank;
    int axes[max_rank];
    for (int i = 0; i < rank; ++i) axes[i] = i < last ? i : i < last + 2 ? i + 2 : i - 2;
    permute(o_.shape.extents, axes);
    for (operand_layout& l : o_.operands) permute(l.strides, axes);
    finish(false);
  }
  void matmul(int id) {
    const int a = d_.g.input(id, 0), b = d_.g.input(id, 1);
    geometry& g = o_.shape;
    const int leading = s_.rank(id) - 2;
    // the repeating axes first, as if they were all of the step: to be collapsed
    begin(leading, s_.extents(id));
    for (int operand : {a, b, id}) {
      const planning::place p = d_.place_of(operand);
      std::int64_t strides[max_rank]{};
      planning::broadcast_strides(s_.rank(operand) - 2, s_.extents(operand), p.strides, leading,
                                  s_.extents(id), strides);
      add(operand, p, strides);
    }
    g.inputs = 2, g.outputs = 1, g.kept = leading;
    finish(false);
    std::int64_t m = s_.extents(id)[leading];
    const std::int64_t n = s_.extents(id)[leading + 1], k = s_.extents(a)[s_.rank(a) - 1];
    const auto matrix = [&](int operand) {
      return d_.place_of(operand).strides[s_.rank(operand) - 2];
    };
    const int last = g.rank - 1;  // matrices of a that follow each other are one, if b is the same
    if (last >= 0 && o_.operands[1].strides[last] == 0 &&
        o_.operands[0].strides[last] == m * matrix(a) &&
        o_.operands[2].strides[last] == m * matrix(id)) {
      m *= g.extents[last];
      remove(last, true);
    }
    const int repeating = g.rank;
    const bool six = repeating > max_rank - 3;
    const auto make_room = [&](std::int64_t* v, std::int64_t x, std::int64_t y) {
      const std::int64_t sixth = six ? v[max_rank - 3] : 0;
      std::copy_backward(v, v + max_rank - 3, v + max_rank);
      v[0] = x, v[1] = y, v[2] = sixth;
    };
    make_room(g.extents, m, n);
    g.kept_size = six ? g.extents[2] : 1;
    g.extents[2] = k;
    g.rank = 3 + (six ? repeating - 1 : repeating), g.kept = 2;
    g.size = m * n * k;
    int operand = 0;
    for (int of : {a, b, id}) {
      const planning::place p = d_.place_of(of);
      const int r = s_.rank(of);
      operand_layout& l = o_.operands[static_cast<std::size_t>(operand++)];
      make_room(l.strides, p.strides[r - 2], p.strides[r - 1]);
      l.linear = planning::is_row_major(r, s_.extents(of), p.strides);
    }
  }
  /// The product's extents, then what it sums over. The two matrices come after the other inputs.
  void product(int id, const std::vector<int>& body, const std::vector<int>& out) {
    geometry& g = o_.shape;
    const int a = d_.g.input(id, 0), b = d_.g.input(id, 1);
    begin(2, s_.extents(id));
    for (int input : body) add_broadcast(input, d_.place_of(input), id);
    for (int matrix : {a, b}) add(matrix, d_.place_of(matrix), d_.place_of(matrix).strides);
    for (int result : out) add_broadcast(result, d_.place_of(result), id);
    count_operands(body, {a, b}, out);
    count();
    mark_linear();
    g.rank = 3, g.kept = 2;
    g.extents[2] = s_.extents(a)[1];
  }
  /// A reduction `root` over its input's extents, with what its body and tail read and write.
  void reduction(int root, const std::vector<int>& body, const std::vector<int>& tail,
                 const std::vector<int>& out) {
    const int domain = d_.g.input(root, 0);
    const node& n = d_.g.nodes[root];
    int axes[max_rank]{};  // of the domain, by position
    begin_rows(domain, n.op->kind == op_kind::sum_to ? s_.summed_axes(root) : unsigned{n.axis_mask},
               axes);
    const int rank = o_.shape.rank, kept = o_.shape.kept;
    for (int id : body) add_full(id, domain, axes);
    // the result's axes that are not left over from keepdims, in order, are the kept ones
    int result_axis[max_rank]{};
    const bool aligned = n.op->kind == op_kind::sum_to || n.keepdims;
    const int lead = rank - s_.rank(root);
    for (int i = 0; i < kept; ++i) result_axis[i] = aligned ? axes[i] - lead : i;
    const auto add_kept = [&](int id) {
      const planning::place p = d_.place_of(id);
      std::int64_t wide[max_rank]{}, strides[max_rank]{};
      planning::broadcast_strides(s_.rank(id), s_.extents(id), p.strides, s_.rank(root),
                                  s_.extents(root), wide);
      for (int i = 0; i < kept; ++i) strides[i] = result_axis[i] < 0 ? 0 : wide[result_axis[i]];
      add(id, p, strides, true);
    };
    for (int id : tail) add_kept(id);
    for (int id : out) add_kept(id);
    count_operands(body, tail, out);
    if (n.op->kind != op_kind::ordered_reduce) return finish(true);
    // elements are combined in an order that the layout of what is reduced decides, stored or not
    planning::place dense;
    planning::row_major(s_.rank(domain), s_.extents(domain), dense.strides);
    std::int64_t strides[max_rank]{};
    for (int i = 0; i < rank; ++i) strides[i] = dense.strides[axes[i]];
    add(domain, dense, strides);
    finish(true);
    o_.shape.start = o_.shape.kept > 0 && o_.operands.back().strides[o_.shape.kept - 1] == 1;
    o_.operands.pop_back(), o_.places.pop_back(), over_kept_.pop_back();
  }
  /// A rows cluster: what it reads and writes element by element has the domain's axes, what it
  /// reads and writes once a row the kept ones.
  void rows(const row_set& set, const std::vector<int>& body, const std::vector<int>& tail,
            const std::vector<int>& out) {
    int axes[max_rank]{};
    begin_rows(set.axes.domain, set.axes.mask, axes);
    const auto add_kept = [&](int id) {
      const planning::place p = d_.place_of(id);
      std::int64_t strides[max_rank]{};
      for (int i = 0; i < o_.shape.kept && s_.rank(id) > 0; ++i) {
        const int axis = s_.rank(id) == o_.shape.rank ? axes[i] : i;
        strides[i] = s_.extents(id)[axis] == 1 ? 0 : p.strides[axis];
      }
      add(id, p, strides, true);
    };
    for (int id : body) add_full(id, set.axes.domain, axes);
    for (int id : tail) add_kept(id);
    for (int id : out) {
      if (set.form(id) == row_form::full) add_full(id, set.axes.domain, axes);
      else add_kept(id);
    }
    count_operands(body, tail, out);
    finish(true);
  }

 private:
  /// The domain's extents, kept axes first.
  void begin_rows(int domain, unsigned mask, int* axes) {
    int kept = 0, rank = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (int i = 0; i < s_.rank(domain); ++i)
        if (((mask >> i) & 1u) == static_cast<unsigned>(pass)) {
          axes[rank++] = i;
          kept += pass == 0;
        }
    begin(rank, nullptr);
    for (int i = 0; i < rank; ++i) o_.shape.extents[i] = s_.extents(domain)[axes[i]];
    o_.shape.kept = kept;
  }
  void add_full(int id, int domain, const int* axes) {
    const planning::place p = d_.place_of(id);
    std::int64_t wide[max_rank]{}, strides[max_rank]{};
    planning::broadcast_strides(s_.rank(id), s_.extents(id), p.strides, s_.rank(domain),
                                s_.extents(domain), wide);
    for (int i = 0; i < o_.shape.rank; ++i) strides[i] = wide[axes[i]];
    add(id, p, strides);
  }
  void count_operands(const std::vector<int>& body, const std::vector<int>& tail,
                      const std::vector<int>& out) {
    o_.shape.inputs = static_cast<int>(body.size());
    o_.shape.tail_inputs = static_cast<int>(tail.size());
    o_.shape.outputs = static_cast<int>(out.size());
  }
  void begin(int rank, const std::int64_t* extents) {
    o_.shape = {};
    o_.shape.rank = rank;
    if (extents != nullptr) std::copy_n(extents, rank, o_.shape.extents);
  }
  void add(int id, const planning::place& p, const std::int64_t* strides, bool over_kept = false) {
    over_kept_.push_back(over_kept);
    operand_layout l;
    l.type = d_.g.nodes[id].type;
    l.counted = p.memory == d_.index_memory();
    std::copy_n(strides, o_.shape.rank, l.strides);
    o_.operands.push_back(l);
    o_.places.push_back({p.memory, p.slice, p.offset});
  }
  void add_broadcast(int id, const planning::place& p, int domain) {
    std::int64_t strides[max_rank]{};
    planning::broadcast_strides(s_.rank(id), s_.extents(id), p.strides, s_.rank(domain),
                                s_.extents(domain), strides);
    add(id, p, strides);
  }
  void count() {
    geometry& g = o_.shape;
    g.size = planning::element_count(g.rank, g.extents);
    g.kept_size = planning::element_count(g.kept, g.extents);
  }
  /// Widest step of the output first; for equal ones the order stays.
  void order_axes() {
    geometry& g = o_.shape;
    int axes[max_rank];
    for (int i = 0; i < g.rank; ++i) axes[i] = i;
    const auto width = [&](int i) { return std::abs(o_.operands.back().strides[i]); };
    std::stable_sort(axes, axes + g.rank, [&](int a, int b) { return width(a) > width(b); });
    permute(g.extents, axes);
    for (operand_layout& l : o_.operands) permute(l.strides, axes);
  }
  void permute(std::int64_t* values, const int* axes) const {
    std::int64_t old[max_rank];
    std::copy_n(values, max_rank, old);
    for (int i = 0; i < o_.shape.rank; ++i) values[i] = old[axes[i]];
  }
  void finish(bool reduces) {
    geometry& g = o_.shape;
    collapse_empty(0, reduces ? g.kept : g.rank);
    if (reduces) collapse_empty(g.kept, g.rank);
    count();
    for (int i = g.rank - 1; i >= 0; --i)
      if (g.extents[i] == 1) remove(i, i < g.kept);
    for (int i = g.rank - 2; i >= 0; --i)
      if (i + 1 != g.kept && one_walk(i)) {
        g.extents[i + 1] *= g.extents[i];
        remove(i, i < g.kept);
      }
    if (reduces && g.rank == g.kept && g.rank < max_rank) {  // kernels expect a reduced axis
      g.extents[g.rank++] = 1;
      for (operand_layout& l : o_.operands) l.strides[g.rank - 1] = 0;
    }
    mark_linear();
  }
  /// Axes [first, last) without elements become one of extent 0: the others may be of any size.
  void collapse_empty(int first, int last) {
    std::int64_t* const e = o_.shape.extents;
    if (std::find(e + first, e + last, 0) == e + last) return;
    std::fill(e + first, e + last, 1);
    e[last - 1] = 0;
    for (operand_layout& l : o_.operands) std::fill(l.strides + first, l.strides + last, 0);
  }
  /// Walking axis i + 1 to its end leads every operand to the next element of axis i.
  bool one_walk(int i) const {
    const std::int64_t e = o_.shape.extents[i + 1];
    for (const operand_layout& l : o_.operands)
      if (l.strides[i] != l.strides[i + 1] * e) return false;
    return true;
  }
  void remove(int axis, bool of_kept) {
    geometry& g = o_.shape;
    const auto shift = [&](std::int64_t* v) {
      std::copy(v + axis + 1, v + max_rank, v + axis);
      v[max_rank - 1] = 0;
    };
    shift(g.extents);
    for (operand_layout& l : o_.operands) shift(l.strides);
    --g.rank;
    g.kept -= of_kept;
  }
  void mark_linear() {
    const geometry& g = o_.shape;
    for (std::size_t i = 0; i < o_.operands.size(); ++i)
      o_.operands[i].linear = planning::is_row_major(over_kept_[i] ? g.kept : g.rank, g.extents,
                                                     o_.operands[i].strides);
  }

  std::vector<bool> over_kept_;  // by operand
  const planning::draft& d_;
  const planning::sized_graph& s_;
  step_layout& o_;
};

}  // namespace calque::detail
