// Reads, assigns and their order, in place where that is safe.
#include <doctest/doctest.h>

#include "calque/core/error.hpp"
#include "run/harness.hpp"

using namespace harness;

TEST_CASE("an update writes the variable in place in one step and survives replays (C116)") {
  maker b;
  const int v = b.variable(1);
  b.assign(v, b.times(v, 2));
  program p(b.done({b.plus(v, 1)}));
  call c;
  block& w = c.variable({2}, {1, 11});
  CHECK(c.run(p)[0] == numbers{3, 23});
  CHECK(w.get() == numbers{2, 22});
  CHECK(c.run(p)[0] == numbers{5, 45});
  w.set({10, 20});
  CHECK(c.run(p)[0] == numbers{21, 41});
  CHECK(p.cache.stats().misses == 1);
  CHECK(p.cache.stats().launches == 6);
}

TEST_CASE("a read before an assign keeps the old value, also as a result (C062)") {
  maker b;
  const int v = b.variable(1);
  const int old = b.value_of(v);
  b.assign(v, b.plus(v, 1));
  const int fresh = b.value_of(v);
  program p(b.done({old, fresh, b.times(old, 10)}));
  call c;
  block& w = c.variable({2}, {1, 2});
  const auto r = c.run(p);
  CHECK(r[0] == numbers{1, 2});
  CHECK(r[1] == numbers{2, 3});
  CHECK(r[2] == numbers{10, 20});
  CHECK(w.get() == numbers{2, 3});
}

TEST_CASE("two variables are swapped (C095)") {
  maker b;
  const int v = b.variable(1), w = b.variable(1);
  const int x = b.value_of(v), y = b.value_of(w);
  b.assign(v, y);
  b.assign(w, x);
  program p(b.done({}));
  call c;
  block& first = c.variable({2}, {1, 2});
  block& second = c.variable({2}, {3, 4});
  c.run(p);
  CHECK(first.get() == numbers{3, 4});
  CHECK(second.get() == numbers{1, 2});
}

TEST_CASE("a step of gradient descent reads all variables before it writes any (C059)") {
  maker b;
  const int w = b.variable(0), k = b.variable(0), x = b.scalar(), t = b.scalar();
  const int y = b.add(b.mul(w, x), k);
  const int e = b.sub(y, t);
  b.assign(w, b.sub(w, b.times(b.mul(e, x), 0.1)));
  b.assign(k, b.sub(k, b.times(e, 0.1)));
  program p(b.done({y}));
  call c;
  block& vw = c.variable({}, {1});
  block& vk = c.variable({}, {0});
  c.scalar(2);
  c.scalar(10);
  c.run(p);
  CHECK(vw.get()[0] == doctest::Approx(2.6));
  CHECK(vk.get()[0] == doctest::Approx(0.8));
}

TEST_CASE("assigning twice, the value between is still there for its readers") {
  maker b;
  const int v = b.variable(1);
  b.assign(v, b.plus(v, 1));
  const int middle = b.value_of(v);
  b.assign(v, b.times(v, 10));
  program p(b.done({middle, b.transpose(b.reshape(middle, {1, 2}))}));
  call c;
  block& w = c.variable({2}, {1, 2});
  const auto r = c.run(p);
  CHECK(r[0] == numbers{2, 3});
  CHECK(r[1] == numbers{2, 3});
  CHECK(w.get() == numbers{20, 30});
}

TEST_CASE("v = transpose(v) and v = v + transpose(v) read before they write (C061)") {
  maker b;
  const int v = b.variable(2);
  b.assign(v, b.transpose(b.value_of(v)));
  b.assign(v, b.add(v, b.transpose(b.value_of(v))));
  program p(b.done({}));
  call c;
  block& w = c.variable({2, 2}, {1, 2, 3, 4});
  c.run(p);
  CHECK(w.get() == numbers{2, 5, 5, 8});
}

TEST_CASE("v = transpose(v + 1) does not write over what it still reads (C061)") {
  maker b;
  const int v = b.variable(2);
  b.assign(v, b.transpose(b.plus(v, 1)));
  program p(b.done({}));
  call c;
  block& w = c.variable({3, 3}, iota(9));
  c.run(p);
  CHECK(w.get() == numbers{2, 5, 8, 3, 6, 9, 4, 7, 10});
}

TEST_CASE("one variable twice is legal to read and refused to write, with both places named") {
  maker b;
  const int v = b.variable(1), w = b.variable(1);
  program reads(b.done({b.add(v, w)}));
  call c;
  c.variable({2}, {1, 2}, "w");
  c.variable({2}, {1, 2}, "w");
  c.leaves[1] = c.leaves[0];
  CHECK(c.run(reads)[0] == numbers{2, 4});
  maker m;
  const int x = m.variable(1), y = m.variable(1);
  m.assign(x, m.add(x, y));
  program writes(m.done({}));
  CHECK_THROWS_WITH_AS(c.run(writes),
                       "variable \"w\" (argument 0) and variable \"w\" (argument 1) are one "
                       "variable, and the function assigns it; pass it once",
                       calque::alias_error);
  CHECK(c.blocks.front().get() == numbers{1, 2});
}

TEST_CASE("an array argument that shares a variable's memory is read as it was") {
  maker b;
  const int v = b.variable(1), x = b.array(1);
  b.assign(v, b.times(v, 2));
  program p(b.done({b.add(v, x)}));
  call c;
  block& w = c.variable({3}, {1, 2, 3});
  c.array({3}, {0, 0, 0});
  c.leaves[1].data = w.data();
  CHECK(c.run(p)[0] == numbers{3, 6, 9});
  CHECK(w.get() == numbers{2, 4, 6});
}

TEST_CASE("what a call reads and writes of its variables is known from the plan") {
  maker b;
  const int v = b.variable(1), w = b.variable(1), u = b.variable(1), q = b.variable(1);
  b.assign(v, b.plus(w, 1));
  b.assign(u, b.plus(u, 1));
  const int p0 = b.less(b.sum(w, 1), b.sum(v, 1));
  b.cond(
      p0,
      [&] {
        b.assign(q, b.value_of(v));
        return std::vector<int>{};
      },
      [&] { return std::vector<int>{}; });
  program p(b.done({b.value_of(q)}));
  call c;
  for (int i = 0; i < 4; ++i) c.variable({2}, {1, 2});
  const auto plan = p.cache.find(c.request());
  CHECK(!plan->reads_variable(0));
  CHECK(plan->writes_variable(0));
  CHECK(plan->reads_variable(1));
  CHECK(!plan->writes_variable(1));
  CHECK(plan->reads_variable(2));
  CHECK(plan->writes_variable(2));
  CHECK(plan->reads_variable(3));  // one branch leaves it as it was
  CHECK(plan->writes_variable(3));
}
