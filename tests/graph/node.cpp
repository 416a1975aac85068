#include "calque/graph/node.hpp"

#include <doctest/doctest.h>

#include <type_traits>

#include "calque/ops/arithmetic.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/select.hpp"
#include "support/arguments.hpp"

using namespace calque;
using namespace calque::test;

static_assert(std::is_trivially_copyable_v<node>);
static_assert(std::is_trivially_destructible_v<graph_view>);

TEST_CASE("an operation's description has its name, key, form and arity") {
  static_assert(op_info_of<op::add>.key == detail::hash_name("add"));
  static_assert(op_info_of<op::add>.arity == 2 && op_info_of<op::add>.kind == op_kind::map);
  static_assert(op_info_of<op::less>.form == map_form::compare);
  static_assert(op_info_of<op::where>.form == map_form::select);
  static_assert(op_info_of<op::cast>.form == map_form::cast);
  static_assert(op_info_of<op::add>.key != op_info_of<op::sub>.key);
  CHECK(std::string_view(op_info_of<op::add>.name) == "add");
}

TEST_CASE("evaluate computes one element and wraps or rounds it to the type") {
  const auto add = [](dtype t, constant a, constant b) {
    const constant x[] = {a, b};
    return op_info_of<op::add>.evaluate(t, t, x);
  };
  CHECK(add(dtype::int8, {0, 127}, {0, 1}).i == -128);
  CHECK(add(dtype::uint64, {0, -1}, {0, 1}).i == 0);
  CHECK(add(dtype::float32, {16777216, 0}, {1, 0}).f == 16777216);
  CHECK(add(dtype::float64, {16777216, 0}, {1, 0}).f == 16777217);
  const constant choice[] = {{0, 1}, {2, 0}, {3, 0}};
  CHECK(op_info_of<op::where>.evaluate(dtype::float32, dtype::float32, choice).f == 2);
  const constant nan[] = {{__builtin_nan(""), 0}};
  CHECK(op_info_of<op::cast>.evaluate(dtype::float32, dtype::int32, nan).i == 0);
  const constant huge[] = {{1e20, 0}};
  CHECK(op_info_of<op::cast>.evaluate(dtype::float64, dtype::int32, huge).i == 2147483647);
}

TEST_CASE("constants are identical by their bits") {
  CHECK(constant::identical({1, 0}, {1, 0}));
  CHECK_FALSE(constant::identical({0.0, 0}, {-0.0, 0}));
  CHECK(constant::identical({__builtin_nan(""), 0}, {__builtin_nan(""), 0}));
}

TEST_CASE("a view follows extents to the earliest equal one and finds enclosing regions") {
  builder b;
  const int x = array_of(b, dtype::float32, 2), y = array_of(b, dtype::float32, 2);
  b.unify(b.at(y).dims[0], b.at(x).dims[0]);
  b.unify(b.at(y).dims[1], b.literal_dim(3));
  const int p = b.constant_of(dtype::boolean, {0, 1});
  const int r0 = b.begin_region(false);
  const int inner0 = b.begin_region(false);
  end_region(b);
  const int inner1 = b.begin_region(false);
  end_region(b);
  cond_of(b, p, inner0, inner1);
  end_region(b);
  const int r1 = b.begin_region(false);
  end_region(b);
  cond_of(b, p, r0, r1);
  const graph g = finish(b, x);
  const graph_view v = g.view();
  CHECK(v.same_dim(v.nodes[x].dims[0], v.nodes[y].dims[0]));
  CHECK_FALSE(v.same_extents(v.nodes[x], v.nodes[y]));
  CHECK(v.is_literal(v.nodes[y].dims[1], 3));
  CHECK(v.encloses(0, inner0));
  CHECK(v.encloses(r0, inner1));
  CHECK_FALSE(v.encloses(r0, r1));
  CHECK_FALSE(v.encloses(inner0, inner1));
}
