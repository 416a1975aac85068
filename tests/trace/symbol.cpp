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

constexpr int top = __LINE__;
constexpr auto writes = graphs::plain([](auto w, auto x) {
  auto y = x * 2;  // top + 2
  w += y;
  y -= 1;
  y /= 2;
  w.assign(x);
  auto p = cq::sum(x) > 0;
  cq::cond(p, [&] { w += w; }, [] {});
});
constexpr cq::graph_view written = cq::graph_of<writes, cq::variable<float, 1>, vector>();

template <template <class, int> class A>
struct pair_of {
  A<float, 1> first, second;
};
constexpr auto add_ten = [](auto v) { v += 10; };
constexpr auto handed = cq::trace([](auto a, auto p) {
  auto t = std::tuple{a, p};
  auto [w, q] = t;
  auto again = w;
  again += 1;
  add_ten(q.first);
  auto model = q;
  model.second += 100;
});

constexpr auto inner_changes = cq::trace([](auto x, auto p) {
  auto y = x + 1;
  auto scaled = cq::for_loop(2, x, [&](auto i, auto s) {
    auto t = y;
    t += i;
    s *= t;
    return s;
  });
  return cq::cond(
      p,
      [&] {
        auto t = scaled;
        t -= x;
        t = t - x;
        return cq::cond(p, [&] { return t + x * 4; }, [&] { return t; });
      },
      [&] { return x; });
});

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
  static_assert(std::is_copy_constructible_v<cq::expr<float, 1>>);
  static_assert(!std::is_convertible_v<cq::expr<float, 0>, float>);
  static_assert(!std::is_convertible_v<cq::expr<bool, 0>, bool>);
  static_assert(!std::is_convertible_v<cq::scalar_expr<int>, int>);
  static_assert(std::is_same_v<decltype(cq::expr<float, 3>::rank()), int>);
}

TEST_CASE("compound operators and assign know the line that they are written on") {
  const auto line = [](std::string_view op, int k = 0) { return node(written, op, k).line - top; };
  CHECK(line("mul") == 2);
  CHECK(line("add") == 3);
  CHECK(line("assign", 0) == 3);
  CHECK(line("sub") == 4);
  CHECK(line("div") == 5);
  CHECK(line("assign", 1) == 6);
  CHECK(line("assign", 2) == 8);
}

TEST_CASE("an error of a compound operator names its own line") {
  constexpr int first = __LINE__;
  constexpr auto fits = cq::trace([](auto w, auto x) { w += x; });  // first + 1
  constexpr auto later = cq::trace([](auto x, auto y) {
    auto r = cq::sum(y * 2.f);

    x *= y;  // first + 5
    return cq::sum(x) + r;
  });
  const auto text = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const cq::shape_error& e) {
      return e.what();
    }
    return "no exception";
  };
  const auto ends = [](int line) { return "symbol.cpp:" + std::to_string(line); };
  const cq::variable<float, 1> w{vector{1, 2}, "w"};
  CHECK(text([&] { fits(w, vector{1, 2, 3}); }).find(ends(first + 1)) != std::string::npos);
  CHECK(text([&] { (void)later(vector{1, 2}, vector{1, 2, 3}); }).find(ends(first + 5)) !=
        std::string::npos);
}

TEST_CASE("variables are handed on by value, in tuples and in structs, and written through all") {
  const cq::variable<float, 1> a{vector{1}, "a"}, b{vector{2}, "b"}, c{vector{3}, "c"};
  handed(a, pair_of<cq::variable>{b, c});
  CHECK(a.value()(0) == 2);
  CHECK(b.value()(0) == 12);
  CHECK(c.value()(0) == 103);
}

TEST_CASE("a region may change symbols made in it, copies of outer ones too") {
  const auto r = inner_changes(vector{1, 2}, true);
  CHECK(r.to_vector() == std::vector<float>{8, 28});
}

TEST_CASE("what only the results need stands on no line") {
  constexpr auto f = graphs::plain([](auto v, auto x) { return std::tuple{x + 1, v, 2.f}; });
  constexpr cq::graph_view g = cq::graph_of<f, cq::variable<float, 1>, vector>();
  CHECK(node(g, "add").line > 0);
  CHECK(node(g, "read").line == 0);
  CHECK(node(g, "constant", 1).line == 0);
}
