// Memory that runs out at any point of a call leaves arguments, variables and plans right (C089).
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace cq = calque;

namespace {

thread_local long fail_at = -1;  // the allocation that throws, counted down; negative: none does

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t n) {
  if (fail_at >= 0 && fail_at-- == 0) throw std::bad_alloc();
  if (void* p = std::malloc(n == 0 ? 1 : n)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return fail_at >= 0 && fail_at-- == 0 ? nullptr : std::malloc(n == 0 ? 1 : n);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }

namespace {

using vector = cq::array<float, 1>;

constexpr auto step = cq::trace([](auto v, auto w, auto x) {
  auto t = cq::exp(x - cq::max(x));
  v += t / cq::sum(t) * 0 + x;
  w -= 1;
  return std::tuple{cq::sum(v * x), v + 0};
});

/// Runs `call` with its k-th allocation failing, for k = 0, 1, … until none fails; `check` after
/// each.
template <class Call, class Check>
int fail_everywhere(Call&& call, Check&& check) {
  for (int k = 0;; ++k) {
    fail_at = k;
    try {
      call();
      fail_at = -1;
      return k;
    } catch (const std::bad_alloc&) {
      fail_at = -1;
      check();
    }
  }
}

}  // namespace

TEST_CASE("a first call that runs out of memory, at every allocation, changes nothing (C089)") {
  const cq::variable<float, 1> v{vector{1, 2, 3}, "v"};
  const cq::variable<int, 0> w{cq::array<int, 0>{5}, "w"};
  const vector x{10, 20, 30}, held = v.value();
  const int failures =
      fail_everywhere([&] { (void)step(v, w, x); },
                      [&] {
                        CHECK(v.value().to_vector() == std::vector<float>{1, 2, 3});
                        CHECK(w.value().item() == 5);
                        CHECK(step.stats().hits == 0);
                      });
  CHECK(failures > 5);
  CHECK(v.value().to_vector() == std::vector<float>{11, 22, 33});
  CHECK(w.value().item() == 4);
  CHECK(held.to_vector() == std::vector<float>{1, 2, 3});
  CHECK(step.stats().plans == 1);
  CHECK(std::get<0>(step(v, w, x)).item() == 21 * 10 + 42 * 20 + 63 * 30);
  CHECK(step.stats().misses == 1);
}

TEST_CASE("a later plan that runs out of memory leaves the earlier ones (C089)") {
  constexpr auto f = cq::trace([](auto x, auto y) { return cq::matmul(x, y) + 1; });
  const auto a = cq::ones<float>(cq::shape{2, 2});
  (void)f(a, a);
  const auto b = cq::ones<float>(cq::shape{2, 5});
  cq::array<float, 2> out;
  const int failures = fail_everywhere([&] { f.into(out, a, b); },
                                       [&] {
                                         CHECK(!out.is_allocated());
                                         CHECK(f(a, a)(0, 0) == 3);
                                       });
  CHECK(failures > 0);
  CHECK(out(1, 4) == 3);
}
