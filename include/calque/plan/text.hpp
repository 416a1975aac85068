// How plans and their errors name things: "f32[64,128]", "named "w" at file.cpp:12".
#pragma once

#include <cstdint>
#include <string>

#include "calque/graph/node.hpp"

namespace calque::detail::planning {

/// "[64,128]"; "[]" for rank 0.
[[nodiscard]] inline std::string extents_text(const std::int64_t* extents, int rank) {
  std::string s = "[";
  for (int i = 0; i < rank; ++i) {
    if (i) s += ',';
    s += std::to_string(extents[i]);
  }
  return s + ']';
}

/// "f32[64,128]".
[[nodiscard]] inline std::string value_text(dtype t, const std::int64_t* extents, int rank) {
  return std::string(name_of(t)) + extents_text(extents, rank);
}

/// ` named "logits" at net.cpp:12`, as far as known.
[[nodiscard]] inline std::string where_text(const graph_view& g, const node& n) {
  std::string s;
  if (n.name >= 0) s += " named \"" + std::string(g.name(n)) + "\"";
  if (n.line > 0 && n.file != nullptr)
    s += " at " + std::string(n.file) + ":" + std::to_string(n.line);
  return s;
}

/// An operation and its operands: "add: a is f32[2,3], b is f32[2,4]"; after the name of the
/// function that is composed of it: "clip: in its minimum a is f32[2,3], b is f32[2,4]".
template <class Extents>
[[nodiscard]] std::string operation_text(const graph_view& g, int id, const Extents& extents_of) {
  const node& n = g.nodes[id];
  std::string s = n.op->name;
  const bool part = n.function != nullptr && s != n.function;
  if (part) s = std::string(n.function) + ": in its " + s;
  for (int k = 0; k < n.inputs; ++k) {
    const int in = g.input(id, k);
    s += k ? ", " : part ? " " : ": ";
    s += static_cast<char>('a' + k % 26);
    s += " is " + value_text(g.nodes[in].type, extents_of(in), g.nodes[in].rank);
  }
  return s;
}

}  // namespace calque::detail::planning
