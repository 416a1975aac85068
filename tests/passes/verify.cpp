#include "calque/passes/verify.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "calque/ops/cast.hpp"
#include "calque/ops/matmul.hpp"
#include "calque/ops/parts.hpp"
#include "calque/ops/random.hpp"
#include "calque/ops/reduce.hpp"
#include "calque/ops/take.hpp"
#include "calque/ops/windows.hpp"
#include "support/arguments.hpp"

namespace {

using namespace calque;
using namespace calque::test;

constexpr dtype f32 = dtype::float32;

/// A little of everything: an if with an assignment, a loop, views and a reduction.
constexpr graph example() {
  builder b;
  const int x = array_of(b, f32, 2), v = argument_of(b, argument_kind::variable, f32, 2);
  const int p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int one = b.number(f32, 1);
  const int a = b.begin_region(false);
  b.assign(v, b.map_of<op::add>(f32, b.value_of(v), one));
  end_region(b, x);
  const int c = b.begin_region(false);
  const int y = b.map_of<op::mul>(f32, x, one);
  end_region(b, y);
  const int owner = cond_of(b, p, a, c);
  const int chosen = b.result_of(owner, 0, b.at(x));
  const int trip = b.constant_of(dtype::int64, {0, 3});
  const int loop = b.begin_region(true);
  b.region_argument(builder::make<op::region_arg>(dtype::int64));
  const int state = b.region_argument(b.at(chosen));
  const int next = b.map_of<op::sub>(f32, state, b.value_of(v));
  end_region(b, next, next);
  const std::int32_t inputs[] = {trip, chosen};
  const int repeated = loop_of(b, loop, inputs, 2, 1);
  const int last = b.result_of(repeated, 0, b.at(chosen));
  constexpr std::int8_t swapped[] = {1, 0};
  const int t = op::transpose::build(b, last, swapped);
  const int product = op::matmul::build(b, last, t);
  const int s = detail::build_reduction<op::sum>(b, product, 3, false, f32);
  b.set_name(s, "total");
  return finish(b, s, b.value_of(v));
}

int node_of(const graph& g, op_kind k, int which = 0) {
  for (int i = 0; i < g.nodes.size(); ++i)
    if (g.nodes[i].op->kind == k && which-- == 0) return i;
  return -1;
}

std::string_view text(const graph& g) {
  const char* rule = verify(g.view());
  return rule ? rule : "";
}

/// The rule that `example()` breaks after a change.
template <class F>
std::string_view broken_by(F change) {
  static std::string_view kept;
  graph g = example();
  change(g);
  return kept = text(g);
}

}  // namespace

static_assert(verify(example().view()) == nullptr);

TEST_CASE("verify accepts a graph with regions, effects, views and reductions") {
  const graph g = example();
  CHECK(text(g) == "");
  CHECK(find_broken_rule(g.view()).node == -1);
}

TEST_CASE("verify names the broken rule and the node") {
  graph g = example();
  const int sum = node_of(g, op_kind::reduce);
  g.pool[g.nodes[sum].first_input] = sum;
  const broken_rule broken = find_broken_rule(g.view());
  CHECK(std::string_view(broken.rule) == "inputs come before their users");
  CHECK(broken.node == sum);
}

TEST_CASE("verify finds inputs that are no values or not visible") {
  CHECK(broken_by([](graph& g) {
          g.pool[g.nodes[node_of(g, op_kind::transpose)].first_input] = node_of(g, op_kind::cond);
        }) == "inputs are values");
  CHECK(broken_by([](graph& g) {
          const int inside = g.pool[g.regions[2].first_result];
          g.pool[g.nodes[node_of(g, op_kind::transpose)].first_input] = inside;
        }) == "inputs are visible to their users");
  CHECK(broken_by([](graph& g) {
          g.pool[g.regions[0].first_result] = g.pool[g.regions[2].first_result];
        }) == "a region's results are values that it sees");
}

TEST_CASE("verify finds wrong types, ranks and attributes") {
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::map)].type = dtype::float64; }) ==
        "an operation keeps its operands' type");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::map)].rank = 1; }) ==
        "an elementwise result has its operands' largest rank");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::map)].inputs = 1; }) ==
        "an operation has as many inputs as it takes");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::transpose)].perm[0] = 0; }) !=
        std::string_view{});
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::reduce)].axis_mask = 4; }) ==
        "a reduction's axes are its input's");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::reduce)].keepdims = true; }) ==
        "a reduction's rank is what it leaves");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::matmul)].type = dtype::int32; }) ==
        "matmul multiplies matrices of one type");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::result)].index = 1; }) ==
        "a result's number exists");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::result)].type = dtype::int8; }) ==
        "a result has its region's type and rank");
  CHECK(broken_by([](graph& g) {
          g.nodes[5].dims[0] = 99;
          g.nodes[5].rank = 1;
        }) == "a node's extents exist");
}

TEST_CASE("verify finds lines, ordered reductions and random numbers that do not fit") {
  const auto rule = [](auto spoil) {
    builder b;
    const int x = array_of(b, dtype::float32, 2), state = array_of(b, dtype::uint64, 1);
    const int y = detail::build_accumulation<op::cumsum>(b, x, 1, {true, true});
    node n = builder::make<op::random_uniform>(dtype::float32, 0);
    const int z = b.append_with(n, state);
    spoil(b.g, y, z);
    const std::int32_t results[] = {y, z};
    const graph g = b.finish(results, 2);
    return std::string_view(verify(g.view()) ? verify(g.view()) : "");
  };
  CHECK(rule([](graph&, int, int) {}) == "");
  CHECK(rule([](graph& g, int y, int) { g.nodes[y].axis_mask = 3; }) ==
        "what is computed along one axis keeps its extents");
  CHECK(rule([](graph& g, int y, int) { g.nodes[y].axis_mask = 4; }) ==
        "what is computed along one axis keeps its extents");
  CHECK(rule([](graph& g, int y, int) { g.nodes[y].rank = 1; }) ==
        "what is computed along one axis keeps its extents");
  CHECK(rule([](graph& g, int, int z) { g.nodes[z].type = dtype::int32; }) ==
        "random numbers are floating and read a generator's state");
}

TEST_CASE("verify finds regions that do not nest, and owners that do not fit") {
  CHECK(broken_by([](graph& g) { g.regions[1].last = g.nodes.size() + 1; }) ==
        "a region ends in its parent");
  CHECK(broken_by([](graph& g) { g.regions[1].owner = 0; }) == "a region precedes its owner");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::map)].region = 0; }) ==
        "a region's nodes follow each other");
  CHECK(broken_by([](graph& g) { g.regions[1].results = 0; }) ==
        "both regions of a condition give as many results");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::cond)].body1 = 1; }) !=
        std::string_view{});
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::loop)].index = 2; }) ==
        "a loop's region takes the step, its states and slices");
  CHECK(broken_by([](graph& g) { g.nodes[node_of(g, op_kind::region_arg)].index = 1; }) ==
        "a region's arguments follow its entry");
}

TEST_CASE("verify finds effects out of the program's order (C094, C095)") {
  CHECK(broken_by([](graph& g) {  // the last read skips the if that assigned
          const int read = node_of(g, op_kind::read, count_kind(g.view(), op_kind::read) - 1);
          g.pool[g.nodes[read].first_input + 1] = 0;
        }) == "effects keep the program's order");
  CHECK(broken_by([](graph& g) {
          const int read = node_of(g, op_kind::read);
          g.pool[g.nodes[read].first_input + 1] = node_of(g, op_kind::input);
        }) == "an effect follows an entry, an assignment or a region's owner");
}

TEST_CASE("verify finds broken tables of extents, arguments and names") {
  CHECK(broken_by([](graph& g) { g.dims.push({dim_kind::broadcast, 0, 90, 0}); }) ==
        "an extent is computed from earlier ones");
  CHECK(broken_by([](graph& g) { g.dims.push({dim_kind::argument, 7, 0, 0}); }) ==
        "an extent names an argument's axis");
  CHECK(broken_by([](graph& g) { g.dims[0].same_as = 1; }) ==
        "an extent's representative is a literal or an earlier extent");
  CHECK(broken_by([](graph& g) { g.arguments[0].type = dtype::int8; }) ==
        "an argument's node has its kind, type and rank");
  CHECK(broken_by([](graph& g) { g.chars.push('x'); }) == "names end with a zero");
}

namespace {

/// A graph of operations on parts, changed by `change`: the rule that it breaks.
template <class F>
std::string_view part_broken_by(F change) {
  builder b;
  const int x = argument_of(b, argument_kind::array, dtype::float32, 2);
  const int i = argument_of(b, argument_kind::array, dtype::int32, 1);
  dim ranges[] = {detail::whole_range(b), {dim_kind::range, b.literal_dim(1), b.literal_dim(2), 1}};
  const int s = op::slice::build(b, x, ranges);
  const int n = op::insert::build(b, x, s, ranges);
  const std::int32_t parts[] = {x, n};
  const int c = op::concatenate::build(b, parts, 2, 0);
  const int t = op::take::build(b, c, i, 1);
  const int a = op::scatter_add::build(b, c, i, t, 1);
  const int one = b.literal_dim(1);
  const int w = detail::build_windows<op::windows>(b, a, -1, {{one, one}, {one, one}});
  const std::int32_t results[] = {op::overlap_add::build(b, a, w, {{one, one}, {one, one}})};
  graph g = b.finish(results, 1);
  CHECK(verify(g.view()) == nullptr);
  change(g);
  const char* rule = verify(g.view());
  return rule ? rule : std::string_view{};
}

}  // namespace

TEST_CASE("verify finds operations on parts that do not fit") {
  constexpr std::string_view ranges =
      "slice and insert keep type and rank, and have a range for each axis";
  CHECK(part_broken_by([](graph& g) { g.nodes[node_of(g, op_kind::slice)].index = 0; }) == ranges);
  CHECK(part_broken_by([](graph& g) { g.nodes[node_of(g, op_kind::insert)].type = dtype::int8; }) ==
        ranges);
  CHECK(part_broken_by([](graph& g) { g.nodes[node_of(g, op_kind::concatenate)].index = 2; }) ==
        "values put together have one type and rank, and an axis for it");
  CHECK(part_broken_by([](graph& g) { g.nodes[node_of(g, op_kind::take)].index = 2; }) ==
        "indices are along an axis");
  CHECK(part_broken_by([](graph& g) {
          g.nodes[node_of(g, op_kind::input, 1)].type = dtype::int8;
        }) != std::string_view{});
  CHECK(part_broken_by([](graph& g) { g.nodes[node_of(g, op_kind::scatter_add)].rank = 1; }) ==
        "indexing keeps the type, and has the indices' axes in place of one");
  CHECK(part_broken_by([](graph& g) { g.nodes[node_of(g, op_kind::windows)].rank = 3; }) ==
        "windows keep the type and add two axes, which have entries");
  CHECK(part_broken_by([](graph& g) { g.nodes[node_of(g, op_kind::overlap_add)].index = 0; }) ==
        "windows keep the type and add two axes, which have entries");
  CHECK(part_broken_by([](graph& g) { g.dims.push({dim_kind::count, 0, 0, 0}); }) ==
        "a range is counted");
}
