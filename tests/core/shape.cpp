#include "calque/core/shape.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace cq = calque;

TEST_CASE("a shape takes any integer types and deduces its rank") {
  const std::size_t rows = 4;
  const cq::shape s{rows, 3, std::int8_t{2}};
  static_assert(std::is_same_v<decltype(s), const cq::shape<3>>);
  CHECK(s[0] == 4);
  CHECK(s[1] == 3);
  CHECK(s[2] == 2);
  CHECK(s.size() == 24);
  CHECK(cq::to_string(s) == "[4, 3, 2]");
}

TEST_CASE("the shape of rank 0 has one element") {
  const cq::shape s{};
  static_assert(std::is_same_v<decltype(s), const cq::shape<0>>);
  CHECK(s.size() == 1);
  CHECK(cq::to_string(s) == "[]");
}

TEST_CASE("shapes work in constant expressions and compare by extents") {
  constexpr cq::shape s{2, 3};
  static_assert(s.size() == 6 && s.rank() == 2);
  static_assert(s == cq::shape{2u, 3u});
  static_assert(!(s == cq::shape{3, 2}));
  static_assert(cq::shape(std::array<std::int64_t, 2>{2, 3}) == s);
}

TEST_CASE("floating extents and wrong counts do not compile") {
  static_assert(!std::is_constructible_v<cq::shape<2>, double, int>);
  static_assert(!std::is_constructible_v<cq::shape<2>, int>);
  static_assert(!std::is_constructible_v<cq::shape<2>, int, int, int>);
  static_assert(!std::is_convertible_v<int, cq::shape<1>>);
}

TEST_CASE("negative extents throw and are named") {
  CHECK_THROWS_WITH_AS((void)cq::shape(2, -3), doctest::Contains("-3 is negative"),
                       cq::shape_error);
  CHECK_THROWS_AS((void)cq::shape(std::array<std::int64_t, 2>{1, -1}), cq::shape_error);
}

TEST_CASE("extents past 63 bits throw instead of wrapping") {
  CHECK_THROWS_WITH_AS((void)cq::shape(std::numeric_limits<std::uint64_t>::max()),
                       doctest::Contains("does not fit 63 bits"), cq::shape_error);
  CHECK(cq::shape(std::uint64_t{1} << 62)[0] == std::int64_t{1} << 62);
}

TEST_CASE("a size past 63 bits throws, unless an extent is 0") {
  const std::int64_t big = std::int64_t{1} << 32;
  CHECK_THROWS_AS((void)cq::shape(big, big).size(), cq::shape_error);
  CHECK(cq::shape(big, big, 0).size() == 0);
  CHECK(cq::shape(big, big / 4).size() == std::int64_t{1} << 62);
}
