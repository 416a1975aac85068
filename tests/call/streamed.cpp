// Results larger than the caches: written past them, with the same values.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "calque/calque.hpp"

namespace cq = calque;

namespace {

constexpr std::int64_t n = 12'000'017;  // 144 MB in three arrays of floats
constexpr auto f = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
constexpr auto two = cq::trace([](auto x, auto y) { return std::tuple{x + y, x > y}; });

float at(std::int64_t i) { return static_cast<float>(i % 4099); }
cq::array<float, 1> counted(std::int64_t size) {
  auto a = cq::zeros<float>(cq::shape{size});
  float* const p = a.data();
  for (std::int64_t i = 0; i < size; ++i) p[i] = at(i);
  return a;
}
template <class A, class F>
bool all(const A& a, F&& expected) {
  const auto* p = a.data();
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (p[i] != expected(i)) return false;
  return true;
}

}  // namespace

TEST_CASE("a large result is streamed, whatever its alignment, and in place it is not") {
  const auto x = counted(n), y = cq::ones<float>(cq::shape{n});
  const auto expected = [](std::int64_t i) { return 2 * at(i) + 1; };
  CHECK(f.plan(x, y, 2.f).explain().find("past the caches") != std::string::npos);
  CHECK(all(f(x, y, 2.f), expected));
  std::vector<float> room(static_cast<std::size_t>(n + 16), -1);
  for (const int shift : {0, 1, 3, 9}) {
    INFO("shift ", shift);
    std::fill(room.begin(), room.end(), -1.f);
    auto z = cq::borrow(room.data() + shift, cq::shape{n});
    f.into(z, x, y, 2.f);
    CHECK(all(z, expected));
    CHECK(std::count(room.begin(), room.end(), -1.f) == 16);
  }
  auto own = x.clone();
  f.into(own, own, y, 2.f);
  CHECK(all(own, expected));
}

TEST_CASE("several large results, of several types; small ones are not streamed") {
  const auto x = counted(n), y = cq::full(cq::shape{n}, 7.f);
  const auto [sum, more] = two(x, y);
  CHECK(all(sum, [](std::int64_t i) { return at(i) + 7; }));
  CHECK(all(more, [](std::int64_t i) { return at(i) > 7; }));
  const auto small = counted(1000);
  CHECK(f.plan(small, small, 2.f).explain().find("past the caches") == std::string::npos);
}
