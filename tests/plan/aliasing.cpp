// Results written over arguments, overlapping memory, one array in several places.
#include <doctest/doctest.h>

#include "calque/core/error.hpp"
#include "run/harness.hpp"

using namespace harness;

namespace {

/// The block of an argument as a destination.
block over(block& b) {
  block o = make_block(b.shape, {}, b.type, b.strides, b.data());
  return o;
}

}  // namespace

TEST_CASE("an elementwise result is written over its argument in one step (C064)") {
  maker b;
  const int x = b.array(2);
  program p(b.done({b.times(b.plus(x, 1), 2)}));
  call c;
  block& a = c.array({2, 2}, iota(4));
  block o = over(a);
  c.into(p, {&o});
  CHECK(a.get() == numbers{4, 6, 8, 10});
  CHECK(p.cache.stats().launches == 2);
  block again = over(a);
  c.into(p, {&again});
  CHECK(a.get() == numbers{10, 14, 18, 22});
}

TEST_CASE("a + transpose(a) into a reads all of a first (C061)") {
  maker b;
  const int x = b.array(2);
  program p(b.done({b.add(x, b.transpose(x))}));
  call c;
  block& a = c.array({3, 3}, iota(9));
  block o = over(a);
  c.into(p, {&o});
  CHECK(a.get() == numbers{2, 6, 10, 6, 10, 14, 10, 14, 18});
}

TEST_CASE("a broadcast operand is read before the result lies over it (C061)") {
  maker b;
  const int x = b.array(2), y = b.array(2);
  program p(b.done({b.add(x, y)}));
  call c;
  c.array({3, 3}, iota(9));
  block& row = c.array({3, 3}, iota(9), dtype::float32, {3, 1});
  c.leaves[1].extents = extents{1, 3}.data();
  extents one{1, 3};
  c.leaves[1].extents = one.data();
  block o = over(row);
  c.into(p, {&o});
  CHECK(row.get() == numbers{2, 4, 6, 5, 7, 9, 8, 10, 12});
}

TEST_CASE("a later step still reads the argument that a result lies over (C062)") {
  maker b;
  const int x = b.array(1);
  const int y = b.plus(x, 1);
  const int z = b.mul(x, b.times(y, 2));
  program p(b.done({y, z}));
  call c;
  block& a = c.array({3}, iota(3));
  block o0 = over(a), o1 = make_block({3}, {0, 0, 0});
  c.into(p, {&o0, &o1});
  CHECK(a.get() == numbers{2, 3, 4});
  CHECK(o1.get() == numbers{4, 12, 24});
}

TEST_CASE("shifted overlap is staged, in both directions (C064)") {
  maker b;
  const int x = b.array(1);
  program p(b.done({b.times(x, 1)}));
  for (int shift : {-1, 1}) {
    call c;
    block& a = c.array({6}, iota(6));
    auto* data = static_cast<float*>(a.data());
    extents four{4};
    c.leaves[0].extents = four.data();
    c.leaves[0].data = data + 1;
    block o = make_block({4}, {}, dtype::float32, {}, data + 1 + shift);
    c.into(p, {&o});
    CHECK(o.get() == numbers{2, 3, 4, 5});
  }
}

TEST_CASE("arguments returned as they are, over each other, swap (C065)") {
  maker b;
  const int x = b.array(1), y = b.array(1);
  program p(b.done({y, x}));
  call c;
  block& a = c.array({3}, {1, 2, 3});
  block& d = c.array({3}, {4, 5, 6});
  block o0 = over(a), o1 = over(d);
  c.into(p, {&o0, &o1});
  CHECK(a.get() == numbers{4, 5, 6});
  CHECK(d.get() == numbers{1, 2, 3});
}

TEST_CASE("an argument returned over itself is no step; over its own transpose it is staged") {
  maker b;
  const int x = b.array(2);
  program same(b.done({x}));
  call c;
  block& a = c.array({2, 2}, iota(4));
  block o = over(a);
  c.into(same, {&o});
  CHECK(a.get() == iota(4));
  CHECK(same.cache.stats().launches == 0);
  maker m;
  const int y = m.array(2);
  program turned(m.done({m.transpose(y)}));
  block again = over(a);
  c.into(turned, {&again});
  CHECK(a.get() == numbers{1, 3, 2, 4});
}

TEST_CASE("the same array as several arguments is read in place (C065)") {
  maker b;
  const int x = b.array(1), y = b.array(1);
  program p(b.done({b.sub(x, b.times(y, 0.5)), b.add(x, y)}));
  call c;
  block& a = c.array({3}, {2, 4, 6});
  c.array({3}, {0, 0, 0});
  c.leaves[1].data = a.data();
  block o0 = over(a), o1 = make_block({3}, {0, 0, 0});
  c.into(p, {&o0, &o1});
  CHECK(a.get() == numbers{1, 2, 3});
  CHECK(o1.get() == numbers{4, 8, 12});
}

TEST_CASE("overlapping results are refused with both numbers, and nothing runs") {
  maker b;
  const int x = b.array(1);
  program p(b.done({b.plus(x, 1), b.plus(x, 2)}));
  call c;
  c.array({3}, {2, 4, 6});
  block o0 = make_block({3}, {9, 9, 9}), o1 = make_block({3}, {}, dtype::float32, {}, o0.data());
  CHECK_THROWS_WITH_AS(c.into(p, {&o0, &o1}),
                       "into: results 0 (f32[3]) and 1 (f32[3]) would be written to overlapping "
                       "memory; give each its own array",
                       calque::alias_error);
  CHECK(o0.get() == numbers{9, 9, 9});
  CHECK(p.cache.stats().plans == 0);
}

TEST_CASE("another layout of a destination over an argument is another plan") {
  maker b;
  const int x = b.array(2);
  program p(b.done({b.plus(x, 1)}));
  call c;
  block& a = c.array({2, 2}, iota(4));
  block turned = make_block({2, 2}, {}, dtype::float32, {1, 2}, a.data());
  c.into(p, {&turned});
  CHECK(turned.get() == numbers{2, 3, 4, 5});
  CHECK(a.get() == numbers{2, 4, 3, 5});
  block straight = over(a);
  c.into(p, {&straight});
  CHECK(a.get() == numbers{3, 5, 4, 6});
  CHECK(p.cache.stats().misses == 2);
}
