#include "calque/run/plan_cache.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "allocation_counter/allocation_counter.hpp"
#include "calque/core/error.hpp"
#include "run/harness.hpp"

using namespace harness;

namespace {

program doubled() {
  maker b;
  const int x = b.array(1), a = b.scalar();
  return program(b.done({b.mul(x, a)}));
}
numbers call_with(program& p, std::int64_t n, double a, extents strides = {}) {
  call c;
  c.array({n}, iota(n), dtype::float32, strides);
  c.scalar(a);
  return c.run(p)[0];
}

}  // namespace

TEST_CASE("one plan for each set of sizes; a scalar's value is no part of the key (A4, A7)") {
  program p = doubled();
  for (double a : {1.0, 2.0, 3.0}) CHECK(call_with(p, 3, a) == numbers{a, 2 * a, 3 * a});
  CHECK(p.cache.stats().misses == 1);
  for (std::int64_t n : {100, 37, 10000, 100, 37}) CHECK(call_with(p, n, 1) == iota(n));
  const calque::cache_stats s = p.cache.stats();
  CHECK(s.misses == 4);
  CHECK(s.hits == 4);
  CHECK(s.plans == 4);
  CHECK(s.launches == 8);
  CHECK(s.evictions == 0);
}

TEST_CASE("strides that say what null says, and those of axes of extent 1, are the same key (A4)") {
  maker b;
  const int x = b.array(3);
  program p(b.done({b.plus(x, 1)}));
  for (extents s : {extents{}, extents{3, 3, 1}, extents{77, 3, 1}, extents{3, -5, 1}}) {
    call c;
    c.array({s.empty() || s[1] == 3 ? 1 : 1, 1, 3}, iota(3), dtype::float32, s);
    CHECK(c.run(p)[0] == iota(3, 2));
  }
  CHECK(p.cache.stats().misses == 1);
}

TEST_CASE("each miss says which argument and field made it (A6)") {
  maker b;
  const int x = b.array(2), y = b.array(2), v = b.variable(1), w = b.variable(1);
  program p(b.done({b.add(x, y), b.add(v, w)}));
  const auto plan = [&](extents ex, extents sx, bool shared, bool into, bool over) {
    call c;
    block& first = c.array(ex, {}, dtype::float32, sx);
    c.array({1, 1}, {1});
    c.variable({2}, {1, 2});
    c.variable({2}, {1, 2});
    if (shared) c.leaves[3] = c.leaves[2];
    block o0 = make_block(ex, {}, dtype::float32, sx, over ? first.data() : nullptr);
    block o1 = make_block({2}, {});
    std::vector<calque::output> outs{{o0.shape.data(), o0.stride_list(), o0.data()},
                                     {o1.shape.data(), nullptr, o1.data()}};
    (void)p.cache.find(c.request(into ? &outs : nullptr));
    return p.cache.last_miss();
  };
  CHECK(p.cache.last_miss().empty());
  CHECK(plan({2, 3}, {}, false, false, false) == "first call");
  CHECK(plan({2, 5}, {}, false, false, false) ==
        "argument 0: extent of axis 1 is 5, before it was 3");
  CHECK(plan({2, 5}, {7, 1}, false, false, false) ==
        "argument 0: stride of axis 0 is 7, before it was 5");
  CHECK(plan({2, 5}, {7, 1}, true, false, false) ==
        "alias pattern: argument 3 and argument 2 are one variable");
  CHECK(plan({2, 5}, {7, 1}, true, true, false) ==
        "the results have destinations, before they were fresh arrays");
  CHECK(plan({2, 5}, {7, 1}, true, true, true) ==
        "alias pattern: output 0 and argument 0 overlap in memory now");
  CHECK(p.cache.stats().misses == 6);
  std::string other = "unset";
  std::thread([&] { other = p.cache.last_miss(); }).join();
  CHECK(other.empty());
}

TEST_CASE("the ninth plan evicts the one used longest ago (A6)") {
  program p = doubled();
  p.cache.limit(8, calque::bytes(0));
  for (std::int64_t n = 1; n <= 8; ++n) call_with(p, n, 1);
  call_with(p, 1, 1);  // 2 is now the oldest
  call_with(p, 9, 1);
  CHECK(p.cache.stats().plans == 8);
  CHECK(p.cache.stats().evictions == 1);
  call_with(p, 1, 1);
  CHECK(p.cache.stats().misses == 9);
  call_with(p, 2, 1);
  CHECK(p.cache.stats().misses == 10);
}

TEST_CASE("a plan in use survives eviction, clear and a bigger limit") {
  program p = doubled();
  p.cache.limit(1, calque::bytes(0));
  call c;
  c.array({3}, iota(3));
  c.scalar(2);
  const calque::plan_lease lease = p.cache.find(c.request());
  for (std::int64_t n = 4; n < 40; ++n) call_with(p, n, 1);
  p.cache.clear();
  p.cache.limit(500, calque::bytes(0));
  for (std::int64_t n = 4; n < 400; ++n) call_with(p, n, 1);
  CHECK(p.cache.stats().plans == 396);
  block out = make_block({3}, {});
  void* to = out.data();
  calque::replay(*lease, c.leaves.data(), &to);
  CHECK(out.get() == numbers{2, 4, 6});
}

TEST_CASE("bytes bound the plans, and the newest always stays") {
  maker b;
  const int x = b.array(2);
  program p(b.done({b.matmul(b.matmul(x, x), x)}));
  const auto run = [&](std::int64_t n) {
    call c;
    c.array({n, n}, numbers(static_cast<std::size_t>(n * n), 1));
    return c.run(p)[0][0];
  };
  using namespace calque::literals;
  p.cache.limit(64, 20_KiB);
  for (std::int64_t n = 20; n < 40; ++n)
    CHECK(run(n) == doctest::Approx(static_cast<double>(n * n)));
  CHECK(p.cache.stats().plans < 10);
  CHECK(run(200) == 40000);
  CHECK(p.cache.stats().plans == 1);
}

TEST_CASE("a call that cannot be planned changes nothing, and the next one works (C6)") {
  maker b;
  const int x = b.array(1), y = b.array(1);
  program p(b.done({b.add(x, y)}));
  call bad;
  bad.array({2}, {1, 2});
  bad.array({3}, {1, 2, 3});
  CHECK_THROWS_AS(bad.run(p), calque::shape_error);
  CHECK(p.cache.stats().misses == 0);
  CHECK(p.cache.stats().plans == 0);
  call good;
  good.array({2}, {1, 2});
  good.array({2}, {1, 2});
  CHECK(good.run(p)[0] == numbers{2, 4});
}

TEST_CASE("launches count with the uses of plans, also of plans that are gone") {
  program p = doubled();
  p.cache.limit(2, calque::bytes(0));
  block out = make_block({40}, {});
  void* to = out.data();
  std::int64_t launches = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    call c;
    c.array({1 + i * 7 % 5}, {});
    c.scalar(2);
    (void)p.cache.find(c.request());  // a look
    calque::plan_use use = p.cache.use(c.request());
    if (i % 3 == 0) continue;  // a call that does not come to its end
    calque::detail::replay_use(*use, c.leaves.data(), &to);
    use.ran();
    launches += use->steps();
    if (i % 10 == 1) {
      calque::replay(*use, c.leaves.data(), &to);  // by hand
      launches += use->steps();
    }
    if (i % 17 == 1) p.cache.clear();
  }
  CHECK(p.cache.stats().launches == launches);
  CHECK(p.cache.stats().hits + p.cache.stats().misses == 200);
  CHECK(p.cache.stats().evictions > 10);
}

TEST_CASE("launches of plans with control flow are those that ran, whoever runs them") {
  maker b;
  const int x = b.array(1), on = b.scalar(dtype::boolean);
  const auto r = b.cond(
      on,
      [&] { return std::vector{b.plus(b.matmul(b.reshape(x, {1, 2}), b.reshape(x, {2, 1})), 1)}; },
      [&] { return std::vector{b.reshape(b.sum(x, 1), {1, 1})}; });
  program p(b.done(r));
  block out = make_block({1, 1}, {});
  void* to = out.data();
  const auto launches = [&](bool predicate, bool by_use) {
    call c;
    c.array({2}, {1, 2});
    c.scalar(predicate, dtype::boolean);
    const auto before = p.cache.stats().launches;
    calque::plan_use use = p.cache.use(c.request());
    if (by_use) calque::detail::replay_use(*use, c.leaves.data(), &to);
    else calque::replay(*use, c.leaves.data(), &to);
    use.ran();
    return p.cache.stats().launches - before;
  };
  for (bool predicate : {false, true})
    CHECK(launches(predicate, true) == launches(predicate, false));
  CHECK(launches(true, true) > launches(false, true));
}

TEST_CASE("planning launches nothing and allocates no tensor memory (A2, A3)") {
  maker b;
  const int x = b.array(2);
  program p(b.done({b.matmul(b.matmul(x, x), x)}));
  call c;
  c.array({64, 64}, {});
  const auto before = calque::counters(calque::cpu());
  const auto plan = p.cache.find(c.request());
  const auto after = calque::counters(calque::cpu());
  CHECK(after.allocations == before.allocations);
  CHECK(after.launches == before.launches);
  CHECK(plan->arena_bytes().count() == 64 * 64 * 4);
  CHECK(plan->peak_bytes().count() == 2 * 64 * 64 * 4);
}

TEST_CASE("a warm call allocates nothing, also over eight sizes and with an arena (A5, C4)") {
  maker b;
  const int x = b.array(2), v = b.variable(0);
  const int y = b.matmul(b.matmul(x, x), x);
  b.assign(v, b.sum(y, 3));
  program p(b.done({y}));
  std::list<call> calls;
  std::list<block> outs;
  std::vector<std::vector<calque::output>> lists;
  for (std::int64_t n = 1; n <= 8; ++n) {
    call& c = calls.emplace_back();
    c.array({n, n}, {});
    c.variable({}, {0});
    block& o = outs.emplace_back(make_block({n, n}, {}));
    lists.push_back({{o.shape.data(), nullptr, o.data()}});
  }
  const auto run_all = [&] {
    auto o = outs.begin();
    std::size_t i = 0;
    for (call& c : calls) {
      void* to = (o++)->data();
      const auto plan = p.cache.find(c.request(&lists[i++]));
      calque::replay(*plan, c.leaves.data(), &to);
    }
  };
  run_all();
  allocation_counter counter;
  for (int i = 0; i < 10; ++i) run_all();
  CHECK(counter.count() == 0);
  CHECK(p.cache.stats().misses == 8);
}

TEST_CASE("eight threads on one cold cache plan each key once and agree (A14)") {
  maker b;
  const int x = b.array(2);
  program p(b.done({b.matmul(b.matmul(x, x), x)}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0}, ready{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      ++ready;
      while (ready < 8) std::this_thread::yield();
      for (int i = 0; i < 60; ++i) {
        const std::int64_t n = 1 + i % 4;
        call c;
        c.array({n, n}, numbers(static_cast<std::size_t>(n * n), 1));
        if (c.run(p)[0] != numbers(static_cast<std::size_t>(n * n), static_cast<double>(n * n)))
          ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(p.cache.stats().misses == 4);
  CHECK(p.cache.stats().hits == 8 * 60 - 4);
}

TEST_CASE("a storm of evictions under eight threads never frees a plan in use (A6, A14)") {
  program p = doubled();
  p.cache.limit(2, calque::bytes(0));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const std::int64_t n = 1 + (i * 7 + t) % 11;
        numbers expected = iota(n);
        for (double& v : expected) v *= 3;
        if (call_with(p, n, 3) != expected) ++wrong;
        if (i % 50 == 49 && t == 0) p.cache.clear();
        if (i % 60 == 59 && t == 1) p.cache.limit(2 + i / 60, calque::bytes(0));
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(p.cache.stats().evictions > 100);
}
