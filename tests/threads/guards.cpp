// Which device a thread's calls run on, what throws inside kernels, and what never wakes a thread.
#include "support/message_of.hpp"
#include "tests/threads/spawned.hpp"

#include <barrier>
#include <stdexcept>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace cq = calque;

struct at_most_nine {
  static constexpr char name[] = "at_most_nine";
  template <class T>
  T operator()(T x) const {
    if (x > 9) throw std::out_of_range("above 9: " + std::to_string(static_cast<int>(x)));
    return x;
  }
};
CALQUE_REGISTER(at_most_nine);

namespace {

constexpr auto doubled = cq::trace([](auto x) { return 2 * x; });
constexpr auto checked = cq::trace([](auto x) { return cq::apply<at_most_nine>(x) + 1; });
constexpr auto total = cq::trace([](auto x) { return cq::sum(cq::exp(x)); });

using cq::test::message_of;

int threads_here() { return cq::detail::current_device().threads; }

}  // namespace

struct calls_inside {
  static constexpr char name[] = "calls_inside";
  template <class T>
  T operator()(T x) const {
    static const auto large = cq::ones<float>(cq::shape{400000});
    return x != 1 ? x : doubled(large)(399999);
  }
};
CALQUE_REGISTER(calls_inside);

TEST_CASE("a device has one thread unless it is given more; it stays the same place") {
  CHECK(cq::device{cq::cpu(0)}.threads() == 1);
  static_assert(cq::cpu(0).with_threads(2).threads() == 2);
  CHECK(cq::device{cq::cpu(0).with_threads(2)}.threads() == 2);
  static_assert(cq::cpu(0).with_threads(2) == cq::cpu());
  CHECK(message_of([] { (void)cq::cpu(0).with_threads(0); }) ==
        "with_threads: cpu:0 cannot have 0 threads; give a number from 1 to 1024");
  CHECK_THROWS_AS((void)cq::cpu(0).with_threads(1025), cq::value_error);
}

TEST_CASE(
    "guards nest, end with their scope, also by an exception, and are this thread's alone (C104)") {
  const spawned::in_use threads;
  CHECK(threads_here() == 1);
  {
    const cq::device_guard two{cq::cpu(0).with_threads(2)};
    CHECK(threads_here() == 2);
    try {
      const cq::device_guard three{cq::cpu(0).with_threads(3)};
      CHECK(threads_here() == 3);
      throw 1;
    } catch (int) {
      CHECK(threads_here() == 2);
    }
    const cq::device_guard one{cq::cpu()};
    CHECK(threads_here() == 1);
    int elsewhere = 0;
    std::thread([&] { elsewhere = threads_here(); }).join();
    CHECK(elsewhere == 1);
  }
  CHECK(threads_here() == 1);
}

TEST_CASE("a guard for threads that nothing runs, or for a device that is not there, is refused") {
  const cq::thread_system* const before = cq::use_thread_system(nullptr);
  CHECK(message_of([] { const cq::device_guard g{cq::cpu(0).with_threads(2)}; }) ==
        "device_guard: cpu:0 with 2 threads, but this program has no way to run them; include "
        "<calque/parallel/omp.hpp> or <calque/parallel/tbb.hpp>");
  CHECK(message_of([] { const cq::device_guard g{cq::cpu(3)}; }) ==
        "device: there is no cpu:3; there are cpu:0");
  { const cq::device_guard one{cq::cpu(0).with_threads(1)}; }
  CHECK(threads_here() == 1);
  cq::use_thread_system(before);
}

TEST_CASE("small calls stay on the caller, large ones use as many threads as they have work for") {
  const spawned::in_use threads;
  const cq::device_guard on{cq::cpu(0).with_threads(8)};
  for (const std::int64_t n : {0, 1, 7, 1000, 30000}) (void)doubled(cq::ones<float>(cq::shape{n}));
  (void)cq::matmul(cq::ones<float>(cq::shape{64, 64}), cq::ones<float>(cq::shape{64, 64}));
  CHECK(spawned::uses == 0);
  (void)doubled(cq::ones<float>(cq::shape{300000}));  // 3 operands and operations for each
  CHECK(spawned::most_workers == 4);
  (void)doubled(cq::ones<float>(cq::shape{3000000}));
  CHECK(spawned::most_workers == 8);
}

TEST_CASE("threads are part of a plan: it says so, and a call with other threads makes another") {
  constexpr auto f = cq::trace([](auto x) { return x * x - 1; });
  const spawned::in_use threads;
  const auto x = cq::ones<float>(cq::shape{1000000});
  (void)f(x);
  CHECK(f.plan(x).explain().find(" threads,") == std::string::npos);
  const cq::device_guard on{cq::cpu(0).with_threads(2)};
  (void)f(x);
  CHECK(f.last_miss() == "the device has 2 threads, before it had 1");
  CHECK(f.plan(x).explain().find(", by 2 threads") != std::string::npos);
  (void)f(x);
  CHECK(f.stats().plans == 2);
}

TEST_CASE(
    "what a functor throws on any thread reaches the caller, as one thread would meet it (C088)") {
  auto x = cq::ones<float>(cq::shape{400000});
  const spawned::in_use threads;
  const cq::device_guard on{cq::cpu(0).with_threads(8)};
  for (int i = 0; i < 20; ++i) {
    x(390000) = 12, x(200001) = 11, x(200000) = 10;
    std::string text;
    try {
      (void)checked(x);
    } catch (const std::out_of_range& e) {
      text = e.what();
    }
    CHECK(text == "above 9: 10");
    CHECK(threads_here() == 8);
    x(390000) = x(200001) = x(200000) = 1;
    CHECK(checked(x)(399999) == 2);
  }
  CHECK(spawned::uses == 40);
}

TEST_CASE("calls that a functor makes stay on the thread that makes them") {
  auto x = cq::zeros<float>(cq::shape{400000});
  x(0) = x(123456) = x(399999) = 1;
  constexpr auto f = cq::trace([](auto v) { return cq::apply<calls_inside>(v) * 1; });
  const spawned::in_use threads;
  const cq::device_guard on{cq::cpu(0).with_threads(4)};
  const auto y = f(x);
  CHECK(y(0) == 2);
  CHECK(y(123456) == 2);
  CHECK(y(399999) == 2);
  CHECK(spawned::uses == 1);
}

TEST_CASE("a system may leave workers out, all of them even: the caller does what is left") {
  static constexpr cq::thread_system lazy{"lazy", 0, [](int, void (*)(void*, int), void*) {}};
  static constexpr cq::thread_system last{
      "last", 0, [](int workers, void (*body)(void*, int), void* s) { body(s, workers - 1); }};
  const auto x = spawned::waves(500000);
  const float sum = cq::sum(x).item();
  for (const auto* s : {&lazy, &last}) {
    const spawned::in_use threads(*s);
    const cq::device_guard on{cq::cpu(0).with_threads(8)};
    CHECK(cq::sum(x).item() == sum);
  }
}

TEST_CASE("a system that throws costs threads, not results, whenever it does") {
  static constexpr cq::thread_system refusing{"refusing", 0, [](int, void (*)(void*, int), void*) {
                                                throw std::runtime_error("no threads");
                                              }};
  static constexpr cq::thread_system failing{"failing", 0,
                                             [](int, void (*body)(void*, int), void* to) {
                                               body(to, 1);
                                               throw 1;
                                             }};
  constexpr auto step = cq::trace([](auto w, auto x) {
    w += x;
    w -= cq::sum(w) * x;
    return cq::sum(w * w);
  });
  const auto x = spawned::waves(400000) * 1e-6f;
  const cq::variable<float, 1> alone{cq::ones<float>(cq::shape{400000})};
  const std::string want = spawned::bits_of(step(alone, x)) + spawned::bits_of(alone.value());
  for (const cq::thread_system* s : {&refusing, &failing}) {
    const spawned::in_use threads(*s);
    const cq::device_guard on{cq::cpu(0).with_threads(2)};
    const cq::variable<float, 1> w{cq::ones<float>(cq::shape{400000})};
    CHECK(spawned::bits_of(step(w, x)) + spawned::bits_of(w.value()) == want);
  }
}

TEST_CASE("several threads call one function at once, each with threads of its own (C091)") {
  const spawned::in_use system;
  const auto x = spawned::waves(300000) * 0.0001f;
  const float sum = total(x).item();
  std::atomic<int> wrong{0};
  std::barrier start(4);
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      const cq::device_guard on{cq::cpu(0).with_threads(1 + t)};
      start.arrive_and_wait();
      for (int i = 0; i < 20; ++i) wrong += total(x).item() != sum;
    });
  for (auto& t : all) t.join();
  CHECK(wrong == 0);
}

TEST_CASE(
    "30 ones have the sum 30, and updates of variables keep their order, with 8 threads (C092)") {
  const spawned::in_use threads;
  const cq::device_guard on{cq::cpu(0).with_threads(8)};
  CHECK(cq::sum(cq::ones<float>(cq::shape{30})).item() == 30);
  constexpr auto swap = cq::trace([](auto v, auto w) {
    auto t = v + 0;
    v.assign(w + t);
    w.assign(t);
  });
  cq::variable<float, 1> v{cq::ones<float>(cq::shape{300000})},
      w{cq::zeros<float>(cq::shape{300000})};
  for (int i = 0; i < 10; ++i) swap(v, w);
  CHECK(v.value()(299999) == 89);
  CHECK(w.value()(0) == 55);
}

#if defined(__SSE__) && !defined(CALQUE_BASELINE_ONLY)
TEST_CASE("threads treat denormals as the caller does, and keep their own floating-point state") {
  const auto x = cq::full(cq::shape{500000}, 1e-30f);
  const unsigned before = _mm_getcsr();
  static std::atomic<unsigned> changed{0};
  static constexpr cq::thread_system spy{"spy", 0, [](int, void (*body)(void*, int), void* state) {
                                           std::thread([&] {
                                             const unsigned mine = _mm_getcsr();
                                             body(state, 1);
                                             changed = (_mm_getcsr() ^ mine) &
                                                       ~0x3fu;  // but for sticky flags
                                           }).join();
                                         }};
  const spawned::in_use threads(spy);
  const cq::device_guard on{cq::cpu(0).with_threads(2)};
  constexpr auto f = cq::trace([](auto v) { return v * 1e-10f; });
  _mm_setcsr(before | 0x8040);  // denormals are zeros
  const auto y = f(x);
  _mm_setcsr(before);
  CHECK(y(0) == 0);
  CHECK(y(499999) == 0);
  CHECK(changed == 0);
  CHECK(f(x)(0) != 0);
}
#endif
