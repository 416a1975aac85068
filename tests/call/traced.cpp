// Calls of traced functions: arguments of all kinds, results that stay, and nothing else that
// changes.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <clocale>
#include <deque>
#include <vector>

#include "allocation_counter/allocation_counter.hpp"

namespace cq = calque;

namespace {

using vector = cq::array<float, 1>;

constexpr auto next = cq::trace([](auto x) { return x + 1; });
constexpr auto dot = cq::trace([](auto x, auto y) { return cq::sum(x * y); });
constexpr auto pass =
    cq::trace([](auto x) { return std::tuple{x, x, cq::reshape(x, cq::shape{x.size()})}; });

}  // namespace

TEST_CASE("spans and vectors of numbers are arrays of rank 1, read in place (A17)") {
  std::vector<float> v{1, 2, 3};
  const std::span<float> s(v);
  const float c[] = {1, 10, 100};
  CHECK(dot(v, std::span<const float>(c)).item() == 321);
  CHECK(dot(s, s).item() == 14);
  CHECK(dot(cq::borrow(c, cq::shape{3}), std::as_const(v)).item() == 321);
  CHECK(dot(std::vector<float>{2, 2, 2}, s).item() == 12);
  CHECK(dot(std::vector<float>{}, std::span<float>{}).item() == 0);
  CHECK(dot.stats().misses == 2);
}

TEST_CASE("results keep their values over later calls (C115)") {
  const auto y1 = next(vector{1});
  const auto y2 = next(vector{2});
  const auto y3 = next(y1);
  CHECK(y1(0) == 2);
  CHECK(y2(0) == 3);
  CHECK(y3(0) == 3);
  std::deque<vector> all{vector{0}};
  for (int i = 0; i < 10; ++i) all.push_back(next(all.back()));
  for (int i = 10; i >= 0; --i) all.push_back(next(all[static_cast<std::size_t>(i)]));
  for (int i = 0; i <= 10; ++i) {
    CHECK(all[static_cast<std::size_t>(i)](0) == static_cast<float>(i));
    CHECK(all[static_cast<std::size_t>(21 - i)](0) == static_cast<float>(i + 1));
  }
}

TEST_CASE("results share memory neither with arguments nor with each other (C115)") {
  cq::array<float, 2> x{{1, 2}, {3, 4}};
  auto [a, b, c] = pass(x);
  a(0, 0) = 10;
  b(0, 0) = 20;
  c(0) = 30;
  CHECK(x(0, 0) == 1);
  CHECK(a(0, 0) == 10);
  CHECK(b(0, 0) == 20);
  CHECK(c.to_vector() == std::vector<float>{30, 2, 3, 4});
}

TEST_CASE("a result outlives the arguments it came from (C073)") {
  const auto make = [] { return next(next(cq::arange<float>(1000))); };
  const auto y = make();
  const auto noise = cq::full(cq::shape{1000}, -1.f);
  CHECK(y(999) == 1001);
  CHECK(noise(0) == -1);
}

TEST_CASE("unallocated and moved-from arrays are empty arguments") {
  vector x{1, 2, 3};
  const vector y = std::move(x);
  CHECK(next(x).size() == 0);  // NOLINT: moved from on purpose
  CHECK(next(vector{}).shape() == cq::shape{0});
  CHECK(dot(vector{}, vector{}).item() == 0);
  CHECK(next(cq::array<float, 3>{}).shape() == cq::shape{0, 0, 0});
  x = next(y);
  CHECK(x(2) == 4);
}

TEST_CASE("empty arrays broadcast as NumPy does: 1 against 0 gives 0 (C031)") {
  constexpr auto add = cq::trace([](auto a, auto b) { return a + b; });
  for (std::int64_t a : {0, 1, 2, 3})
    for (std::int64_t b : {0, 1, 2, 3}) {
      const auto x = cq::ones<float>(cq::shape{a, 1}), y = cq::ones<float>(cq::shape{b, 2});
      if (a == b || a == 1 || b == 1) {
        const auto z = add(x, y);
        CHECK(z.shape() == cq::shape{a == 1 ? b : a, 2});
        if (z.size() > 0) CHECK(z(0, 1) == 2);
      } else {
        CHECK_THROWS_AS((void)add(x, y), cq::shape_error);
      }
    }
}

TEST_CASE("rank-0 arrays and numbers come in, rank-0 results convert to numbers") {
  constexpr auto f = cq::trace([](auto a, auto b, auto c) { return a * b + c; });
  const float r = f(cq::array<float, 0>{2.f}, 3, true);
  CHECK(r == 7);
  const double d = f(0.1, 0.2f, std::int8_t{1});
  CHECK(d == 0.1 * static_cast<double>(0.2f) + 1);
  const bool p = cq::trace([](auto x) { return x > 1; })(2);
  CHECK(p);
}

TEST_CASE("a call that fails changes nothing, and the next one is right") {
  constexpr auto f = cq::trace([](auto v, auto x, auto y) {
    v += 1;
    return x + y;
  });
  const cq::variable<int, 0> v{cq::array<int, 0>{1}, "v"};
  const vector x{1, 2, 3}, y{1, 2};
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS((void)f(v, x, y), cq::shape_error);
    CHECK(v.value().item() == 1);
  }
  CHECK(f.stats().plans == 0);
  CHECK(f(v, x, x)(2) == 6);
  CHECK(v.value().item() == 2);
  CHECK(x.to_vector() == std::vector<float>{1, 2, 3});
}

TEST_CASE("a warm call allocates its results and nothing else (C4)") {
  const auto x = cq::arange<float>(100);
  (void)next(x);
  (void)dot(x, x);
  allocation_counter c;
  { const auto y = next(x); }
  if (counting_available) CHECK(c.count() == 1);
  const float d = dot(x, x);  // rank 0 lives in the handle
  if (counting_available) CHECK(c.count() == 1);
  CHECK(d == 328350);
}

#if defined(__SSE2__)
TEST_CASE("the floating-point state and the locale stay as the caller has them") {
  const unsigned before = _mm_getcsr();
  const std::string locale = std::setlocale(LC_ALL, nullptr);
  for (unsigned mode :
       {before, before | 0x8040u, before | 0x6000u}) {  // flush to zero; round to zero
    _mm_setcsr(mode);
    (void)next(cq::full(cq::shape{33}, 1e-39f));
    (void)cq::trace([](auto x) { return cq::sum(cq::exp(x)); })(cq::arange<float>(33));
    CHECK((_mm_getcsr() & ~0x3Fu) == (mode & ~0x3Fu));  // all but the sticky flags
  }
  _mm_setcsr(before);
  CHECK(std::setlocale(LC_ALL, nullptr) == locale);
}
#endif

TEST_CASE("clear drops the plans, not what the function does") {
  constexpr auto f = cq::trace([](auto x) { return x * 3; });
  (void)f(vector{1});
  f.clear();
  CHECK(f.stats().plans == 0);
  CHECK(f(vector{2})(0) == 6);
  CHECK(f.stats().misses == 2);
  f.plan_limit(1, cq::bytes{0});
  (void)f(vector{1, 2});
  CHECK(f.stats().plans == 1);
  CHECK(f.stats().evictions == 1);
}
