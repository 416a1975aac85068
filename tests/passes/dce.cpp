#include "calque/passes/dce.hpp"

#include <doctest/doctest.h>

#include "calque/graph/dump.hpp"
#include "calque/ops/arithmetic.hpp"
#include "calque/ops/select.hpp"
#include "calque/passes/verify.hpp"
#include "support/arguments.hpp"

namespace {

using namespace calque;
using namespace calque::test;

constexpr dtype f32 = dtype::float32;

/// 500 nodes, half of which nothing needs.
struct five_hundred {
  constexpr graph operator()() const {
    builder b;
    int x = array_of(b, f32, 1);
    while (b.g.nodes.size() < 500) {
      b.map_of<op::sub>(f32, x, x);
      x = b.map_of<op::add>(f32, x, x);
    }
    return finish(b, x);
  }
};
struct alive {
  constexpr graph operator()() const { return dce(frozen_by<five_hundred>::view()); }
};

/// x added to itself in one branch of an if, negated in the other; two results.
int branches(builder& b, int p, int x) {
  const int r0 = b.begin_region(false);
  const int a = b.map_of<op::add>(f32, x, x), c = b.map_of<op::neg>(f32, x);
  end_region(b, a, c);
  const int r1 = b.begin_region(false);
  const int d = b.map_of<op::sub>(f32, x, x), e = b.map_of<op::mul>(f32, x, x);
  end_region(b, d, e);
  return cond_of(b, p, r0, r1);
}

}  // namespace

static_assert(count_op<op::sub>(frozen_by<alive>::view()) == 0);
static_assert(count_op<op::add>(frozen_by<alive>::view()) == 249);
static_assert(verify(frozen_by<alive>::view()) == nullptr);

TEST_CASE("dce keeps what results need and every argument (A15)") {
  builder b;
  const int x = array_of(b, f32, 1);
  array_of(b, f32, 2);
  argument_of(b, argument_kind::scalar, f32);
  b.number(f32, 2);
  argument_of(b, argument_kind::variable, f32, 1);
  const int y = b.map_of<op::neg>(f32, x);
  b.map_of<op::add>(f32, y, x);
  const graph g = finish(b, y);
  const graph h = dce(g.view());
  CHECK(h.nodes.size() == 6);
  CHECK(h.arguments.size() == 4);
  CHECK(h.arguments[3].node == 4);
  CHECK(verify(h.view()) == nullptr);
  CHECK(dump(dce(h.view()).view()) == dump(h.view()));
}

TEST_CASE("dce keeps assignments, also in regions that give no result (C094)") {
  builder b;
  const int v = argument_of(b, argument_kind::variable, f32, 0);
  const int p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int r0 = b.begin_region(false);
  const int inner = b.begin_region(true);
  b.region_argument(builder::make<op::region_arg>(dtype::int64));
  b.assign(v, b.map_of<op::add>(f32, b.value_of(v), b.number(f32, 1)));
  end_region(b);
  const std::int32_t trip[] = {b.constant_of(dtype::int64, {0, 3})};
  loop_of(b, inner, trip, 1, 0);
  end_region(b);
  const int r1 = b.begin_region(false);
  b.map_of<op::neg>(f32, b.number(f32, 2));
  end_region(b);
  cond_of(b, p, r0, r1);
  b.value_of(v);
  const graph g = finish(b);
  const graph h = dce(g.view());
  CHECK(count_kind(h.view(), op_kind::assign) == 1);
  CHECK(count_kind(h.view(), op_kind::loop) == 1);
  CHECK(count_kind(h.view(), op_kind::cond) == 1);
  CHECK(count_op<op::neg>(h.view()) == 0);
  CHECK(count_kind(h.view(), op_kind::read) == 1);
  CHECK(verify(h.view()) == nullptr);
}

TEST_CASE("dce keeps an if whose second branch assigns (C094)") {
  builder b;
  const int v = argument_of(b, argument_kind::variable, f32, 0);
  const int p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int r0 = b.begin_region(false);
  end_region(b);
  const int r1 = b.begin_region(false);
  b.assign(v, b.number(f32, 1));
  end_region(b);
  cond_of(b, p, r0, r1);
  const graph g = finish(b);
  CHECK(count_kind(dce(g.view()).view(), op_kind::assign) == 1);
}

TEST_CASE("dce drops a region with its owner") {
  builder b;
  const int x = array_of(b, f32, 1), p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int q = b.map_of<op::equal>(dtype::boolean, p, p);
  branches(b, q, x);
  const graph g = finish(b, x);
  const graph h = dce(g.view());
  CHECK(h.nodes.size() == 3);
  CHECK(h.regions.size() == 1);
}

TEST_CASE("dce drops results of an if that nobody reads, and numbers the others anew (A15)") {
  builder b;
  const int x = array_of(b, f32, 1), p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int owner = branches(b, p, x);
  b.result_of(owner, 0, b.at(x));
  const graph g = finish(b, b.result_of(owner, 1, b.at(x)));
  const graph h = dce(g.view());
  CHECK(count_op<op::add>(h.view()) == 0);
  CHECK(count_op<op::sub>(h.view()) == 0);
  CHECK(count_op<op::neg>(h.view()) == 1);
  CHECK(count_op<op::mul>(h.view()) == 1);
  CHECK(h.nodes[h.view().result(0)].index == 0);
  CHECK(h.regions[1].results == 1);
  CHECK(verify(h.view()) == nullptr);
}

TEST_CASE("dce keeps a loop's states and drops stacked outputs that nobody reads") {
  builder b;
  const int x = array_of(b, f32, 1);
  const int region = b.begin_region(true);
  b.region_argument(builder::make<op::region_arg>(dtype::int64));
  const int s = b.region_argument(b.at(x)), t = b.region_argument(b.at(x));
  const int next = b.map_of<op::add>(f32, s, t), unread = b.map_of<op::sub>(f32, s, t),
            stacked = b.map_of<op::mul>(f32, s, t);
  end_region(b, next, s, unread, stacked);
  const std::int32_t inputs[] = {b.constant_of(dtype::int64, {0, 3}), x, x};
  const int owner = loop_of(b, region, inputs, 3, 2);
  node like = b.at(x);
  like.rank = 2;
  like.dims[1] = like.dims[0];
  like.dims[0] = b.literal_dim(3);
  b.result_of(owner, 2, like);
  const int y = b.result_of(owner, 3, like), last = b.result_of(owner, 0, b.at(x));
  const graph g = finish(b, y, last);
  const graph h = dce(g.view());
  CHECK(count_op<op::sub>(h.view()) == 0);
  CHECK(count_op<op::add>(h.view()) == 1);
  CHECK(h.regions[1].results == 3);
  CHECK(h.nodes[h.view().result(0)].index == 2);
  CHECK(h.nodes[h.view().result(1)].index == 0);
  CHECK(verify(h.view()) == nullptr);
}
