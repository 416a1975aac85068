// A plan as text: dump, Graphviz, JSON, and an explanation of every step.
//
// Deterministic and free of pointers; only `explain` names source lines. Made from the plan's
// tables when somebody asks, so planning pays nothing for it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calque/graph/dump.hpp"
#include "calque/plan/text.hpp"
#include "calque/run/cluster_reasons.hpp"
#include "calque/run/plan.hpp"

namespace calque {
namespace detail {

class plan_text {
 public:
  explicit plan_text(const plan& p) : p_{p}, g_(p_.graph()) {}

  std::string dump() const {
    std::string s = header() + "\n";
    for_each([&](int i, const plan_step& t, const step_note& n) {
      s += indent(n) + (t.action == plan_action::launch ? std::to_string(i) + " " : "") +
           title(t, n);
      const std::string sep[] = {" <- ", ", "};
      const int in = inputs(t);
      for (int k = 0; k < in; ++k) s += sep[k > 0] + operand(t, k);
      for (int k = in; k < shown(t); ++k) s += (k == in ? " -> " : ", ") + operand(t, k);
      s += "\n";
    });
    return s;
  }
  std::string explain() const {
    std::string s = header() + "\n";
    for_each([&](int i, const plan_step& t, const step_note& n) {
      s += indent(n) + (t.action == plan_action::launch ? std::to_string(i) + " " : "") +
           title(t, n);
      if (!p_.devices().empty() && n.role != step_role::transfer)
        s += " on " + device_name_of(t.device);
      if (t.action == plan_action::launch) {
        std::int64_t read = 0, written = 0;
        for (int k = 0; k < t.operands; ++k) (k < inputs(t) ? read : written) += touched(t, n, k);
        s += ": reads " + std::to_string(read) + " B";
        if (t.shape->outputs > 0)
          s += ", writes " + std::to_string(written) + " B to " + address(t, t.operands - 1);
        if (t.operands > 0 && t.shape->operands[t.operands - 1].streamed) s += " past the caches";
        if (t.shape->threads > 1) s += ", by " + std::to_string(t.shape->threads) + " threads";
        if (n.first >= 0)
          s += ", lives in steps " + std::to_string(n.first) + " to " + std::to_string(n.last);
        if (t.scratch >= 0)
          s += ", scratch at " + (t.device > 0 ? device_name_of(t.device) : std::string("arena")) +
               "+" + std::to_string(t.scratch);
        s += "; " + reason(n);
      }
      s += planning::where_text(g_, g_.nodes[n.node]) + "\n";
    });
    return s;
  }
  std::string json() const {
    std::string s = "{\"arguments\":" + std::to_string(p_.leaves()) + ",\"results\":[";
    for (int k = 0; k < p_.p.result_count(); ++k) {
      s.append(k ? ",{\"type\":\"" : "{\"type\":\"").append(name_of(p_.p.result_type(k)));
      s += "\",\"extents\":" + planning::extents_text(p_.p.result_extents(k), p_.p.result_rank(k)) +
           "}";
    }
    s += "],\"arena\":" + std::to_string(p_.p.arena_bytes().count()) +
         ",\"peak\":" + std::to_string(p_.p.peak_bytes().count()) + ",\"steps\":[";
    bool first = true;
    for_each([&](int i, const plan_step& t, const step_note& n) {
      s += first ? "\n" : ",\n";
      first = false;
      s += "{\"step\":" + std::to_string(i) + ",\"name\":\"" + title(t, n) +
           "\",\"depth\":" + std::to_string(n.depth);
      if (t.action != plan_action::launch) {
        s += ",\"target\":" + std::to_string(t.target) + "}";
        return;
      }
      for (int side = 0; side < 2; ++side) {
        s += side == 0 ? ",\"inputs\":[" : ",\"outputs\":[";
        const int from = side == 0 ? 0 : inputs(t), to = side == 0 ? inputs(t) : t.operands;
        for (int k = from; k < to; ++k) s += (k > from ? ",\"" : "\"") + operand(t, k) + "\"";
        s += "]";
      }
      s += "}";
    });
    return s + "]}\n";
  }
  std::string dot() const {
    std::string s = "digraph plan {\n  rankdir=TB;\n  node [shape=box];\n";
    writers last;
    std::vector<block> open;
    const auto edge = [&](int from, const std::string& address, const std::string& to,
                          const char* style = "") {
      s += "  " + (from < 0 ? "\"" + address + "\"" : "s" + std::to_string(from)) + " -> " + to +
           style + ";\n";
    };
    for_each([&](int i, const plan_step& t, const step_note& n) {
      close_conds(open, last, i);
      const std::string me = "s" + std::to_string(i);
      s += "  " + me + " [label=" + label_text(title(t, n)) +
           (t.action == plan_action::launch ? "" : ", shape=diamond") + "];\n";
      for (int k = first_read(t); k < last_read(t); ++k) {
        const std::string from = address(t, k);
        const auto w = last.find(from);
        const std::set<int> who = w == last.end() ? std::set<int>{-1} : w->second;
        for (int step : who) edge(step, from, me);
        for (block& b : open)  // a loop's step also reads what the step before it wrote
          if (b.loop && *who.begin() < b.first) b.read.insert({from, i});
      }
      for (int k = inputs(t); k < shown(t); ++k) last[address(t, k)] = {i};
      switch (n.role) {
        case step_role::branch: open.push_back({.first = i, .other = last}); break;
        case step_role::otherwise:
          std::swap(last, open.back().other);
          open.back().join = t.target;
          break;
        case step_role::loop:
          open.push_back({.first = i, .loop = true, .other = last});
          last[address(t, 0)] = {i};  // the number of the step
          break;
        case step_role::next: {
          const block b = std::move(open.back());
          open.pop_back();
          for (const auto& [where, who] : b.read)
            if (const auto w = last.find(where); w != last.end())
              for (int from : w->second)
                if (from > b.first) edge(from, where, "s" + std::to_string(who), " [style=dashed]");
          if (t.count <= 0) merge(last, b.other);  // there may be no step
          break;
        }
        default: break;
      }
    });
    close_conds(open, last, static_cast<int>(p_.steps().size()));
    for (const auto& [where, who] : last)
      if (where.starts_with("out") || where.starts_with("arg"))
        for (int step : who)
          if (step >= 0) edge(step, where, "\"" + where + "\"");
    return s + "}\n";
  }

 private:
  /// By address: the steps that may have written it; -1: none of them.
  using writers = std::map<std::string, std::set<int>>;
  /// A cond or a loop whose end is yet to come.
  struct block {
    int first = 0;  // its step
    int join = -1;  // conds, from their else on: the step after them
    bool loop = false;
    writers other{};  // before it; from a cond's else on: after its first branch
    std::set<std::pair<std::string, int>> read{};  // loops: what comes from before, and its reader
  };
  static void merge(writers& to, const writers& from) {
    for (auto& [where, who] : to)
      if (!from.contains(where)) who.insert(-1);
    for (const auto& [where, who] : from) {
      if (!to.contains(where)) to[where] = {-1};
      to[where].insert(who.begin(), who.end());
    }
  }
  static void close_conds(std::vector<block>& open, writers& last, int step) {
    for (; !open.empty() && open.back().join == step; open.pop_back())
      merge(last, open.back().other);
  }
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < p_.steps().size(); ++i)
      f(static_cast<int>(i), p_.steps()[i], p_.notes()[i]);
  }
  std::string header() const {
    return "plan: " + std::to_string(p_.leaves()) + " arguments, " +
           std::to_string(p_.p.result_count()) + " results, " + std::to_string(p_.p.steps()) +
           " kernels, arena " + std::to_string(p_.p.arena_bytes().count()) + " B, peak " +
           std::to_string(p_.p.peak_bytes().count()) + " B" + peaks_elsewhere();
  }
  /// "; peak on a0 64 B"
  std::string peaks_elsewhere() const {
    std::string s;
    for (const auto& d : p_.devices())
      s.append("; peak on ")
          .append(d->where.get()->name)
          .append(" ")
          .append(std::to_string(p_.p.peak_bytes(device(d->where)).count()))
          .append(" B");
    return s;
  }
  static std::string indent(const step_note& n) {
    return std::string(2 + 2 * static_cast<std::size_t>(n.depth), ' ');
  }
  const operand_address& at(const plan_step& t, int k) const {
    return p_.operands()[static_cast<std::size_t>(t.first_operand + k)];
  }
  static int inputs(const plan_step& t) {
    return t.action == plan_action::launch   ? t.shape->operand_count() - t.shape->outputs
           : t.action == plan_action::branch ? 1
                                             : 0;
  }
  /// Operands that a step reads: all inputs, or a loop's number of steps where it is a value.
  static int first_read(const plan_step& t) { return t.action == plan_action::loop ? 1 : 0; }
  static int last_read(const plan_step& t) {
    return t.action == plan_action::loop && t.count < 0 ? 2 : inputs(t);
  }
  static int shown(const plan_step& t) {
    return t.action == plan_action::launch ? t.operands : inputs(t);
  }
  static std::string numbered(std::string prefix, std::int64_t n) {
    return std::move(prefix.append(std::to_string(n)));
  }
  std::string address(const plan_step& t, int k) const {
    const operand_address& a = at(t, k);
    const int results = p_.p.result_count(), leaves = p_.leaves();
    if (a.slot < leaves) return numbered("arg", a.slot);
    if (a.slot < leaves + results) return numbered("out", a.slot - leaves);
    if (a.slot == leaves + results) return numbered("constant+", a.offset);
    if (a.slot == leaves + results + 1) return a.offset ? numbered("index+", a.offset) : "index";
    const int arena = leaves + results + 2, devices = static_cast<int>(p_.devices().size());
    if (a.slot == arena) return numbered("arena+", a.offset);
    if (a.slot <= arena + devices)
      return numbered(p_.device_at(a.slot - arena)->name + "+", a.offset);
    return numbered("slice", a.slot - arena - devices - 1);
  }
  std::string operand(const plan_step& t, int k) const {
    std::string s = address(t, k);
    if (t.shape == nullptr) return s;
    const operand_layout& l = t.shape->operands[k];
    s += ":" + std::string(name_of(l.type));
    if (l.streamed) s += " past the caches";
    if (!l.linear) s += " strides " + planning::extents_text(l.strides, t.shape->rank);
    return s;
  }
  /// Bytes of the elements that a step reads or writes through operand `k`.
  std::int64_t touched(const plan_step& t, const step_note& n, int k) const {
    const operand_layout& l = t.shape->operands[k];
    if (l.counted) return 0;
    std::int64_t bytes = size_of(l.type);
    if (n.role == step_role::kernel && n.cluster < 0 && g_.kind(n.node) == op_kind::matmul) {
      const std::int64_t* e = t.shape->extents;  // m, n, k
      for (int i = 3; i < t.shape->rank; ++i) bytes *= l.strides[i] != 0 ? e[i] : 1;
      return bytes * (k == 1 ? e[2] : e[0]) * (k == 0 ? e[2] : e[1]);
    }
    if (n.cluster >= 0 && g_.clusters[n.cluster].kind == cluster_kind::product &&
        k >= t.shape->inputs && k < t.shape->inputs + 2)
      return bytes * t.shape->extents[2] * t.shape->extents[k - t.shape->inputs];
    for (int i = 0; i < t.shape->rank; ++i)  // a reduction's results have no strides along its axes
      if (l.strides[i] != 0) bytes *= t.shape->extents[i];
    return bytes;
  }
  std::string title(const plan_step& t, const step_note& n) const {
    const node& x = g_.nodes[n.node];
    switch (n.role) {
      case step_role::branch: return "cond";
      case step_role::otherwise: return "else";
      case step_role::next: return "next";
      case step_role::loop:
        return "loop" + (t.count >= 0 ? " " + std::to_string(t.count) : std::string()) +
               (t.reverse ? " reversed" : "");
      case step_role::transfer:
        return "transfer " + device_name_of(t.source) + " to " + device_name_of(t.device) + " " +
               shape_text(t);
      case step_role::reshape: return "copy " + shape_text(t);
      case step_role::store: return "copy " + shape_text(t);
      case step_role::snapshot: return "copy " + shape_text(t);
      case step_role::check:
        return "check indices of " + std::string(x.op->name) + " " + shape_text(t);
      default: break;
    }
    std::string s;
    if (n.cluster < 0) {
      s = x.op->name;
    } else {
      const cluster& c = g_.clusters[n.cluster];
      constexpr int most = 8;
      for (int i = 0; i < c.nodes && i < most; ++i)
        s += (i ? "." : "") + std::string(g_.nodes[g_.pool[c.first + i]].op->name);
      if (c.nodes > most) s += "… (" + std::to_string(c.nodes) + " nodes)";
    }
    return s + " " + shape_text(t);
  }
  std::string device_name_of(int number) const {
    const device_entry* const d = number < 0 ? nullptr : p_.device_at(number);
    return d == nullptr ? "cpu:0" : d->name;
  }
  static std::string shape_text(const plan_step& t) {
    std::string s = planning::extents_text(t.shape->extents, t.shape->rank);
    if (t.shape->kept < t.shape->rank) s += " keeps " + std::to_string(t.shape->kept);
    return s;
  }
  std::string reason(const step_note& n) const {
    const node& x = g_.nodes[n.node];
    switch (n.role) {
      case step_role::reshape: return "strides cannot express this reshape";
      case step_role::transfer: return "who reads it is on another device";
      case step_role::store: return "its value could not be computed where it is wanted";
      case step_role::check: return "an index outside its axis throws before anything is written";
      case step_role::snapshot: return "its memory is overwritten before its last reading";
      default: break;
    }
    if (n.cluster >= 0) {
      const cluster& c = g_.clusters[n.cluster];
      return "cluster of " + std::to_string(c.nodes) +
             (c.kind == cluster_kind::reduce && g_.kind(c.root) == op_kind::along_axis
                  ? " into a running reduction"
              : c.kind == cluster_kind::reduce  ? " around a reduction"
              : c.kind == cluster_kind::rows    ? " over the rows of one domain"
              : c.kind == cluster_kind::product ? " around a product"
                                                : "") +
             "; " + cluster_reasons(g_).text(n.cluster);
    }
    if (x.op->kind != op_kind::map && x.op->kind != op_kind::reduce) return "a kernel of its own";
    if (g_.cluster_of == nullptr) return "this pass level forms no clusters";
    if (g_.cluster_of[n.node] >= 0) return "extents that its cluster takes as equal differ here";
    return "belongs to no cluster";
  }

  plan_access p_;
  const graph_view& g_;
};

}  // namespace detail

#if CALQUE_DEFINES_ONCE()
CALQUE_ONCE std::string plan::dump() const { return detail::plan_text(*this).dump(); }
CALQUE_ONCE std::string plan::dot() const { return detail::plan_text(*this).dot(); }
CALQUE_ONCE std::string plan::json() const { return detail::plan_text(*this).json(); }
CALQUE_ONCE std::string plan::explain() const { return detail::plan_text(*this).explain(); }
#endif

}  // namespace calque
