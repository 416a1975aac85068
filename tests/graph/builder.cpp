#include "calque/graph/builder.hpp"

#include <doctest/doctest.h>

#include "calque/ops/arithmetic.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/views.hpp"
#include "calque/passes/verify.hpp"
#include "support/arguments.hpp"

namespace {

using namespace calque;
using namespace calque::test;

constexpr dtype f32 = dtype::float32;

int read_count(const builder& b) { return count_kind(b.g.view(), op_kind::read); }

}  // namespace

TEST_CASE("a graph starts with the entry of its body, and nodes follow their inputs") {
  builder b;
  const int x = array_of(b, f32, 1);
  const int y = b.map_of<op::add>(f32, x, x);
  const graph g = finish(b, y);
  CHECK(g.nodes[0].op->kind == op_kind::entry);
  CHECK(g.view().input(y, 1) == x);
  CHECK(g.regions[0].last == 3);
  CHECK(verify(g.view()) == nullptr);
}

TEST_CASE("elementwise results have the extents of their operands broadcast together") {
  builder b;
  const int x = array_of(b, f32, 2), row = array_of(b, f32, 1), c = b.number(f32, 2);
  const int y = b.map_of<op::add>(f32, row, x);
  CHECK(b.at(y).rank == 2);
  CHECK(b.at(y).dims[0] == b.at(x).dims[0]);
  CHECK(b.g.dims[b.at(y).dims[1]].kind == dim_kind::broadcast);
  CHECK(b.same_extents(b.at(b.map_of<op::mul>(f32, x, c)), b.at(x)));
  // x's extent is part of y's: combining them again makes nothing new
  CHECK(b.same_extents(b.at(b.map_of<op::add>(f32, y, x)), b.at(y)));
  CHECK(b.broadcast_dim(b.at(x).dims[1], b.at(row).dims[0]) == b.at(y).dims[1]);
  CHECK(b.broadcast_dim(b.at(row).dims[0], b.at(x).dims[1]) == b.at(y).dims[1]);
  CHECK(b.broadcast_dim(b.literal_dim(1), b.at(x).dims[0]) == b.at(x).dims[0]);
}

TEST_CASE("arithmetic on extents is done at once where both are literals") {
  builder b;
  const int six = b.literal_dim(6), four = b.literal_dim(4), zero = b.literal_dim(0);
  CHECK(b.is_literal(b.arithmetic_dim(dim_kind::add, six, four), 10));
  CHECK(b.is_literal(b.arithmetic_dim(dim_kind::sub, six, four), 2));
  CHECK(b.is_literal(b.arithmetic_dim(dim_kind::mul, six, four), 24));
  CHECK(b.is_literal(b.arithmetic_dim(dim_kind::div, six, four), 1));
  CHECK(b.is_literal(b.arithmetic_dim(dim_kind::div, six, zero), 0));
  const int x = array_of(b, f32, 1);
  const int n = b.arithmetic_dim(dim_kind::mul, b.at(x).dims[0], four);
  CHECK(b.g.dims[n].kind == dim_kind::mul);
  CHECK(b.arithmetic_dim(dim_kind::mul, b.at(x).dims[0], four) == n);
}

TEST_CASE("proven equalities are transitive, and a literal is what an extent equals") {
  builder b;
  const int x = array_of(b, f32, 3);
  const int p = b.at(x).dims[0], q = b.at(x).dims[1], r = b.at(x).dims[2];
  b.unify(q, r);
  b.unify(p, r);
  CHECK(b.same_dim(p, q));
  CHECK(b.canonical(r) == p);
  b.unify(r, b.literal_dim(5));
  CHECK(b.is_literal(p, 5));
  b.unify(p, b.literal_dim(6));  // contradicts: left to the plan's check
  CHECK(b.is_literal(p, 5));
}

TEST_CASE("literals are rounded once to their type") {
  builder b;
  CHECK(b.at(b.number(f32, 0.1)).value.f == 0.1f);
  CHECK(b.at(b.number(dtype::float64, 0.1)).value.f == 0.1);
  CHECK(b.at(b.number(dtype::int32, 3)).value.i == 3);
}

TEST_CASE("a use of a variable reads its present value, and an assigned value is forwarded") {
  builder b;
  const int v = argument_of(b, argument_kind::variable, f32, 1);
  const int first = b.value_of(v);
  CHECK(b.value_of(v) == first);
  CHECK(b.at(first).op->kind == op_kind::read);
  const int next = b.map_of<op::add>(f32, v, v);
  CHECK(b.input(next, 0) == first);
  b.assign(v, next);
  CHECK(b.value_of(v) == next);
  CHECK(read_count(b) == 1);
}

TEST_CASE("assignments of one variable form a chain in program order (C094)") {
  builder b;
  const int v = argument_of(b, argument_kind::variable, f32, 1),
            w = argument_of(b, argument_kind::variable, f32, 1);
  const int x = array_of(b, f32, 1);
  b.assign(v, x);
  const int a = b.g.nodes.size() - 1;
  b.assign(w, x);
  CHECK(b.input(b.g.nodes.size() - 1, 2) == 0);
  b.assign(v, x);
  CHECK(b.input(b.g.nodes.size() - 1, 2) == a);
  CHECK(b.same_dim(b.at(v).dims[0], b.at(x).dims[0]));
}

TEST_CASE("after an if that assigns, a variable is read anew; one that it does not touch is not") {
  builder b;
  const int v = argument_of(b, argument_kind::variable, f32, 0),
            w = argument_of(b, argument_kind::variable, f32, 0);
  const int p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int v0 = b.value_of(v), w0 = b.value_of(w);
  const int r0 = b.begin_region(false);
  CHECK(b.value_of(v) == v0);
  b.assign(v, b.number(f32, 1));
  end_region(b);
  const int r1 = b.begin_region(false);
  CHECK(b.value_of(v) == v0);  // the other branch does not see it
  end_region(b);
  const int owner = cond_of(b, p, r0, r1);
  CHECK(b.value_of(w) == w0);
  const int v1 = b.value_of(v);
  CHECK(v1 != v0);
  CHECK(b.input(v1, 1) == owner);
}

TEST_CASE("an effect of the first branch survives regions inside the second one (C095)") {
  builder b;
  const int v = argument_of(b, argument_kind::variable, f32, 0);
  const int p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int r0 = b.begin_region(false);
  b.assign(v, b.number(f32, 1));
  end_region(b);
  const int r1 = b.begin_region(false);
  const int s0 = b.begin_region(false);
  end_region(b);
  const int s1 = b.begin_region(false);
  end_region(b);
  cond_of(b, p, s0, s1);
  CHECK(b.input(b.value_of(v), 1) == 0);  // the inner if wrote nothing
  end_region(b);
  const int owner = cond_of(b, p, r0, r1);
  CHECK(b.input(b.value_of(v), 1) == owner);
  const graph g = finish(b, b.value_of(v));
  CHECK(verify(g.view()) == nullptr);
}

TEST_CASE("a loop's region reads a variable anew: an earlier step may have written it") {
  builder b;
  const int v = argument_of(b, argument_kind::variable, f32, 0);
  const int v0 = b.value_of(v);
  const int region = b.begin_region(true);
  b.region_argument(builder::make<op::region_arg>(dtype::int64));
  const int inside = b.value_of(v);
  CHECK(inside != v0);
  CHECK(b.input(inside, 1) == b.g.regions[region].first);
  b.assign(v, b.map_of<op::add>(f32, inside, inside));
  end_region(b);
  const std::int32_t trip[] = {b.constant_of(dtype::int64, {0, 2})};
  const int owner = loop_of(b, region, trip, 1, 0);
  CHECK(b.input(b.value_of(v), 1) == owner);
}

TEST_CASE("names have their scopes before them and are unique") {
  builder b;
  const int x = array_of(b, f32, 1);
  const auto name = [&](int id) { return b.g.view().name(b.at(id)); };
  b.push_scope("encoder");
  b.push_scope("first");
  b.set_name(x, "w");
  b.pop_scope();
  CHECK(name(x) == "encoder/first/w");
  b.pop_scope();
  int last = -1;
  for (int i = 0; i < 12; ++i) b.set_name(last = b.map_of<op::neg>(f32, x), "y");
  CHECK(name(last) == "y_11");
  CHECK(name(last - 11) == "y");
}

TEST_CASE("a symbol without a value and a foreign variable are errors with a reason") {
  builder b;
  CHECK_THROWS_AS(b.value_of(-1), value_error);
  const int v = b.append_with(builder::make<op::variable>(f32));
  CHECK_THROWS_AS(b.value_of(v), value_error);
}
