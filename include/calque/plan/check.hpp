// Whether every node's operands fit for the real sizes. Throws `shape_error` before anything runs.
//
// Nodes are visited in order, so the first node whose operands do not fit is the one reported, with
// its operands, source line and a remedy.
#pragma once

#include <limits>
#include <string>

#include "calque/plan/sizes.hpp"

namespace calque::detail::planning {

/// Argument `k` of a region, or -1 where no node stands for it.
[[nodiscard]] inline int argument_of(const graph_view& g, const region& body, int k) {
  for (int id = body.first; id < body.last; ++id)
    if (g.kind(id) == op_kind::region_arg && g.nodes[id].index == k &&
        g.nodes[id].region == g.nodes[body.first].region)
      return id;
  return -1;
}

class size_check {
 public:
  explicit size_check(const sized_graph& sizes) : s_(sizes), g_(sizes.g) {}

  void run() const {
    for (int id = 0; id < g_.node_count; ++id)
      if (g_.kind(id) == op_kind::gradient)
        throw value_error("gradient: this graph still holds a gradient that no pass has expanded" +
                          where_text(g_, g_.nodes[id]) + "; run the gradient pass before planning");
    run(0, g_.node_count);
    check_equalities();
  }
  /// What operations need to be equal, also those that passes have dropped.
  void check_equalities() const {
    for (int d = 0; d < g_.dim_count; ++d) check_equal(d);
  }
  /// The nodes [first, last) alone.
  void run(int first, int last) const {
    for (int id = first; id < last; ++id)
      if (!s_.is_dead(g_.nodes[id].region)) check(id);
  }

 private:
  /// Passes rely on equalities whose node may be gone: a matmul that nothing needs still checks.
  void check_equal(int d) const {
    const int other = g_.canonical(d);
    if (s_.dim_value(d) < 0 || s_.dim_value(d) == s_.dim_value(other)) return;
    const auto text = [&](int e) {
      const dim& x = g_.dims[e];
      return (x.kind == dim_kind::argument
                  ? "axis " + std::to_string(x.b) + " of argument " + std::to_string(x.a) + " is "
                  : std::string("an extent computed from the arguments is ")) +
             std::to_string(s_.dim_value(e));
    };
    if (const char* function = g_.dims[d].function)
      throw shape_error(std::string(function) + ": " + text(d) + ", " + text(other) +
                        ", which have to be equal; give operands whose extents are");
    throw shape_error(
        "plan: " + text(d) + ", " + text(other) +
        ", but an operation of the function (a matmul, an assign, a state of a loop, a "
        "branch) needs them to be equal; pass arguments that fit");
  }
  [[noreturn]] void fail(int id, const std::string& cause, const char* remedy) const {
    const auto extents_of = [this](int in) { return s_.extents(in); };
    const std::string text = operation_text(g_, id, extents_of);
    throw shape_error(text + ": " + cause + where_text(g_, g_.nodes[id]) + "; " + remedy);
  }
  static std::string name_of_call(const node& n) { return n.function ? n.function : n.op->name; }
  static std::string differ(std::int64_t a, std::int64_t b) {
    return "extents " + std::to_string(a) + " and " + std::to_string(b);
  }

  void check(int id) const {
    const node& n = g_.nodes[id];
    switch (n.op->kind) {
      case op_kind::map: check_map(id); break;
      case op_kind::reduce: check_reduce(id, n.axis_mask); break;
      case op_kind::arg_reduce: check_reduce(id, n.axis_mask); break;
      case op_kind::sum_to: check_stretched(id, g_.input(id, 0), id); break;
      case op_kind::broadcast_to: check_stretched(id, id, g_.input(id, 0)); break;
      case op_kind::reshape: check_reshape(id); break;
      case op_kind::matmul: check_matmul(id); break;
      case op_kind::slice: check_ranges(id, g_.input(id, 0), id); break;
      case op_kind::insert: check_ranges(id, id, g_.input(id, 1)); break;
      case op_kind::windows: check_windows(id, g_.input(id, 0), id); break;
      case op_kind::overlap_add: check_windows(id, id, g_.input(id, 1)); break;
      case op_kind::concatenate: check_concatenate(id); break;
      case op_kind::scatter_add: check_updates(id); break;
      case op_kind::assign: check_assign(id); break;
      case op_kind::iota: check_iota(id); break;
      case op_kind::cond: check_cond(id); break;
      case op_kind::loop: check_loop(id); break;
      default: break;
    }
    check_count(id);
  }

  /// Extents that exist, are not negative, and whose bytes fit 63 bits.
  void check_count(int id) const {
    const node& n = g_.nodes[id];
    bool empty = false;
    for (int i = 0; i < n.rank; ++i) {
      const std::int64_t e = s_.extents(id)[i];
      if (e < 0)
        fail(id, "extent of axis " + std::to_string(i) + " of the result is negative or unknown",
             "give extents that are 0 or more");
      empty |= e == 0;
    }
    if (empty) return;
    std::int64_t count = 1;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 16;
    for (int i = 0; i < n.rank; ++i)
      if (__builtin_mul_overflow(count, s_.extents(id)[i], &count) || count > most)
        fail(id, "the result " + s_.text(id) + " has more bytes than 2^63 - 1",
             "use smaller extents or split the batch");
  }

  void check_map(int id) const {
    const node& n = g_.nodes[id];
    for (int axis = 0; axis < n.rank; ++axis) {
      std::int64_t seen = 1;
      for (int k = 0; k < n.inputs; ++k) {
        const int in = g_.input(id, k), i = axis - (n.rank - s_.rank(in));
        if (i < 0) continue;
        const std::int64_t e = s_.extents(in)[i];
        if (e == seen || e == 1) continue;
        if (seen != 1)
          fail(id, differ(seen, e) + " of axis " + std::to_string(axis) + " differ (neither is 1)",
               "give the operands equal extents, or extent 1 where one is to be stretched");
        seen = e;
      }
      if (seen != s_.extents(id)[axis])
        fail(id,
             differ(seen, s_.extents(id)[axis]) + " of axis " + std::to_string(axis) +
                 " differ, which " + (n.function ? n.function : "another operation") +
                 " takes as equal",
             "give the operands equal extents");
    }
  }

  void check_reduce(int id, unsigned mask) const {
    const node& n = g_.nodes[id];
    const std::string_view name = n.op->name;
    if (n.op->kind == op_kind::reduce && name != "max" && name != "min") return;
    const int in = g_.input(id, 0);
    std::int64_t kept = 1;
    int empty = -1;
    for (int i = 0; i < s_.rank(in); ++i) {
      if (((mask >> i) & 1u) == 0) kept *= s_.extents(in)[i] != 0;
      else if (s_.extents(in)[i] == 0) empty = i;
    }
    if (empty >= 0 && kept != 0)
      fail(id,
           "axis " + std::to_string(empty) + " has extent 0, and no elements have no " +
               std::string(name),
           "reduce an axis that has elements, or test its extent first");
  }

  /// The extents of `small` can be stretched to those of `big`.
  void check_stretched(int id, int big, int small) const {
    const int lead = s_.rank(big) - s_.rank(small);
    if (lead < 0)
      fail(id, "the result " + s_.text(id) + " has the wrong rank",
           "give as many extents as the larger side has axes");
    for (int i = 0; i < s_.rank(small); ++i) {
      const std::int64_t a = s_.extents(small)[i], b = s_.extents(big)[i + lead];
      if (a == b || a == 1) continue;
      fail(id,
           "the result is " + s_.text(id) + ": " +
               differ(s_.extents(g_.input(id, 0))[small == id ? i + lead : i],
                      s_.extents(id)[small == id ? i : i + lead]) +
               " of axis " + std::to_string(small == id ? i : i + lead) + " differ",
           "only an extent of 1 is stretched: slice or reshape an operand");
    }
  }

  void check_reshape(int id) const {
    const int in = g_.input(id, 0);
    check_count(id);
    const node& n = g_.nodes[id];
    for (int i = 0; n.keepdims && i < n.rank; ++i)
      if (s_.extents(in)[i] != s_.extents(id)[i])
        throw shape_error(std::string(n.function) + ": an operand is " + s_.text(in) + " where " +
                          extents_text(s_.extents(id), n.rank) +
                          " is needed: " + differ(s_.extents(in)[i], s_.extents(id)[i]) +
                          " of axis " + std::to_string(i) + " differ" + where_text(g_, n) +
                          "; give one of these extents: none is stretched");
    if (s_.elements(in) != s_.elements(id))
      fail(id,
           "the result " + extents_text(s_.extents(id), s_.rank(id)) + " has " +
               std::to_string(s_.elements(id)) + " elements, the operand has " +
               std::to_string(s_.elements(in)),
           "give extents with the same product");
  }

  /// The ranges of node `id` keep as much of `whole` as `part` has.
  void check_ranges(int id, int whole, int part) const {
    for (int i = 0; i < s_.rank(id); ++i) {
      if (g_.nodes[id].keepdims) check_widths(id, whole, part, i);
      const std::int64_t have = s_.extents(part)[i],
                         want = s_.range_of(g_.nodes[id].index + i, s_.extents(whole)[i]).count;
      if (s_.extents(whole)[i] >= 0 && have >= 0 && have != want)
        fail(id, differ(want, have) + " of axis " + std::to_string(i) + " differ",
             "give ranges that keep as many elements as the part has");
    }
  }
  /// What is put around `part` along axis `i` of `whole` is not negative.
  void check_widths(int id, int whole, int part, int i) const {
    const std::int64_t before = s_.dim_value(g_.dims[g_.nodes[id].index + i].a);
    const std::int64_t after = s_.extents(whole)[i] - s_.extents(part)[i] - before;
    if (before < 0 || after < 0)
      fail(id, "a width around axis " + std::to_string(i) + " is negative",
           "give widths of 0 or more; cq::slice takes elements away");
  }
  /// Windows fit the last two axes of `whole`; `part` has them.
  void check_windows(int id, int whole, int part) const {
    const int rank = s_.rank(whole);
    const std::int64_t* have = s_.extents(whole) + rank - 2;
    for (int i = 0; i < 2; ++i) {
      const std::int64_t window = s_.dim_value(g_.dims[g_.nodes[id].index + i].a),
                         step = s_.window_step(id, i);
      if (window < 1 || step < 1)
        fail(id,
             "windows of extent " + std::to_string(window) + ", " + std::to_string(step) +
                 " apart along axis " + std::to_string(rank - 2 + i),
             "give a window and a stride of 1 or more");
      if (window > have[i])
        fail(id,
             "the window's extent " + std::to_string(window) + " is larger than extent " +
                 std::to_string(have[i]) + " of axis " + std::to_string(rank - 2 + i) +
                 " of a, padding included",
             "give a smaller window, or more padding");
      if (s_.extents(part)[rank - 2 + i] != (have[i] - window) / step + 1)
        fail(id, "another number of windows", "give as many windows as fit");
    }
    if (g_.kind(id) != op_kind::windows || g_.nodes[id].inputs < 2) return;
    const std::int64_t a = s_.extents(whole)[1], b = s_.extents(g_.input(id, 1))[1];
    if (a != b)
      fail(id, differ(a, b) + " of axis 1 (the channels) differ",
           "give filters of as many channels as the images have");
  }
  /// The updates of a scatter_add have x's extents with the indices' in place of one.
  void check_updates(int id) const {
    const int x = g_.input(id, 0), at = g_.input(id, 1), updates = g_.input(id, 2);
    const int axis = g_.nodes[id].index, between = s_.rank(at);
    for (int i = 0; i < s_.rank(updates); ++i) {
      const std::int64_t want = i < axis             ? s_.extents(x)[i]
                                : i < axis + between ? s_.extents(at)[i - axis]
                                                     : s_.extents(x)[i - between + 1];
      if (want != s_.extents(updates)[i])
        fail(id,
             differ(want, s_.extents(updates)[i]) + " of axis " + std::to_string(i) +
                 " of the updates differ",
             "give updates of the extents that cq::take(a, b, axis) has");
    }
  }
  void check_concatenate(int id) const {
    const node& n = g_.nodes[id];
    const int a = g_.input(id, 0);
    for (int k = 1; k < n.inputs; ++k)
      for (int i = 0; i < n.rank; ++i) {
        const int b = g_.input(id, k);
        if (i == n.index || s_.extents(a)[i] == s_.extents(b)[i]) continue;
        fail(id,
             differ(s_.extents(a)[i], s_.extents(b)[i]) + " of axis " + std::to_string(i) +
                 " differ",
             "operands may differ in the extent of the axis along which they are put together, and "
             "in no other");
      }
  }

  void check_matmul(int id) const {
    const int a = g_.input(id, 0), b = g_.input(id, 1);
    const int p = s_.rank(a), q = s_.rank(b);
    const std::int64_t x = s_.extents(a)[p - 1], y = s_.extents(b)[q - 2];
    const auto axis = [](int i) { return "axis " + std::to_string(i); };
    if (x != y)
      fail(id, "inner extents differ (" + std::to_string(x) + " and " + std::to_string(y) + ")",
           (axis(p - 1) + " of a and " + axis(q - 2) +
            " of b have to be equal; transpose an operand or slice it")
               .c_str());
    for (int i = 3; i <= p && i <= q; ++i) {
      const std::int64_t e = s_.extents(a)[p - i], f = s_.extents(b)[q - i];
      if (e != f && e != 1 && f != 1)
        fail(id, differ(e, f) + " of the leading axes differ (neither is 1)",
             "axes before the last two have to be equal, or 1 where one is to be repeated");
    }
  }

  /// What an index of a narrow type counts to fits the type.
  void check_iota(int id) const {
    const node& n = g_.nodes[id];
    const std::int64_t last = s_.extents(id)[n.index] - 1;
    if (last < 0 || is_floating(n.type) || narrowed(n.type, {0, last}).i == last) return;
    throw dtype_error("arange: " + std::to_string(last) + " does not fit " +
                      std::string(name_of(n.type)) + where_text(g_, n) +
                      "; count in a wider type, or take fewer");
  }

  void check_assign(int id) const {
    const int variable = g_.input(id, 0), v = g_.input(id, 1);
    if (s_.same(variable, v)) return;
    const node& n = g_.nodes[variable];
    const std::string name = n.name < 0 ? std::string() : " \"" + std::string(g_.name(n)) + "\"";
    throw shape_error("assign: variable" + name + " is " + s_.text(variable) +
                      ", its new value is " + s_.text(v) + where_text(g_, g_.nodes[id]) +
                      "; assign a value of the variable's extents");
  }

  void same_slot(int id, const std::string& what, int a, int b) const {
    if (s_.same(a, b)) return;
    const node& n = g_.nodes[id];
    throw shape_error(name_of_call(n) + ": " + what + ": " + s_.text(a) + " and " + s_.text(b) +
                      where_text(g_, n) + "; both have to have the same extents");
  }

  void check_cond(int id) const {
    const node& n = g_.nodes[id];
    const int count = g_.regions[n.body0].results;
    for (int k = 0; k < count && !s_.is_dead(n.body0) && !s_.is_dead(n.body1); ++k)
      same_slot(id, "result " + std::to_string(k) + " differs between the branches",
                g_.result(k, n.body0), g_.result(k, n.body1));
  }

  void check_loop(int id) const {
    const node& n = g_.nodes[id];
    const region& body = g_.regions[n.body0];
    const int carried = n.index, scanned = n.inputs - 1 - carried;
    for (int k = 0; k < carried; ++k) {
      const std::string slot = "state " + std::to_string(k);
      if (const int state = argument_of(g_, body, 1 + k); state >= 0)
        same_slot(id, slot + " differs from its initial value", state, g_.input(id, 1 + k));
      if (!s_.is_dead(n.body0))
        same_slot(id, slot + " changes its extents in a step", g_.input(id, 1 + k),
                  g_.result(k, n.body0));
    }
    if (scanned == 0 && body.results == carried) return;
    std::int64_t steps = 0;
    if (!s_.known(g_.input(id, 0), &steps))
      throw shape_error(name_of_call(n) + ": the number of steps depends on a value" +
                        where_text(g_, n) +
                        ", so the extents of what it scans or stacks are unknown; derive it from "
                        "extents or a literal");
    if (steps < 0) steps = 0;
    for (int k = 0; k < scanned; ++k) {
      const int xs = g_.input(id, 1 + carried + k);
      if (s_.extents(xs)[0] != steps)
        throw shape_error(name_of_call(n) + ": scanned operand " + std::to_string(k) + " is " +
                          s_.text(xs) + ", but the loop has " + std::to_string(steps) + " steps" +
                          where_text(g_, n) + "; axis 0 has to have one element a step");
    }
    for (int r = id + 1; r < g_.node_count; ++r)
      if (g_.kind(r) == op_kind::result && g_.input(r, 0) == id && g_.nodes[r].index >= carried &&
          s_.extents(r)[0] != steps)
        throw shape_error(name_of_call(n) + ": stacked result " +
                          std::to_string(g_.nodes[r].index - carried) + " is " + s_.text(r) +
                          ", but the loop has " + std::to_string(steps) + " steps" +
                          where_text(g_, n) + "; axis 0 has to have one element a step");
  }
  const sized_graph& s_;
  const graph_view& g_;
};

}  // namespace calque::detail::planning
