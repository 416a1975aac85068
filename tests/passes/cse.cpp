#include "calque/passes/cse.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "calque/graph/dump.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/reduce.hpp"
#include "calque/passes/verify.hpp"
#include "support/arguments.hpp"

namespace {

using namespace calque;
using namespace calque::test;

constexpr dtype f32 = dtype::float32;

/// 500 nodes: every third one repeats an earlier one.
struct five_hundred {
  constexpr graph operator()() const {
    builder b;
    int x = array_of(b, f32, 1);
    while (b.g.nodes.size() < 498) {
      const int a = b.map_of<op::add>(f32, x, x), c = b.map_of<op::add>(f32, x, x);
      x = b.map_of<op::mul>(f32, a, c);
    }
    return finish(b, x);
  }
};
struct merged {
  constexpr graph operator()() const { return cse(frozen_by<five_hundred>::view()); }
};

}  // namespace

// One constant evaluation under the compiler's default limits.
static_assert(frozen_by<five_hundred>::view().node_count >= 498);
static_assert(count_op<op::add>(frozen_by<merged>::view()) ==
              count_op<op::mul>(frozen_by<merged>::view()));
static_assert(verify(frozen_by<merged>::view()) == nullptr);

TEST_CASE("cse merges nodes of one operation, type and inputs, and what follows from them") {
  builder b;
  const int x = array_of(b, f32, 1), y = array_of(b, f32, 1);
  const int a = b.map_of<op::add>(f32, x, y), c = b.map_of<op::add>(f32, x, y);
  const int d = b.map_of<op::mul>(f32, a, x), e = b.map_of<op::mul>(f32, c, x);
  const graph g = finish(b, d, e);
  const graph h = cse(g.view());
  CHECK(count_op<op::add>(h.view()) == 1);
  CHECK(count_op<op::mul>(h.view()) == 1);
  CHECK(h.view().result(0) == h.view().result(1));
  CHECK(verify(h.view()) == nullptr);
  CHECK(dump(cse(h.view()).view()) == dump(h.view()));
}

TEST_CASE("cse keeps nodes apart that differ in operation, type, attribute or order of inputs") {
  builder b;
  const int x = array_of(b, f32, 2), y = array_of(b, f32, 2);
  constexpr std::int8_t still[] = {0, 1}, swapped[] = {1, 0};
  const std::int32_t dims[] = {b.at(x).dims[0], b.at(x).dims[1]};
  const int ids[] = {
      b.map_of<op::sub>(f32, x, y),
      b.map_of<op::sub>(f32, y, x),
      b.map_of<op::add>(f32, x, y),
      b.map_of<op::cast>(dtype::int32, x),
      b.map_of<op::cast>(dtype::int64, x),
      op::transpose::build(b, x, still),
      op::transpose::build(b, x, swapped),
      detail::build_reduction<op::sum>(b, x, 1, true, f32),
      detail::build_reduction<op::sum>(b, x, 2, true, f32),
      detail::build_reduction<op::sum>(b, x, 1, false, f32),
      detail::build_reduction<op::reduce_max>(b, x, 1, false, f32),
      b.iota(f32, 2, dims, 0),
      b.iota(f32, 2, dims, 1),
      b.extent_of(dims[0]),
      b.extent_of(dims[1]),
      b.number(f32, 0.0),
      b.number(f32, -0.0),
      b.number(dtype::float64, 0.0),
      b.constant_of(dtype::int32, {0, 0}),
  };
  const int before = b.g.nodes.size();
  const graph g = finish(b, ids[0]);
  CHECK(cse(g.view()).nodes.size() == before);
}

TEST_CASE("cse keeps nodes apart whose hashes share a bucket") {
  {  // 64 buckets, values that differ by multiples of 64
    builder b;
    const int x = array_of(b, f32, 8);
    for (unsigned mask : {1u, 65u, 129u, 193u})
      detail::build_reduction<op::sum>(b, x, mask, true, f32);
    const graph g = finish(b, x);
    CHECK(cse(g.view()).nodes.size() == g.nodes.size());
  }
  {  // extents that differ by multiples of any number of buckets
    builder b;
    const int x = array_of(b, f32, 2);
    const int n = extents_of(b, 1);
    for (int i = 0; i < 4096; ++i) b.argument_dim(n, 0);
    for (int d = 100; d < 4096; d += 128) {
      const std::int32_t dims[] = {d};
      op::reshape::build(b, x, 1, dims);
      b.extent_of(d);
    }
    const graph g = finish(b, x);
    CHECK(cse(g.view()).nodes.size() == g.nodes.size());
  }
  {  // more pairs of inputs than buckets
    builder b;
    for (int i = 0; i < 60; ++i) array_of(b, f32, 1);
    for (int i = 1; i <= 60; ++i)
      for (int k = 1; k <= 60; ++k) b.map_of<op::sub>(f32, i, k);
    std::int8_t perm[] = {0, 1, 2, 3, 4, 5};
    const int x = array_of(b, f32, 6);
    do op::transpose::build(b, x, perm);
    while (std::next_permutation(perm, perm + 6));
    const graph g = finish(b, x);
    CHECK(cse(g.view()).nodes.size() == g.nodes.size());
  }
}

TEST_CASE("cse compares extents where they are the specification, by what is proven equal") {
  builder b;
  const int x = array_of(b, f32, 2), n = extents_of(b, 3);
  const std::int32_t first[] = {b.argument_dim(n, 0)}, second[] = {b.argument_dim(n, 1)},
                     third[] = {b.argument_dim(n, 2)};
  b.unify(first[0], third[0]);
  const int r = op::reshape::build(b, x, 1, first), s = op::reshape::build(b, x, 1, second),
            t = op::reshape::build(b, x, 1, third);
  const int e = b.extent_of(first[0]), f = b.extent_of(third[0]);
  const graph g = finish(b, r, s, t, e, f);
  const graph h = cse(g.view());
  CHECK(h.view().result(0) != h.view().result(1));
  CHECK(h.view().result(0) == h.view().result(2));
  CHECK(h.view().result(3) == h.view().result(4));
}

TEST_CASE("cse ignores source lines and keeps the first name, or moves the other") {
  builder b;
  const int x = array_of(b, f32, 1);
  b.where = {1, "a.cpp"};
  const int p = b.map_of<op::neg>(f32, x);
  const int u = b.map_of<op::add>(f32, x, x);
  b.set_name(u, "first");
  b.where = {2, "b.cpp"};
  const int q = b.map_of<op::neg>(f32, x);
  b.set_name(q, "moved");
  const int v = b.map_of<op::add>(f32, x, x);
  b.set_name(v, "second");
  const graph g = finish(b, p, q, u, v);
  const graph h = cse(g.view());
  const graph_view w = h.view();
  CHECK(w.result(0) == w.result(1));
  CHECK(w.name(w.nodes[w.result(0)]) == "moved");
  CHECK(w.nodes[w.result(0)].line == 1);
  CHECK(w.result(2) == w.result(3));
  CHECK(w.name(w.nodes[w.result(2)]) == "first");
}

TEST_CASE("cse merges into an enclosing region, never into a sibling or an ended one") {
  builder b;
  const int x = array_of(b, f32, 1), p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int outside = b.map_of<op::neg>(f32, x);
  const int r0 = b.begin_region(false);
  const int a0 = b.map_of<op::neg>(f32, x), b0 = b.map_of<op::add>(f32, x, x);
  end_region(b, a0, b0);
  const int r1 = b.begin_region(false);
  const int a1 = b.map_of<op::neg>(f32, x), b1 = b.map_of<op::add>(f32, x, x);
  end_region(b, a1, b1);
  const int owner = cond_of(b, p, r0, r1);
  const int after = b.map_of<op::add>(f32, x, x);
  const graph g =
      finish(b, outside, after, b.result_of(owner, 0, b.at(x)), b.result_of(owner, 1, b.at(x)));
  const graph h = cse(g.view());
  CHECK(count_op<op::neg>(h.view()) == 1);
  CHECK(count_op<op::add>(h.view()) == 3);
  CHECK(verify(h.view()) == nullptr);
}

TEST_CASE("cse merges reads of one version only, and never effects, arguments or markers") {
  builder b;
  const int v = argument_of(b, argument_kind::variable, f32, 0);
  node read = builder::make<op::read>(f32);
  const int r0 = b.append_with(read, v, 0), r1 = b.append_with(read, v, 0);
  const int one = b.number(f32, 1);
  b.assign(v, one);
  const int first = b.g.nodes.size() - 1;
  const int r2 = b.append_with(read, v, first);
  b.assign(v, one);
  node marker = builder::make<op::marker>(f32);
  const int m0 = b.append_with(marker, one), m1 = b.append_with(marker, one);
  const graph g = finish(b, r0, r1, r2, m0, m1);
  const graph h = cse(g.view());
  const graph_view w = h.view();
  CHECK(w.result(0) == w.result(1));
  CHECK(w.result(0) != w.result(2));
  CHECK(w.result(3) != w.result(4));
  CHECK(count_kind(w, op_kind::assign) == 2);
}
