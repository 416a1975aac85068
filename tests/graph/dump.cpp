#include "calque/graph/dump.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "calque/ops/accumulate.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/reduce.hpp"
#include "support/arguments.hpp"

namespace {

using namespace calque;
using namespace calque::test;

constexpr dtype f32 = dtype::float32;

graph example(int line = 0) {
  builder b;
  b.where = {line, line ? "a.cpp" : nullptr};
  const int x = array_of(b, f32, 2), v = argument_of(b, argument_kind::variable, f32, 1);
  const int p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int y = b.map_of<op::add>(f32, x, v);
  b.set_name(y, "logits");
  const int r0 = b.begin_region(false);
  const int e = b.map_of<op::exp>(f32, y);
  end_region(b, e);
  const int r1 = b.begin_region(false);
  b.assign(v, b.map_of<op::mul>(f32, b.value_of(v), b.number(f32, 0.5)));
  end_region(b, y);
  const int owner = cond_of(b, p, r0, r1);
  const int z = b.result_of(owner, 0, b.at(y));
  const int s = detail::build_reduction<op::sum>(b, z, 2, true, f32);
  return finish(b, s);
}

}  // namespace

TEST_CASE("dump shows a node in a line, regions indented, effects and names (A12)") {
  CHECK(dump(example().view()) ==
        "graph: 15 nodes, 3 arguments, 1 results\n"
        "  d0 = axis 0 of argument 0\n"
        "  d1 = axis 1 of argument 0\n"
        "  d2 = axis 0 of argument 1\n"
        "  d3 = broadcast(d1, d2)\n"
        "%0 = entry\n"
        "%1 = input f32[d0,d1] argument 0\n"
        "%2 = variable f32[d2] argument 1\n"
        "%3 = scalar bool[] argument 2\n"
        "%4 = read f32[d2] %2 %0\n"
        "%5 = add f32[d0,d3] %1 %4  \"logits\"\n"
        "region 1 of %12:\n"
        "  %6 = entry\n"
        "  %7 = exp f32[d0,d3] %5\n"
        "  yield %7\n"
        "region 2 of %12:\n"
        "  %8 = entry\n"
        "  %9 = constant f32[] 0.5\n"
        "  %10 = mul f32[d2] %4 %9\n"
        "  %11 = assign f32[d2] %2 %10 %0\n"
        "  yield %5\n"
        "%12 = cond then region 1 else region 2 if %3\n"
        "%13 = result f32[d0,d3] #0 %12\n"
        "%14 = sum f32[d0,1] axes(1) keepdims %13\n"
        "return %14\n");
}

TEST_CASE("dump, dot and json do not depend on source lines (A12)") {
  const graph a = example(), b = example(77);
  CHECK(dump(a.view()) == dump(b.view()));
  CHECK(dot(a.view()) == dot(b.view()));
  CHECK(json(a.view()) == json(b.view()));
}

TEST_CASE("dump shows clusters with what they assume") {
  builder b;
  const int x = array_of(b, f32, 1), y = array_of(b, f32, 1);
  const int z = b.map_of<op::add>(f32, x, y);
  graph g = finish(b, z);
  cluster c;
  c.domain = z;
  const std::int32_t ids[] = {z, z, g.nodes[x].dims[0], g.nodes[y].dims[0]};
  c.first = g.add_to_pool(ids, 4);
  c.nodes = 1;
  c.first_output = c.first + 1;
  c.outputs = 1;
  c.first_assumption = c.first + 2;
  c.assumptions = 1;
  g.clusters.push(c);
  const std::string text = dump(g.view());
  CHECK(text.find("cluster 0: map over %3: %3 -> %3 if d0 == d1\n") != std::string::npos);
}

TEST_CASE("constants are written so that they read back exactly") {
  CHECK(detail::text_of({0.1f, 0}, f32) == "0.1");
  CHECK(detail::text_of({0.1, 0}, dtype::float64) == "0.1");
  CHECK(detail::text_of({-0.0, 0}, f32) == "-0");
  CHECK(detail::text_of({__builtin_inf(), 0}, f32) == "inf");
  CHECK(detail::text_of({-__builtin_nan(""), 0}, dtype::float64) == "nan");
  CHECK(detail::text_of({0, -1}, dtype::uint64) == "18446744073709551615");
  CHECK(detail::text_of({0, 1}, dtype::boolean) == "true");
  CHECK(std::strtod(detail::text_of({1.0 / 3, 0}, dtype::float64).c_str(), nullptr) == 1.0 / 3);
}

TEST_CASE("dot nests regions and marks the order of effects; json names every node") {
  const graph g = example();
  const std::string d = dot(g.view()), j = json(g.view());
  CHECK(d.find("subgraph cluster_region_2 {") != std::string::npos);
  CHECK(d.find("n0 -> n11 [style=dotted];") != std::string::npos);
  CHECK(d.find("n7 -> n12 [style=dashed];") != std::string::npos);
  CHECK(d.find("[label=\"%5 = add f32[d0,d3]  logits\"];") != std::string::npos);
  CHECK(j.find("{\"id\": 5, \"op\": \"add\", \"type\": \"f32\", \"extents\": [\"d0\", \"d3\"], "
               "\"inputs\": [1, 4], \"name\": \"logits\", \"region\": 0}") != std::string::npos);
  std::string open;  // braces and brackets match
  for (char c : j) {
    if (c == '{' || c == '[') open += c;
    if (c != '}' && c != ']') continue;
    REQUIRE(!open.empty());
    REQUIRE(open.back() == (c == '}' ? '{' : '['));
    open.pop_back();
  }
  CHECK(open.empty());
}

TEST_CASE("quotes and control characters in names are escaped") {
  CHECK(detail::quoted_text("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\"");
}

TEST_CASE("dot and json each escape names in their own way") {
  builder b;
  const int x = array_of(b, f32, 1);
  const int y = b.map_of<op::exp>(f32, x);
  b.set_name(y, "a\"b\\c\nd\te");
  const graph g = finish(b, y);
  CHECK(dot(g.view()).find(R"(  a\"b\\c\nd e"])") != std::string::npos);
  CHECK(dot(g.view()).find("\\u00") == std::string::npos);
  CHECK(json(g.view()).find(R"("a\"b\\c\u000ad\u0009e")") != std::string::npos);
}

TEST_CASE("dump says along which axis, in which direction, and whether an element counts itself") {
  builder b;
  const int x = array_of(b, f32, 2);
  const int y = detail::build_accumulation<op::cumprod>(b, x, 1, {true, true});
  const graph g = finish(b, detail::build_accumulation<op::cumsum>(b, y, 0));
  const std::string text = dump(g.view());
  CHECK(text.find("%2 = cumprod f32[d0,d1] axes(1) exclusive reversed %1\n") != std::string::npos);
  CHECK(text.find("%3 = cumsum f32[d0,d1] axes(0) %2\n") != std::string::npos);
}
