// Destinations: `f.into(out, args…)` writes there, whatever they share or overlap.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <vector>

#include "allocation_counter/allocation_counter.hpp"
#include "support/message_of.hpp"

namespace cq = calque;

namespace {

using cq::test::message_of;
using vector = cq::array<float, 1>;

constexpr auto next = cq::trace([](auto x) { return x + 1; });
constexpr auto both = cq::trace([](auto x, auto y) { return std::tuple{x + y, x - y}; });
constexpr auto sum = cq::trace([](auto x) { return cq::sum(x); });

}  // namespace

TEST_CASE("an out is written in place, without an allocation once warm (C4)") {
  const vector x{1, 2, 3};
  vector out{0, 0, 0};
  const float* const at = std::as_const(out).data();
  next.into(out, x);
  CHECK(out.to_vector() == std::vector<float>{2, 3, 4});
  CHECK(std::as_const(out).data() == at);
  vector p{0, 0, 0}, q{0, 0, 0};
  cq::array<float, 0> s;
  both.into(cq::outs(p, q), x, out);
  sum.into(s, x);
  next.into(out, out);
  allocation_counter c;
  next.into(out, x);
  both.into(cq::outs(p, q), x, out);
  sum.into(s, x);
  next.into(out, out);
  CHECK(c.count() == 0);
  CHECK(out.to_vector() == std::vector<float>{3, 4, 5});
  CHECK(p.to_vector() == std::vector<float>{3, 5, 7});
  CHECK(q.to_vector() == std::vector<float>{-1, -1, -1});
  CHECK(s.item() == 6);
}

TEST_CASE("an out that shares storage with other handles detaches first") {
  vector a{1, 2, 3};
  const vector b = a;
  const auto view = cq::slice(a, cq::range{0, 2});
  next.into(a, b);
  CHECK(a.to_vector() == std::vector<float>{2, 3, 4});
  CHECK(b.to_vector() == std::vector<float>{1, 2, 3});
  CHECK(view.to_vector() == std::vector<float>{1, 2});
  vector c{5, 6, 7}, d = c;
  both.into(cq::outs(c, d), c, d);  // two outs of one storage become two
  CHECK(c.to_vector() == std::vector<float>{10, 12, 14});
  CHECK(d.to_vector() == std::vector<float>{0, 0, 0});
}

TEST_CASE("an unallocated out is allocated once, with the result's extents") {
  const vector x{1, 2, 3};
  vector out;
  next.into(out, x);
  const float* const at = std::as_const(out).data();
  next.into(out, x);
  CHECK(std::as_const(out).data() == at);
  vector p, q{9, 9, 9};
  both.into(cq::outs(p, q), x, x);
  CHECK(p.to_vector() == std::vector<float>{2, 4, 6});
  CHECK(q.to_vector() == std::vector<float>{0, 0, 0});
  vector gone = std::move(p);
  next.into(p, x);  // NOLINT: moved-from on purpose
  CHECK(p.to_vector() == std::vector<float>{2, 3, 4});
  CHECK(gone(2) == 6);
}

TEST_CASE("an out of other extents is refused and keeps its values") {
  vector out{7, 7};
  const std::string text = message_of<cq::shape_error>([&] { next.into(out, vector{1, 2, 3}); });
  CAPTURE(text);
  CHECK(text.find("[3]") != text.npos);
  CHECK(text.find("[2]") != text.npos);
  CHECK(out.to_vector() == std::vector<float>{7, 7});
  // an out that would have been allocated stays unallocated when another is refused
  vector p;
  CHECK_THROWS_AS(both.into(cq::outs(p, out), vector{1, 2, 3}, vector{1, 2, 3}), cq::shape_error);
  CHECK(!p.is_allocated());
  CHECK(out.to_vector() == std::vector<float>{7, 7});
  CHECK_THROWS_AS(both.into(cq::outs(p, out), vector{1, 2, 3}, vector{1, 2}), cq::shape_error);
  CHECK(!p.is_allocated());
}

TEST_CASE("outs that overlap each other are refused, naming both") {
  const vector x{1, 2, 3};
  vector a{7, 7, 7};
  std::string text = message_of<cq::alias_error>([&] { both.into(cq::outs(a, a), x, x); });
  CAPTURE(text);
  CHECK(text.find('0') != text.npos);
  CHECK(text.find('1') != text.npos);
  CHECK(a.to_vector() == std::vector<float>{7, 7, 7});
  float room[5] = {1, 2, 3, 4, 5};
  auto p = cq::borrow(room, cq::shape{3}), q = cq::borrow(room + 2, cq::shape{3});
  CHECK_THROWS_AS(both.into(cq::outs(p, q), x, x), cq::alias_error);
  CHECK(room[0] == 1);
  auto low = cq::borrow(room, cq::shape{2}), high = cq::borrow(room + 2, cq::shape{3});
  constexpr auto tens = cq::trace([](auto y, auto z) { return std::tuple{y * 10, z * 10}; });
  tens.into(cq::outs(high, low), x, vector{4, 5});  // side by side
  CHECK(std::vector<float>(room, room + 5) == std::vector<float>{40, 50, 10, 20, 30});
  cq::array<float, 0> s{1.f};
  constexpr auto two = cq::trace([](auto y) { return std::tuple{cq::sum(y), cq::max(y)}; });
  CHECK_THROWS_AS(two.into(cq::outs(s, s), x), cq::alias_error);
  CHECK(s.item() == 1);
}

TEST_CASE(
    "outs that take turns in memory are written side by side; a plan for them excuses no others") {
  constexpr auto tens = cq::trace([](auto y, auto z) { return std::tuple{y * 10, z * 10}; });
  float room[6] = {1, 2, 3, 4, 5, 6};
  auto even = cq::borrow(room, cq::shape{3}, {2}), odd = cq::borrow(room + 1, cq::shape{3}, {2});
  tens.into(cq::outs(even, odd), odd, even);  // both are read before either is written
  CHECK(std::vector<float>(room, room + 6) == std::vector<float>{20, 10, 40, 30, 60, 50});
  auto also_even = cq::borrow(room, cq::shape{3}, {2});
  CHECK_THROWS_AS(tens.into(cq::outs(even, also_even), odd, odd), cq::alias_error);
  CHECK_THROWS_AS(tens.into(cq::outs(even, also_even), odd, odd), cq::alias_error);
  CHECK(room[0] == 20);
}

TEST_CASE("empty results leave nothing behind; a reduction of nothing overwrites (C034)") {
  cq::array<float, 0> s{42.f};
  sum.into(s, vector{});
  CHECK(s.item() == 0);
  vector out;
  next.into(out, vector{});
  CHECK(out.shape() == cq::shape{0});
  constexpr auto columns = cq::trace([](auto a) { return cq::sum(a, cq::axis<0>); });
  vector c{42, 42};
  for (int i = 0; i < 2; ++i) {
    columns.into(c, cq::zeros<float>(cq::shape{0, 2}));
    CHECK(c.to_vector() == std::vector<float>{0, 0});
    c(0) = 42;
  }
}
