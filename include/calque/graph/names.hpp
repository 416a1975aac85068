// Keeps the names of a graph's nodes apart, by suffixes `_1`, `_2`, ….
#pragma once

#include "calque/graph/graph.hpp"

namespace calque::detail {

/// 0 if no node has the name at `start`, else one more than the largest suffix in use with it.
constexpr int next_suffix(const graph& g, int start) {
  int next = 0;
  for (const node& n : g.nodes) {
    if (n.name < 0) continue;
    int i = 0;
    while (g.chars[n.name + i] == g.chars[start + i] && g.chars[start + i] != '\0') ++i;
    if (g.chars[start + i] != '\0') continue;
    int used = 0;
    if (g.chars[n.name + i] == '_') {
      for (++i; g.chars[n.name + i] >= '0' && g.chars[n.name + i] <= '9' && used < 1'000'000; ++i)
        used = 10 * used + (g.chars[n.name + i] - '0');
    }
    if (g.chars[n.name + i] == '\0' && used >= next) next = used + 1;
  }
  return next;
}

}  // namespace calque::detail
