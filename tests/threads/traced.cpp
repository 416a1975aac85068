// Run under ThreadSanitizer too: many threads meet in one traced function.
#include <doctest/doctest.h>
#include <calque/calque.hpp>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace cq = calque;

namespace {

constexpr int threads = 8;

constexpr auto cold = cq::trace([](auto x, auto a) { return cq::sum(a * x + 1); });
constexpr auto many_sizes = cq::trace([](auto x) { return x * x + x; });

template <class F>
void run_on_all(F&& f) {
  std::barrier start(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      start.arrive_and_wait();
      f(t);
    });
  for (auto& t : all) t.join();
}

}  // namespace

TEST_CASE("8 threads call one cold traced function: one plan, right results (A14, C091)") {
  const cq::array<float, 1> x = cq::ones<float>(cq::shape{1000});
  std::atomic<int> wrong{0};
  run_on_all([&](int t) {
    for (int i = 0; i < 200; ++i)
      if (cold(x, static_cast<float>(t)).item() != static_cast<float>((t + 1) * 1000)) ++wrong;
  });
  CHECK(wrong == 0);
  CHECK(cold.stats().misses == 1);
  CHECK(cold.stats().hits == threads * 200 - 1);
}

TEST_CASE("threads evict each other's plans while they run, and no result is wrong (C091)") {
  many_sizes.plan_limit(2, cq::bytes{0});
  std::atomic<int> wrong{0};
  run_on_all([&](int t) {
    for (int i = 0; i < 100; ++i) {
      const int n = 1 + (i + t) % 7;
      const auto x = cq::full(cq::shape{n}, 3.f);
      const auto y = many_sizes(x);
      for (int k = 0; k < n; ++k) wrong += y(k) != 12;
    }
  });
  CHECK(wrong == 0);
  CHECK(many_sizes.stats().plans <= 2);
}

TEST_CASE("counts are exact whoever calls, and threads that are gone still count (A14)") {
  constexpr auto f = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
  f.plan_limit(3, cq::bytes{0});
  const auto before = cq::counters(cq::cpu()).launches;
  std::atomic<int> wrong{0};
  for (int round = 0; round < 3; ++round)
    run_on_all([&](int t) {
      for (int i = 0; i < 100; ++i) {
        const int n = 1 + (i + t) % 6;
        const auto x = cq::full(cq::shape{n}, 2.f);
        cq::array<float, 1> out = cq::zeros<float>(cq::shape{n});
        if (i % 2 == 0) f.into(out, x, x, 3.f);
        else out = f(x, x, 3.f);
        if (i % 10 == 0) (void)f.plan(x, x, 3.f);
        wrong += out(n - 1) != 8;
      }
    });
  CHECK(wrong == 0);
  const cq::cache_stats s = f.stats();
  CHECK(s.hits + s.misses == 3 * threads * 110);
  CHECK(s.launches == 3 * threads * 100);
  CHECK(s.evictions > 0);
  CHECK(cq::counters(cq::cpu()).launches - before == s.launches);
}

TEST_CASE("a call from the destructor of an object of a thread counts too") {
  struct last_call {
    ~last_call() { (void)many_sizes(cq::full(cq::shape{2}, 3.f)); }
  };
  (void)many_sizes(cq::full(cq::shape{2}, 3.f));
  const auto before = cq::counters(cq::cpu()).launches;
  const auto mine = many_sizes.stats().launches;
  std::thread([] {
    static thread_local const last_call late;  // destroyed after what the first launch makes
    (void)&late;
    (void)many_sizes(cq::full(cq::shape{2}, 3.f));
  }).join();
  CHECK(cq::counters(cq::cpu()).launches - before == 2);
  CHECK(many_sizes.stats().launches - mine == 2);
}

TEST_CASE("threads call one warm function by the short way and the long one (C091)") {
  constexpr auto f = cq::trace([](auto x, auto y) { return x * 2 + y; });
  std::vector<float> block(256, 1.f);
  const auto x = cq::borrow(static_cast<const float*>(block.data()), cq::shape{8, 8});
  const auto across = cq::transpose(x);
  std::atomic<int> wrong{0};
  run_on_all([&](int t) {
    cq::array<float, 2> out = cq::zeros<float>(cq::shape{8, 8});
    for (int i = 0; i < 200; ++i) {
      if ((i + t) % 2 == 0) f.into(out, x, x);
      else f.into(out, across, x);
      wrong += out(7, 7) != 3;
      f.into(out, x, out);  // the out is an argument
      wrong += out(0, 7) != 5;
    }
  });
  CHECK(wrong == 0);
  CHECK(f.stats().misses == 3);
  CHECK(f.stats().launches == threads * 400);
}

TEST_CASE("threads read one array and copy its handle while others detach their copies") {
  const cq::array<float, 1> shared = cq::ones<float>(cq::shape{64});
  std::atomic<int> wrong{0};
  run_on_all([&](int t) {
    for (int i = 0; i < 200; ++i) {
      cq::array<float, 1> mine = shared;
      mine += static_cast<float>(t);
      wrong += mine(63) != static_cast<float>(t + 1) || shared(63) != 1;
    }
  });
  CHECK(wrong == 0);
}
