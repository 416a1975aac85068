// Names of nodes, prefixed by scopes and made unique (A13).
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

namespace cq = calque;

namespace {

std::vector<std::string> names(const cq::graph_view& g) {
  std::vector<std::string> all;
  for (int id = 0; id < g.node_count; ++id)
    if (g.nodes[id].name >= 0) all.emplace_back(g.name(g.nodes[id]));
  return all;
}

constexpr auto helper = cq::trace([](auto x) {
  cq::scope s{"helper", x};
  return cq::named(x * 2, "A");
});
constexpr auto named = graphs::plain([](auto x) {
  auto a = cq::named(x + 1, "A");
  auto b = cq::named(a + 1, "A");
  {
    cq::scope outer{"outer", x};
    b = cq::named(b + 1, "A");
    b = cq::named(b + 1, "A");
    {
      cq::scope inner{"inner", b};
      b = helper(b);
    }
    b = helper(b);
    b = helper(b);
  }
  for (int i = 0; i < 11; ++i) b = cq::named(b + 1, "A");
  return cq::for_loop(2, b, [](auto, auto s) { return cq::named(s + 1, "step"); });
});
constexpr cq::graph_view graph = cq::graph_of<named, cq::array<float, 1>>();

// after the passes: equal nodes are merged, one name is kept; fused nodes keep theirs
constexpr auto merged = cq::trace([](auto x, auto v) {
  auto a = cq::named(x * x, "square");
  auto b = cq::named(x * x, "again");
  auto unused = cq::named(cq::exp(x), "unused");
  (void)unused;
  (void)cq::named(v, "weights");
  (void)cq::named(2.5f, "number");
  return cq::named(cq::sum(a + b), "total");
});
constexpr cq::graph_view optimised =
    cq::graph_of<merged, cq::array<float, 1>, cq::variable<float, 1>>();

}  // namespace

TEST_CASE("names get their scopes as prefix and are made unique: A, A_1, outer/A (A13)") {
  CHECK(names(graph) ==
        std::vector<std::string>{"A", "A_1", "outer/A", "outer/A_1", "outer/inner/helper/A",
                                 "outer/helper/A", "outer/helper/A_1", "A_2", "A_3", "A_4", "A_5",
                                 "A_6", "A_7", "A_8", "A_9", "A_10", "A_11", "A_12", "step"});
}

TEST_CASE("names survive the passes with the nodes that do") {
  CHECK(names(optimised) == std::vector<std::string>{"square", "total"});
}

TEST_CASE("a variable that is named is read on that line") {
  constexpr int line = __LINE__;
  constexpr auto f = graphs::plain([](auto v, auto x) {
    auto y = x + 1;
    (void)cq::named(v, "before");  // line + 3
    return y;
  });
  constexpr cq::graph_view g = cq::graph_of<f, cq::variable<float, 1>, cq::array<float, 1>>();
  CHECK(graphs::node(g, "read").line == line + 3);
}
