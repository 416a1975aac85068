// Symbols: what operators on them record, where they record it from, and the extents they know.
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

namespace cq = calque;
using graphs::find;
using graphs::node;
using graphs::operations;

namespace {

using vector = cq::array<float, 1>;
using matrix = cq::array<float, 2>;

constexpr int start = __LINE__;
constexpr auto on_lines = graphs::plain([](auto x, auto a) {
  auto y = a * x;  // start + 2
  auto z = x + 2.f;
  auto w = 1 - z;
  auto p = y < w;
  auto q = -y;
  auto e = cq::exp(q);
  auto r = cq::sum(cq::where(p, e, 0));  // start + 8
  r += 3;
  return r;
});
constexpr cq::graph_view lines = cq::graph_of<on_lines, vector, float>();

constexpr auto extents = graphs::plain([](auto x) {
  auto n = x.extent(0) * x.extent(-1) + 1;
  auto s = x.shape();
  auto same = cq::broadcast_to(cq::sum(x), s);
  return std::tuple{n, x.size(), same};
});
constexpr cq::graph_view sized = cq::graph_of<extents, matrix>();

constexpr auto updates = graphs::plain([](auto x, auto a) {
  auto y = x;
  y += 1;
  y *= y;
  a -= 2;
  return std::tuple{x, y, a};
});
constexpr cq::graph_view updated = cq::graph_of<updates, vector, float>();

}  // namespace

TEST_CASE("each operation knows the line and file that it was written on") {
  const auto line = [](std::string_view op, int k = 0) { return node(lines, op, k).line - start; };
  CHECK(line("mul") == 2);
  CHECK(line("add") == 3);
  CHECK(line("sub") == 4);
  CHECK(line("less") == 5);
  CHECK(line("neg") == 6);
  CHECK(line("exp") == 7);
  CHECK(line("where") == 8);
  CHECK(line("sum") == 8);
  CHECK(std::string_view(node(lines, "mul").file).ends_with("symbol.cpp"));
}

TEST_CASE("operators record one node each, with literals on either side") {
  CHECK(operations(lines) ==
        "input scalar mul constant add constant sub less neg exp constant where sum constant add");
  static_assert(lines.input(find(lines, "sub"), 0) == find(lines, "constant", 1));
  static_assert(lines.input(find(lines, "sub"), 1) == find(lines, "add"));
  static_assert(node(lines, "constant").value.f == 2);
}

TEST_CASE("extents are symbolic int64 scalars, from the front and from the back") {
  static_assert(graphs::result(sized, 0).type == cq::dtype::int64);
  static_assert(graphs::result(sized, 0).rank == 0);
  static_assert(graphs::result(sized, 2).rank == 2);
  static_assert(graphs::same(sized, graphs::result(sized, 2), 0, 0, 0));
  static_assert(graphs::same(sized, graphs::result(sized, 2), 1, 0, 1));
  const auto [n, size, same] = extents(cq::ones<float>(cq::shape{3, 5}));
  CHECK(n.item() == 16);
  CHECK(size.item() == 15);
  CHECK(same(2, 4) == 15);
}

TEST_CASE("compound operators rebind the symbol and leave its copies alone") {
  static_assert(graphs::result(updated, 0).op->kind == cq::op_kind::input);
  static_assert(graphs::result(updated, 1).op->name == std::string_view("mul"));
  static_assert(graphs::result(updated, 2).op->name == std::string_view("sub"));
  const auto [x, y, a] = updates(vector{1, 2}, 5.f);
  CHECK(x.to_vector() == std::vector<float>{1, 2});
  CHECK(y.to_vector() == std::vector<float>{4, 9});
  CHECK(a.item() == 3);
}

TEST_CASE("a symbol is a handle of two words that a body copies freely (C074)") {
  static_assert(sizeof(cq::expr<double, 8>) == 2 * sizeof(void*));
  static_assert(std::is_trivially_copyable_v<cq::expr<float, 1>>);
  static_assert(!std::is_convertible_v<cq::expr<float, 0>, float>);
  static_assert(!std::is_convertible_v<cq::expr<bool, 0>, bool>);
  static_assert(!std::is_convertible_v<cq::scalar_expr<int>, int>);
  static_assert(std::is_same_v<decltype(cq::expr<float, 3>::rank()), int>);
}
