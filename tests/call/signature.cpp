// One traced function at one list of types: its stages, its cache, and what it says of variables.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

namespace cq = calque;

namespace {

using vector = cq::array<float, 1>;
using variable = cq::variable<float, 1>;

constexpr auto body = [](auto x, auto y) { return x + y; };
using F = std::remove_const_t<decltype(body)>;
using both = cq::detail::signature<F, 2, vector, float>;
using one = cq::detail::signature<F, 1, vector, float>;
static_assert(both::leaf_count == 2 && both::broken_rule == nullptr);
static_assert(std::is_same_v<both::result, cq::expr<float, 1>>);
static_assert(both::final::view().cluster_count == 1 && one::final::view().cluster_count == 0);

constexpr auto writer = [](auto a, auto b, auto c, auto d, auto p) {
  a.assign(c);
  cq::cond(
      p,
      [&] {
        b += 1;
        d += 1;
      },
      [&] { b += 2; });
  (void)cq::for_loop(3, c, [&](auto, auto s) {
    d += s;
    return s;
  });
};
using effects = cq::detail::signature<std::remove_const_t<decltype(writer)>, 2, variable, variable,
                                      vector, variable, bool>;
static_assert(effects::always_writes(0));
static_assert(effects::always_writes(1));   // in both branches
static_assert(!effects::always_writes(2));  // an array
static_assert(!effects::always_writes(3));  // in one branch, and in a loop

}  // namespace

TEST_CASE("a signature has one cache, kept by its traced function") {
  CHECK(&both::cache() == &both::cache());
  CHECK(&both::cache() != &one::cache());
  constexpr auto f = cq::trace(body);
  CHECK(f.graphs() == 1);
  (void)f(vector{1, 2}, 1.f);
  CHECK(both::cache().stats().misses == 1);
  CHECK(f.graphs() == 1);
  (void)f(vector{1}, vector{1});
  CHECK(f.graphs() == 2);
  CHECK(f.stats().misses == 2);
  CHECK(cq::trace(body).stats().misses == 2);  // the same function type, the same caches
}

TEST_CASE("a limit holds for caches of types that come later") {
  constexpr auto f = cq::trace([](auto x) { return x + 1; });
  f.plan_limit(2, cq::bytes{0});
  for (std::int64_t n = 1; n <= 5; ++n) (void)f(cq::zeros<float>(cq::shape{n}));
  CHECK(f.stats().plans == 2);
  CHECK(f.stats().evictions == 3);
  for (std::int64_t n = 1; n <= 5; ++n) (void)f(cq::zeros<int>(cq::shape{n}));
  CHECK(f.stats().plans == 4);
}
