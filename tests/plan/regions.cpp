// Branches and loops: what runs, what is carried, stacked and sliced.
#include <doctest/doctest.h>

#include "run/harness.hpp"

using namespace harness;
using step = maker::step_result;

TEST_CASE("one branch runs, its effects alone happen (C094)") {
  maker b;
  const int s = b.scalar(), a = b.variable(1), d = b.variable(1), x = b.array(1);
  const auto r = b.cond(
      b.less(s, b.number(dtype::float32, 0)),
      [&] {
        b.assign(a, b.plus(a, 1));
        return std::vector<int>{a, b.plus(x, 5)};
      },
      [&] {
        b.assign(d, b.times(d, 2));
        return std::vector<int>{d, x};
      });
  program p(b.done({r[0], r[1], b.value_of(a), b.value_of(d)}));
  call c;
  c.scalar(-1);
  block& va = c.variable({2}, {1, 1});
  block& vd = c.variable({2}, {7, 8});
  c.array({2}, {10, 20});
  auto out = c.run(p);
  CHECK(out[0] == numbers{2, 2});
  CHECK(out[1] == numbers{15, 25});
  CHECK(va.get() == numbers{2, 2});
  CHECK(vd.get() == numbers{7, 8});
  *static_cast<float*>(const_cast<void*>(c.leaves[0].data)) = 1;
  out = c.run(p);
  CHECK(out[0] == numbers{14, 16});
  CHECK(out[1] == numbers{10, 20});
  CHECK(out[2] == numbers{2, 2});
  CHECK(out[3] == numbers{14, 16});
  CHECK(vd.get() == numbers{14, 16});
  CHECK(p.cache.stats().misses == 1);
}

TEST_CASE("a loop carries its state, stacks results and slices operands, forwards and backwards") {
  for (bool reverse : {false, true}) {
    CAPTURE(reverse);
    maker b;
    const int x = b.array(1), xs = b.array(2);
    const int n = b.extent_of(b.at(xs).dims[0]);
    const auto r = b.loop(
        n, {x}, {xs},
        [&](int i, auto s, auto slice) {
          const int next = b.add(b.times(s[0], 2), slice[0]);
          return step{{next}, {b.plus(next, 100), i}};
        },
        reverse);
    program p(b.done(r));
    call c;
    c.array({2}, {1, 1});
    c.array({3, 2}, {1, 2, 3, 4, 5, 6});
    const auto out = c.run(p);
    if (!reverse) {
      CHECK(out[0] == numbers{8 + 4 + 6 + 5, 8 + 8 + 8 + 6});
      CHECK(out[1] == numbers{103, 104, 109, 112, 123, 130});
    } else {
      CHECK(out[0] == numbers{8 + 20 + 6 + 1, 8 + 24 + 8 + 2});
      CHECK(out[1] == numbers{135, 142, 117, 120, 107, 108});
    }
    CHECK(out[2] == numbers{0, 1, 2});
  }
}

TEST_CASE("a loop without a step gives its initial state and empty stacks (C035)") {
  maker b;
  const int x = b.array(1), n = b.scalar(dtype::int64);
  const auto r = b.loop(b.value_of(n), {x}, {},
                        [&](int, auto s, auto) { return step{{b.plus(s[0], 1)}, {}}; });
  program p(b.done(r));
  call c;
  c.array({3}, {1, 2, 3});
  block& trips = c.scalar(0, dtype::int64);
  CHECK(c.run(p)[0] == numbers{1, 2, 3});
  trips.set({-2});
  CHECK(c.run(p)[0] == numbers{1, 2, 3});
  trips.set({4});
  CHECK(c.run(p)[0] == numbers{5, 6, 7});
  CHECK(p.cache.stats().misses == 1);
  maker m;
  const int y = m.array(1);
  const auto q = m.loop(m.count(0), {y}, {},
                        [&](int, auto s, auto) { return step{{m.plus(s[0], 1)}, {s[0]}}; });
  program empty(m.done(q));
  call d;
  d.array({3}, {1, 2, 3});
  const auto out = d.run(empty);
  CHECK(out[0] == numbers{1, 2, 3});
  CHECK(out[1].empty());
}

TEST_CASE("states that swap, rotate, stay and double each see the step before (C095)") {
  maker b;
  const int x = b.array(1), y = b.array(1), z = b.array(1);
  const auto r = b.loop(b.count(5), {x, y, z}, {}, [&](int, auto s, auto) {
    return step{{s[1], s[0], b.add(s[2], s[0])}, {s[2], s[0]}};
  });
  program p(b.done(r));
  call c;
  c.array({1}, {1});
  c.array({1}, {2});
  c.array({1}, {0});
  const auto out = c.run(p);
  CHECK(out[0] == numbers{2});
  CHECK(out[1] == numbers{1});
  CHECK(out[2] == numbers{1 + 2 + 1 + 2 + 1});
  CHECK(out[3] == numbers{0, 1, 3, 4, 6});
  CHECK(out[4] == numbers{1, 2, 1, 2, 1});
}

TEST_CASE("variables swapped and updated in each step of a loop (C095)") {
  maker b;
  const int v = b.variable(1), w = b.variable(1), u = b.variable(1);
  b.loop(b.count(3), {}, {}, [&](int, auto, auto) {
    const int x = b.value_of(v), y = b.value_of(w);
    b.assign(v, y);
    b.assign(w, b.plus(x, 1));
    b.assign(u, b.add(u, b.value_of(v)));
    return step{};
  });
  program p(b.done({b.value_of(u)}));
  call c;
  block& a = c.variable({1}, {1});
  block& d = c.variable({1}, {10});
  c.variable({1}, {0});
  // (1, 10) -> (10, 2) -> (2, 11) -> (11, 3); u = 10 + 2 + 11
  CHECK(c.run(p)[0] == numbers{23});
  CHECK(a.get() == numbers{11});
  CHECK(d.get() == numbers{3});
}

TEST_CASE("a value read before a loop keeps what it was while the loop assigns its variable") {
  maker b;
  const int v = b.variable(1);
  const int before = b.value_of(v);
  const auto r = b.loop(b.count(3), {before}, {}, [&](int, auto s, auto) {
    b.assign(v, b.plus(v, 1));
    return step{{b.add(s[0], before)}, {b.value_of(v)}};
  });
  program p(b.done({r[0], r[1], before, b.value_of(v)}));
  call c;
  c.variable({1}, {10});
  const auto out = c.run(p);
  CHECK(out[0] == numbers{40});
  CHECK(out[1] == numbers{11, 12, 13});
  CHECK(out[2] == numbers{10});
  CHECK(out[3] == numbers{13});
}

TEST_CASE("loops in loops, conds in loops, captures through both") {
  maker b;
  const int x = b.array(2), k = b.array(1);
  const int rows = b.extent_of(b.at(x).dims[0]), columns = b.extent_of(b.at(x).dims[1]);
  const int zero = b.number(dtype::float32, 0);
  const auto r = b.loop(rows, {zero}, {x}, [&](int i, auto s, auto row) {
    const auto inner = b.loop(columns, {s[0]}, {row[0], k}, [&](int j, auto t, auto e) {
      const int pick = b.less(j, i);
      const auto chosen = b.cond(
          pick, [&] { return std::vector<int>{b.mul(e[0], e[1])}; },
          [&] { return std::vector<int>{b.number(dtype::float32, 1)}; });
      const int next = b.add(t[0], chosen[0]);
      return step{{next}, {next}};
    });
    return step{{inner[0]}, {inner[1], b.add(row[0], k)}};
  });
  program p(b.done(r));
  call c;
  c.array({3, 2}, iota(6), dtype::float32, {1, 3});
  c.array({2}, {10, 100});
  // (0,0) 1; (0,1) 1; (1,0) 3*10; (1,1) 1; (2,0) 5*10; (2,1) 6*100
  const auto out = c.run(p);
  CHECK(out[0] == numbers{683});
  CHECK(out[1] == numbers{1, 2, 32, 33, 83, 683});
  CHECK(out[2] == numbers{11, 102, 13, 104, 15, 106});
}

TEST_CASE("results of regions are computed where the call wants them") {
  maker b;
  const int x = b.array(1);
  const auto r = b.loop(b.count(4), {b.plus(x, 0.5)}, {}, [&](int, auto s, auto) {
    const int next = b.times(s[0], 2);
    return step{{next}, {b.plus(next, 1)}};
  });
  program p(b.done(r));
  call c;
  c.array({2}, {0.5, 1.5});
  const auto out = c.run(p);
  CHECK(out[0] == numbers{16, 32});
  CHECK(out[1] == numbers{3, 5, 5, 9, 9, 17, 17, 33});
  CHECK(p.cache.stats().launches == 1 + 4 * 2);                   // no copies
  CHECK(p.cache.find(c.request())->arena_bytes().count() == 16);  // the loop's counters
}

TEST_CASE("a loop over memory that its result overlaps reads all of it first (C064)") {
  maker b;
  const int x = b.array(1);
  const auto r =
      b.loop(b.count(3), {x}, {}, [&](int, auto s, auto) { return step{{b.add(s[0], x)}, {}}; });
  program p(b.done({r[0]}));
  call c;
  block& a = c.array({3}, {1, 2, 3});
  block o = make_block({3}, {}, dtype::float32, {}, a.data());
  c.into(p, {&o});
  CHECK(a.get() == numbers{4, 8, 12});
}
