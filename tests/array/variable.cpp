// Variables on the host: handles, values that stay, and what they refuse (B6, B7).
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <vector>

#include "allocation_counter/allocation_counter.hpp"
#include "support/message_of.hpp"

namespace cq = calque;

namespace {

using cq::test::message_of;
using vector = cq::array<float, 1>;
using variable = cq::variable<float, 1>;

constexpr auto bump = cq::trace([](auto v) { v += 1; });
constexpr auto set = cq::trace([](auto v, auto x) { v.assign(x); });
constexpr auto when = cq::trace([](auto v, auto p) { cq::cond(p, [&] { v.assign(7); }, [] {}); });
constexpr auto move_to = cq::trace([](auto a, auto b) {
  a.assign(b);
  b *= 2;
});

}  // namespace

TEST_CASE("copies of a variable name the same variable; a value stays as it was read") {
  const variable v{vector{1, 2}, "v"};
  const variable same = v;
  const vector before = v.value();
  bump(same);
  CHECK(v.value().to_vector() == std::vector<float>{2, 3});
  CHECK(before.to_vector() == std::vector<float>{1, 2});
  const vector now = v.value();
  bump(v);
  bump(v);
  CHECK(now.to_vector() == std::vector<float>{2, 3});
  CHECK(v.value().to_vector() == std::vector<float>{4, 5});
  CHECK(same.name() == "v");
  CHECK(v.shape() == cq::shape{2});
}

TEST_CASE("a variable leaves the array that it started from alone, and the other way round") {
  vector start{1, 2};
  const variable v{start}, w{start};
  start(0) = 100;
  bump(v);
  CHECK(v.value().to_vector() == std::vector<float>{2, 3});
  CHECK(w.value().to_vector() == std::vector<float>{1, 2});
  CHECK(start.to_vector() == std::vector<float>{100, 2});
  std::vector<float> memory{5, 6};
  const variable b{cq::borrow(memory.data(), cq::shape{2})};
  bump(b);
  CHECK(memory == std::vector<float>{5, 6});
  CHECK(b.value()(1) == 7);
}

TEST_CASE("1000 updates, one plan, no allocation after the first (B6)") {
  const variable v{cq::zeros<float>(cq::shape{100}), "v"};
  bump(v);
  const auto misses = bump.stats().misses;
  allocation_counter c;
  for (int i = 1; i < 1000; ++i) bump(v);
  CHECK(c.count() == 0);
  CHECK(bump.stats().misses == misses);
  CHECK(v.value()(99) == 1000);
  v.assign(cq::full(cq::shape{100}, -1.f));  // seen without another plan
  bump(v);
  CHECK(v.value()(0) == 0);
  CHECK(bump.stats().misses == misses);
}

TEST_CASE("reading a variable without a value names it; writing gives it one (B7)") {
  const variable v{cq::shape{2}, "weights"};
  CHECK(message_of<cq::value_error>([&] { (void)v.value(); }).find("'weights'") !=
        std::string::npos);
  CHECK(message_of<cq::value_error>([&] { bump(v); }).find("'weights'") != std::string::npos);
  CHECK_THROWS_AS((void)v.value(), cq::value_error);
  set(v, 3.f);
  CHECK(v.value().to_vector() == std::vector<float>{3, 3});
  bump(v);
  CHECK(v.value()(0) == 4);
}

TEST_CASE("a write that may not happen does not give a variable a value (B7, C094)") {
  const variable v{cq::shape{2}, "maybe"};
  CHECK(message_of<cq::value_error>([&] { when(v, false); }).find("'maybe'") != std::string::npos);
  CHECK_THROWS_AS((void)v.value(), cq::value_error);
  v.assign(vector{1, 2});
  when(v, false);
  CHECK(v.value().to_vector() == std::vector<float>{1, 2});
  when(v, true);
  CHECK(v.value().to_vector() == std::vector<float>{7, 7});
}

TEST_CASE("texts about a variable without a name say which one instead of quoting nothing") {
  const variable v{cq::shape{2}};
  const auto plain = message_of<cq::value_error>([&] { (void)v.value(); });
  CHECK(plain.find("value(): the variable has no value") != std::string::npos);
  for (const auto& text : {message_of<cq::value_error>([&] { bump(v); }),
                           message_of<cq::value_error>([&] { when(v, false); })}) {
    CHECK(text.find("the variable of argument 0 ") != std::string::npos);
    CHECK(text.find("''") == std::string::npos);
  }
  v.assign(vector{1, 2});
  const auto twice = message_of<cq::alias_error>([&] { move_to(v, v); });
  CHECK(twice.find("the variable of argument 0 and the variable of argument 1") !=
        std::string::npos);
  const auto shapes = message_of<cq::shape_error>([&] { v.assign(vector{1, 2, 3}); });
  CHECK(shapes.find("the variable is f32[2], the array is f32[3]") != std::string::npos);
}

TEST_CASE("assign on the host broadcasts to the variable's extents, as += does") {
  const variable v{cq::shape{3}, "v"};
  v.assign(vector{4});
  CHECK(v.value().to_vector() == std::vector<float>{4, 4, 4});
  v.assign(cq::array<float, 0>(5.f));
  CHECK(v.value().to_vector() == std::vector<float>{5, 5, 5});
  CHECK_THROWS_AS(v.assign(vector{}), cq::shape_error);
  const cq::variable<float, 2> m{cq::shape{2, 3}, "m"};
  m.assign(vector{1, 2, 3});
  CHECK(m.value().to_vector() == std::vector<float>{1, 2, 3, 1, 2, 3});
  m.assign(cq::array<float, 2>{{7}, {8}});
  CHECK(m.value().to_vector() == std::vector<float>{7, 7, 7, 8, 8, 8});
  m.assign(cq::slice(m.value(), cq::range{1}));
  CHECK(m.value().to_vector() == std::vector<float>(6, 8));
  CHECK(message_of<cq::shape_error>([&] { m.assign(vector{1, 2}); }).find("axis 1 differs") !=
        std::string::npos);
  bump(cq::variable<float, 2>{m});
  CHECK(m.value()(1, 2) == 9);
}

TEST_CASE("assign keeps the extents: on the host and in a trace") {
  const variable v{vector{1, 2}, "v"};
  const std::string text = message_of<cq::shape_error>([&] { v.assign(vector{1, 2, 3}); });
  CHECK(text.find("'v' is f32[2]") != std::string::npos);
  CHECK(text.find("f32[3]") != std::string::npos);
  CHECK_THROWS_AS(set(v, vector{1, 2, 3}), cq::shape_error);
  CHECK(v.value().to_vector() == std::vector<float>{1, 2});
  set(v, vector{5, 6});
  CHECK(v.value()(1) == 6);
}

TEST_CASE("an argument that a variable was assigned is read before it changes (C062)") {
  const variable v{vector{1, 2}, "v"};
  vector x{10, 20};
  set(v, x);
  x(0) = 0;  // no memory in common afterwards
  CHECK(v.value().to_vector() == std::vector<float>{10, 20});
  const vector old = v.value();
  constexpr auto mix = cq::trace([](auto w, auto y) {
    w += y;  // y is the memory that w has now
    return y * 1;
  });
  CHECK(mix(v, old).to_vector() == std::vector<float>{10, 20});
  CHECK(v.value().to_vector() == std::vector<float>{20, 40});
  CHECK(old.to_vector() == std::vector<float>{10, 20});
}

TEST_CASE("one variable twice, one of them written, is refused by both names (design: semantics)") {
  const variable a{vector{1, 2}, "a"}, b{vector{3, 4}, "b"};
  move_to(a, b);
  CHECK(a.value()(1) == 4);
  CHECK(b.value()(1) == 8);
  const std::string text = message_of<cq::alias_error>([&] { move_to(a, a); });
  CAPTURE(text);
  CHECK(text.find("\"a\" (argument 0)") != std::string::npos);
  CHECK(text.find("\"a\" (argument 1)") != std::string::npos);
  CHECK(a.value().to_vector() == std::vector<float>{3, 4});
  // also where both are members of one argument
  constexpr auto first = cq::trace([](auto m) { m[0] += m[1]; });
  CHECK_THROWS_AS(first(std::array{a, a}), cq::alias_error);
  first(std::array{a, b});
  CHECK(a.value().to_vector() == std::vector<float>{9, 12});
  a.assign(vector{3, 4});
  constexpr auto sum = cq::trace([](auto x, auto y) { return cq::sum(x * y); });
  CHECK(sum(a, a).item() == 25);  // read-only aliasing is legal
}

TEST_CASE("a handle that names no variable says so") {
  const variable none;
  CHECK_THROWS_AS(bump(none), cq::value_error);
  CHECK_THROWS_AS((void)none.value(), cq::value_error);
  CHECK_THROWS_AS(none.assign(vector{1}), cq::value_error);
}
