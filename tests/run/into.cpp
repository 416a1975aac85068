// Destinations: `f.into(out, args…)` writes there, whatever they share or overlap.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "allocation_counter/allocation_counter.hpp"

namespace cq = calque;

namespace {

using vector = cq::array<float, 1>;
using matrix = cq::array<float, 2>;

constexpr auto copy = cq::trace([](auto x) { return x; });
constexpr auto next = cq::trace([](auto x) { return x + 1; });
constexpr auto symmetric = cq::trace([](auto a) { return a + cq::transpose(a); });
constexpr auto both = cq::trace([](auto x, auto y) { return std::tuple{x + y, x - y}; });
constexpr auto sum = cq::trace([](auto x) { return cq::sum(x); });

template <class E, class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

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
  const std::string text = message<cq::shape_error>([&] { next.into(out, vector{1, 2, 3}); });
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
  std::string text = message<cq::alias_error>([&] { both.into(cq::outs(a, a), x, x); });
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

TEST_CASE("a += transpose(a) reads all of a first (C061)") {
  matrix a{{1, 2}, {3, 4}};
  symmetric.into(a, a);
  CHECK(a.to_vector() == std::vector<float>{2, 5, 5, 8});
  const std::int64_t n = 300;
  std::vector<float> v(static_cast<std::size_t>(n * n));
  std::uint32_t seed = 1;
  for (float& e : v) e = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8);
  matrix m{v, cq::shape{n, n}};
  for (int round = 0; round < 3; ++round) symmetric.into(m, m);
  const float* const p = std::as_const(m).data();
  bool same = true;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) same = same && p[i * n + j] == p[j * n + i];
  CHECK(same);
  matrix b{{1, 2}, {3, 4}};
  b -= cq::transpose(b);
  CHECK(b.to_vector() == std::vector<float>{0, -1, 1, 0});
  b = matrix{{1, 2}, {3, 4}};
  b *= cq::transpose(b);
  CHECK(b.to_vector() == std::vector<float>{1, 6, 6, 16});
}

TEST_CASE("shifted, nested and reversed overlaps of in and out (C064, C067)") {
  std::vector<float> room(5);
  std::iota(room.begin(), room.end(), 1.f);
  auto to = cq::borrow(room.data() + 1, cq::shape{4});
  copy.into(to, cq::borrow(std::as_const(room).data(), cq::shape{4}));
  CHECK(room == std::vector<float>{1, 1, 2, 3, 4});
  std::iota(room.begin(), room.end(), 1.f);
  auto back = cq::borrow(room.data(), cq::shape{4});
  copy.into(back, cq::borrow(std::as_const(room).data() + 1, cq::shape{4}));
  CHECK(room == std::vector<float>{2, 3, 4, 5, 5});

  std::vector<float> nine(9);
  std::iota(nine.begin(), nine.end(), 1.f);
  auto corner = cq::borrow(nine.data() + 4, cq::shape{2, 2}, {3, 1});
  copy.into(corner, cq::borrow(std::as_const(nine).data(), cq::shape{2, 2}, {3, 1}));
  CHECK(nine == std::vector<float>{1, 2, 3, 4, 1, 2, 7, 4, 5});

  std::vector<float> six{0, 1, 2, 3, 4, 5};
  auto reversed = cq::borrow(six.data() + 5, cq::shape{6}, {-1});
  reversed += 2 * cq::borrow(std::as_const(six).data() + 5, cq::shape{6}, {-1});
  CHECK(six == std::vector<float>{0, 3, 6, 9, 12, 15});
  reversed += cq::borrow(std::as_const(six).data(), cq::shape{6});
  CHECK(six == std::vector<float>{15, 15, 15, 15, 15, 15});
}

TEST_CASE("out is an argument of every kind of step (C061, C065)") {
  constexpr auto squared = cq::trace([](auto a) { return cq::matmul(a, a); });
  constexpr auto rows = cq::trace([](auto a) { return a - cq::mean(a, cq::axis<1>, cq::keepdims); });
  constexpr auto swap = cq::trace([](auto a, auto b) { return std::tuple{b, a}; });
  constexpr auto flip = cq::trace([](auto a) { return cq::transpose(a); });
  matrix a{{1, 2}, {3, 4}};
  squared.into(a, a);
  CHECK(a.to_vector() == std::vector<float>{7, 10, 15, 22});
  rows.into(a, a);
  CHECK(a.to_vector() == std::vector<float>{-1.5f, 1.5f, -3.5f, 3.5f});
  flip.into(a, a);
  CHECK(a.to_vector() == std::vector<float>{-1.5f, -3.5f, 1.5f, 3.5f});
  vector x{1, 2}, y{3, 4};
  swap.into(cq::outs(x, y), x, y);
  CHECK(x.to_vector() == std::vector<float>{3, 4});
  CHECK(y.to_vector() == std::vector<float>{1, 2});
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
