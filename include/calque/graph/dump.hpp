// A graph as text: plain, DOT and JSON.
//
// The same program gives the same text in every build: order is by id, and lines, files, addresses
// and hashes are left out. Tests keep such texts as golden files; users read them.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "calque/core/range.hpp"
#include "calque/graph/graph.hpp"

namespace calque {
namespace detail {

inline std::string text_of(double v) {
  if (v != v) return "nan";
  char buffer[40];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr};
}
inline std::string text_of(const constant& c, dtype t) {
  if (t == dtype::float32) {
    char buffer[40];
    const auto v = static_cast<float>(c.f);
    if (v != v) return "nan";
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr};
  }
  if (is_floating(t)) return text_of(c.f);
  if (t == dtype::boolean) return c.i ? "true" : "false";
  if (t == dtype::uint64) return std::to_string(static_cast<std::uint64_t>(c.i));
  return std::to_string(c.i);
}

/// A string literal of JSON and of dumps.
inline std::string quoted_text(std::string_view s) {
  constexpr char digits[] = "0123456789abcdef";
  std::string r = "\"";
  for (char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      r += '\\';
      r += c;
    } else if (u < 0x20) {
      r += "\\u00";
      r += digits[u >> 4];
      r += digits[u & 15];
    } else {
      r += c;
    }
  }
  return r + '"';
}

/// A label of DOT, which has no escapes for control characters but the end of a line.
inline std::string label_text(std::string_view s) {
  std::string r = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    if (c == '\n') r += "\\n";
    else r += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return r + '"';
}

class graph_text {
 public:
  explicit graph_text(const graph_view& g) : g_(g) {}

  [[nodiscard]] std::string plain() const {
    std::string s = "graph: " + std::to_string(g_.node_count) + " nodes, " +
                    std::to_string(g_.argument_count) + " arguments, " +
                    std::to_string(g_.result_count()) + " results\n";
    for (int d = 0; d < g_.dim_count; ++d)
      if (g_.canonical(d) == d && g_.dims[d].kind != dim_kind::literal)
        s += "  " + extent(d) + " = " + definition(d) + '\n';
    std::string indent;
    list<std::int32_t> open;
    for (int id = 0; id <= g_.node_count; ++id) {
      while (!open.empty() && g_.regions[open.back()].last == id) {
        s += indent + "yield" +
             ids(g_.pool + g_.regions[open.back()].first_result, g_.regions[open.back()].results) +
             '\n';
        open.pop();
        indent.resize(indent.size() - 2);
      }
      if (id == g_.node_count) break;
      const node& n = g_.nodes[id];
      if (id > 0 && n.op->kind == op_kind::entry) {
        s += indent + "region " + std::to_string(n.region) + " of " +
             reference(g_.regions[n.region].owner) + ":\n";
        open.push(n.region);
        indent += "  ";
      }
      s += indent + reference(id) + " = " + operation(n) + ids(g_.inputs(n), n.inputs);
      if (n.name >= 0) s += "  " + quoted_text(g_.name(n));
      s += '\n';
    }
    s += "return" + ids(g_.pool + g_.regions[0].first_result, g_.regions[0].results) + '\n';
    for (int c = 0; c < g_.cluster_count; ++c) s += cluster_line(c) + '\n';
    return s;
  }

  [[nodiscard]] std::string dot() const {
    std::string s = "digraph calque {\n  node [shape=box];\n";
    list<std::int32_t> open;
    for (int id = 0; id <= g_.node_count; ++id) {
      for (; !open.empty() && g_.regions[open.back()].last == id; open.pop()) s += "  }\n";
      if (id == g_.node_count) break;
      const node& n = g_.nodes[id];
      if (id > 0 && n.op->kind == op_kind::entry) {
        const std::string r = std::to_string(n.region);
        s += "  subgraph cluster_region_" + r + " {\n  label=\"region " + r + " of " +
             reference(g_.regions[n.region].owner) + "\";\n";
        open.push(n.region);
      }
      std::string label = reference(id) + " = " + operation(n);
      if (n.name >= 0) label += "  " + std::string(g_.name(n));
      s += "  n" + std::to_string(id) + " [label=" + label_text(label) + "];\n";
    }
    for (int id = 0; id < g_.node_count; ++id) {
      const node& n = g_.nodes[id];
      for (int k = 0; k < n.inputs; ++k)
        s += "  n" + std::to_string(g_.input(id, k)) + " -> n" + std::to_string(id) +
             (orders(n, k) ? " [style=dotted];\n" : ";\n");
      if (n.body0 >= 0) s += yields(n.body0, id);
      if (n.body1 >= 0) s += yields(n.body1, id);
    }
    for (int k = 0; k < g_.result_count(); ++k) {
      const std::string r = std::to_string(k);
      s += "  r" + r + " [label=\"result " + r + "\", shape=ellipse];\n  n" +
           std::to_string(g_.result(k)) + " -> r" + r + ";\n";
    }
    return s + "}\n";
  }

  [[nodiscard]] std::string json() const {
    std::string s = "{\"extents\": [";
    for (int d = 0; d < g_.dim_count; ++d)
      s += std::string(d ? ", " : "") +
           quoted_text(g_.canonical(d) == d ? definition(d) : extent(d));
    s += "],\n\"nodes\": [";
    for (int id = 0; id < g_.node_count; ++id) {
      const node& n = g_.nodes[id];
      s += std::string(id ? ",\n" : "\n") + "  {\"id\": " + std::to_string(id) +
           ", \"op\": " + quoted_text(n.op->name) + ", \"type\": " + quoted_text(name_of(n.type)) +
           ", \"extents\": [";
      for (int i = 0; i < n.rank; ++i) s += (i ? ", " : "") + quoted_text(extent(n.dims[i]));
      s += "], \"inputs\": " + numbers(g_.inputs(n), n.inputs);
      if (const std::string a = attributes(n); !a.empty())
        s += ", \"attributes\": " + quoted_text(a);
      if (g_.cluster_of && g_.cluster_of[id] >= 0)
        s += ", \"cluster\": " + std::to_string(g_.cluster_of[id]);
      if (n.name >= 0) s += ", \"name\": " + quoted_text(g_.name(n));
      s += ", \"region\": " + std::to_string(n.region) + "}";
    }
    s += "],\n\"regions\": [";
    for (int r = 0; r < g_.region_count; ++r) {
      const region& e = g_.regions[r];
      s += std::string(r ? ",\n" : "\n") + "  {\"owner\": " + std::to_string(e.owner) +
           ", \"parent\": " + std::to_string(e.parent) + ", \"first\": " + std::to_string(e.first) +
           ", \"last\": " + std::to_string(e.last) +
           ", \"results\": " + numbers(g_.pool + e.first_result, e.results) + "}";
    }
    return s + "]}\n";
  }

 private:
  static std::string reference(int id) { return "%" + std::to_string(id); }
  static std::string ids(const std::int32_t* p, int count) {
    std::string s;
    for (int i = 0; i < count; ++i) s += " " + reference(p[i]);
    return s;
  }
  static std::string numbers(const std::int32_t* p, int count) {
    std::string s = "[";
    for (int i = 0; i < count; ++i) s += (i ? ", " : "") + std::to_string(p[i]);
    return s + "]";
  }
  static bool orders(const node& n, int k) {
    return (n.op->kind == op_kind::read && k == 1) || (n.op->kind == op_kind::assign && k == 2);
  }

  /// "3" for a literal, else "d7": the earliest extent that it is proven equal to.
  [[nodiscard]] std::string extent(int d) const {
    d = g_.canonical(d);
    if (g_.dims[d].kind == dim_kind::literal)
      return g_.dims[d].value == range::open ? "open" : std::to_string(g_.dims[d].value);
    return "d" + std::to_string(d);
  }
  [[nodiscard]] std::string definition(int d) const {
    const dim& e = g_.dims[d];
    const auto with = [&](const char* sign) { return extent(e.a) + sign + extent(e.b); };
    switch (e.kind) {
      case dim_kind::literal: return std::to_string(e.value);
      case dim_kind::argument:
        return "axis " + std::to_string(e.b) + " of argument " + std::to_string(e.a);
      case dim_kind::broadcast: return "broadcast(" + with(", ") + ")";
      case dim_kind::add: return with(" + ");
      case dim_kind::sub: return with(" - ");
      case dim_kind::mul: return with(" * ");
      case dim_kind::div: return with(" / ");
      case dim_kind::maximum: return "maximum(" + with(", ") + ")";
      case dim_kind::range: return "range(" + with(", ") + ", " + std::to_string(e.value) + ")";
      case dim_kind::count: return "count(" + with(", ") + ")";
    }
    return {};
  }

  /// "add f32[d0,d1]" with the attributes of its kind.
  [[nodiscard]] std::string operation(const node& n) const {
    std::string s = n.op->name;
    if (n.type != dtype::none) {
      s += " " + std::string(name_of(n.type)) + "[";
      for (int i = 0; i < n.rank; ++i) s += (i ? "," : "") + extent(n.dims[i]);
      s += "]";
    }
    if (const std::string a = attributes(n); !a.empty()) s += " " + a;
    return s;
  }
  [[nodiscard]] std::string attributes(const node& n) const {
    std::string s;
    switch (n.op->kind) {
      case op_kind::constant: return text_of(n.value, n.type);
      case op_kind::extent: return extent(n.index);
      case op_kind::iota:
      case op_kind::take:
      case op_kind::scatter_add:
      case op_kind::concatenate: return "axis " + std::to_string(n.index);
      case op_kind::windows:
      case op_kind::overlap_add: return "(" + extent(n.index) + "," + extent(n.index + 1) + ")";
      case op_kind::slice:
      case op_kind::insert:
        for (int i = 0; i < n.rank; ++i) s += (i ? "," : "(") + extent(n.index + i);
        return s + ")";
      case op_kind::input:
      case op_kind::scalar:
      case op_kind::variable: return "argument " + std::to_string(n.index);
      case op_kind::region_arg:
      case op_kind::result: return "#" + std::to_string(n.index);
      case op_kind::transpose:
        for (int i = 0; i < n.rank; ++i) s += (i ? "," : "(") + std::to_string(n.perm[i]);
        return s.empty() ? "()" : s + ")";
      case op_kind::reduce:
      case op_kind::ordered_reduce:
      case op_kind::along_axis:
      case op_kind::arg_reduce:
        for (int i = 0; i < max_rank; ++i)
          if ((n.axis_mask >> i) & 1) s += (s.empty() ? "axes(" : ",") + std::to_string(i);
        s = s.empty() ? "axes()" : s + ")";
        if (n.keepdims) s += " keepdims";
        if (n.exclusive) s += " exclusive";
        return n.reverse ? s + " reversed" : s;
      case op_kind::cond:
        return "then region " + std::to_string(n.body0) + " else region " +
               std::to_string(n.body1) + " if";
      case op_kind::loop:
        return "region " + std::to_string(n.body0) + " carries " + std::to_string(n.index) +
               (n.reverse ? " reversed" : "");
      default: return s;
    }
  }
  [[nodiscard]] std::string yields(int region, int owner) const {
    std::string s;
    for (int k = 0; k < g_.regions[region].results; ++k)
      s += "  n" + std::to_string(g_.result(k, region)) + " -> n" + std::to_string(owner) +
           " [style=dashed];\n";
    return s;
  }
  [[nodiscard]] std::string cluster_line(int i) const {
    const cluster& c = g_.clusters[i];
    std::string s = "cluster " + std::to_string(i) +
                    (c.kind == cluster_kind::map       ? ": map over "
                     : c.kind == cluster_kind::rows    ? ": rows of "
                     : c.kind == cluster_kind::product ? ": product over "
                                                       : ": reduce over ") +
                    reference(c.domain);
    if (c.root >= 0) s += " root " + reference(c.root);
    s += ":" + ids(g_.pool + c.first, c.nodes) + " ->" + ids(g_.pool + c.first_output, c.outputs);
    for (int k = 0; k < c.assumptions; ++k)
      s += (k ? ", " : " if ") + extent(g_.pool[c.first_assumption + 2 * k]) +
           " == " + extent(g_.pool[c.first_assumption + 2 * k + 1]);
    return s;
  }

  graph_view g_;
};

}  // namespace detail

/// One line a node: `%7 = add f32[d0,3] %3 %5  "logits"`. Regions are indented before their owner;
/// `d0` is an extent defined at the top, or proven equal to it.
[[nodiscard]] inline std::string dump(const graph_view& g) { return detail::graph_text(g).plain(); }

/// For Graphviz. Dotted edges order effects, dashed ones lead from a region's results to its owner.
[[nodiscard]] inline std::string dot(const graph_view& g) { return detail::graph_text(g).dot(); }

/// One object: the extents, the nodes in order and the regions.
[[nodiscard]] inline std::string json(const graph_view& g) { return detail::graph_text(g).json(); }

}  // namespace calque
