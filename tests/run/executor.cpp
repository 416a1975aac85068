#include "calque/run/executor.hpp"

#include <doctest/doctest.h>

#include "run/harness.hpp"

using namespace harness;

TEST_CASE("a map step computes its broadcast operands") {
  maker b;
  const int x = b.array(2), y = b.array(1), a = b.scalar();
  program p(b.done({b.add(b.mul(x, a), y)}));
  call c;
  c.array({2, 3}, iota(6));
  c.array({3}, {10, 20, 30});
  c.scalar(2);
  CHECK(c.run(p)[0] == numbers{12, 24, 36, 18, 30, 42});
  CHECK(c.run(p)[0] == numbers{12, 24, 36, 18, 30, 42});
  CHECK(p.cache.stats().misses == 1);
  CHECK(p.cache.stats().hits == 1);
  CHECK(p.cache.stats().launches == 4);
}

TEST_CASE("strided, transposed and reversed arguments are read in place") {
  maker b;
  const int x = b.array(2), y = b.array(2);
  program p(b.done({b.add(x, b.transpose(y)), b.sum(x, 1), b.sum(x, 2, true), b.sum(y, 3)}));
  call c;
  c.array({2, 3}, iota(6), dtype::float32, {1, 2});
  c.array({3, 2}, iota(6), dtype::float32, {4, 2});
  const auto r = c.run(p);
  CHECK(r[0] == numbers{2, 5, 8, 6, 9, 12});
  CHECK(r[1] == numbers{5, 7, 9});
  CHECK(r[2] == numbers{6, 15});
  CHECK(r[3] == numbers{21});
}

TEST_CASE("reductions, matmul and argmax over their axes") {
  maker b;
  const int x = b.array(3);
  const int m = b.matmul(b.reshape(x, {4, 3}), b.transpose(b.reshape(x, {4, 3})));
  program p(b.done({b.sum(x, 2), b.max(x, 5), b.argmax(x, 2), m}));
  call c;
  c.array({2, 2, 3}, {1, 5, 2, 7, 3, 7, -1, -5, 0, 4, 4, 4});
  const auto r = c.run(p);
  CHECK(r[0] == numbers{8, 8, 9, 3, -1, 4});
  CHECK(r[1] == numbers{5, 7});
  CHECK(r[2] == numbers{1, 0, 2, 0});
  CHECK(r[3][0] == 30);
  CHECK(r[3][7] == 68);  // {7, 3, 7} by {4, 4, 4}
}

TEST_CASE("views have no step, a reshape that strides cannot express copies") {
  maker b;
  const int x = b.array(2);
  program p(b.done({b.reshape(b.transpose(x), {6}), b.broadcast(b.sum(x, 1, true), {2, 3})}));
  call c;
  c.array({2, 3}, iota(6));
  const auto r = c.run(p);
  CHECK(r[0] == numbers{1, 4, 2, 5, 3, 6});
  CHECK(r[1] == numbers{5, 7, 9, 5, 7, 9});
}

TEST_CASE("sum_to sums what broadcasting added, and nothing where nothing was") {
  maker b;
  const int x = b.array(2), y = b.array(2);
  program p(b.done({b.sum_to(b.add(x, y), y)}));
  call c;
  c.array({2, 3}, iota(6));
  c.array({1, 3}, {0, 0, 0});
  CHECK(c.run(p)[0] == numbers{5, 7, 9});
  call d;
  d.array({2, 3}, iota(6));
  d.array({2, 3}, iota(6));
  CHECK(d.run(p)[0] == numbers{2, 4, 6, 8, 10, 12});
}

TEST_CASE("empty arrays: no launch for an empty map, an identity for an empty sum (C031, C034)") {
  maker b;
  const int x = b.array(2), y = b.array(2);
  program p(b.done({b.add(x, y), b.sum(x, 1)}));
  call c;
  c.array({0, 3}, {});
  c.array({1, 3}, {1, 2, 3});
  const auto r = c.run(p);
  CHECK(r[0].empty());
  CHECK(r[1] == numbers{0, 0, 0});
  CHECK(p.cache.stats().launches == 1);
}

TEST_CASE("results never share memory: arguments, views and duplicates are copied") {
  maker b;
  const int x = b.array(2);
  const int y = b.plus(x, 1);
  program p(b.done({x, x, b.transpose(x), y, y}));
  call c;
  c.array({2, 2}, iota(4));
  const auto r = c.run(p);
  CHECK(r[0] == iota(4));
  CHECK(r[1] == iota(4));
  CHECK(r[2] == numbers{1, 3, 2, 4});
  CHECK(r[3] == iota(4, 2));
  CHECK(r[4] == iota(4, 2));
}

TEST_CASE("results go into strided destinations without a temporary") {
  maker b;
  const int x = b.array(2);
  program p(b.done({b.plus(x, 1), b.transpose(b.times(x, 2)), b.sum(x, 2)}));
  call c;
  c.array({2, 3}, iota(6));
  block o0 = make_block({2, 3}, numbers(6, 0), dtype::float32, {1, 4});
  block o1 = make_block({3, 2}, numbers(6, 0), dtype::float32, {3, 1});
  block o2 = make_block({2}, {0, 0}, dtype::float32, {5});
  c.into(p, {&o0, &o1, &o2});
  CHECK(o0.get() == iota(6, 2));
  CHECK(o1.get() == numbers{2, 8, 4, 10, 6, 12});
  CHECK(o2.get() == numbers{6, 15});
  CHECK(p.cache.stats().launches == 3);
}

TEST_CASE("iota and extents as values") {
  maker b;
  const int x = b.array(2);
  const std::int32_t dims[] = {b.at(x).dims[0], b.at(x).dims[1]};
  const int i0 = b.iota(dtype::int64, 2, dims, 0), i1 = b.iota(dtype::int64, 2, dims, 1);
  program p(b.done({b.add(i0, i1), b.mul(i1, b.extent_of(dims[0]))}));
  call c;
  c.array({2, 3}, iota(6));
  const auto r = c.run(p);
  CHECK(r[0] == numbers{0, 1, 2, 1, 2, 3});
  CHECK(r[1] == numbers{0, 2, 4, 0, 2, 4});
}
