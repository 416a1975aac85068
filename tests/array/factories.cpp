#include "calque/array/factories.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace cq = calque;

TEST_CASE("zeros, ones and full fill every element") {
  CHECK(cq::zeros<float>(cq::shape{2, 2}).to_vector() == std::vector<float>(4, 0));
  CHECK(cq::ones<int>(cq::shape{3}).to_vector() == std::vector<int>(3, 1));
  CHECK(cq::ones<bool>(cq::shape{2}).to_vector() == std::vector<bool>{true, true});
  CHECK(cq::zeros<float>(cq::shape{}).item() == 0);
  CHECK(cq::ones<double>(cq::shape{0, 3}).size() == 0);
  const auto f = cq::full(cq::shape{2, 2}, 1.5f);
  static_assert(std::is_same_v<decltype(f), const cq::array<float, 2>>);
  CHECK(f.to_vector() == std::vector<float>(4, 1.5f));
  static_assert(std::is_same_v<decltype(cq::full(cq::shape{1}, 2LL)), cq::array<std::int64_t, 1>>);
  static_assert(std::is_same_v<decltype(cq::full<double>(cq::shape{1}, 2)), cq::array<double, 1>>);
  CHECK(cq::full<double>(cq::shape{1}, 2)(0) == 2.0);
}

TEST_CASE("a number that the named type does not hold is refused") {
  CHECK_THROWS_WITH_AS((void)cq::full<std::uint8_t>(cq::shape{2}, 300),
                       doctest::Contains("full: 300 does not fit u8"), cq::dtype_error);
  CHECK_THROWS_AS((void)cq::full<std::uint8_t>(cq::shape{2}, -1), cq::dtype_error);
  CHECK_THROWS_AS((void)cq::full<int>(cq::shape{2}, std::int64_t{1} << 40), cq::dtype_error);
  CHECK_THROWS_AS((void)cq::full<std::int64_t>(cq::shape{2}, ~std::uint64_t{0}), cq::dtype_error);
  CHECK(cq::full<std::uint8_t>(cq::shape{1}, 255)(0) == 255);
  CHECK(cq::full<std::uint64_t>(cq::shape{1}, true)(0) == 1);
  CHECK(cq::full<float>(cq::shape{1}, (std::int64_t{1} << 24) + 1)(0) == 16777216.f);
}

TEST_CASE("extents may stand in braces alone, of any integer types") {
  const std::size_t n = 3;
  const int rows = 2;
  CHECK(cq::zeros<float>({n, n}).shape() == cq::shape{3, 3});
  CHECK(cq::ones<int>({n}).to_vector() == std::vector<int>(3, 1));
  CHECK(cq::full({rows, n, 1}, 2.5).shape() == cq::shape{2, 3, 1});
  static_assert(std::is_same_v<decltype(cq::full<double>({rows}, 2)), cq::array<double, 1>>);
  CHECK_THROWS_AS((void)cq::zeros<float>({rows, -1}), cq::shape_error);
}

TEST_CASE("extents that take too much are refused in the name of the function called") {
  const cq::shape huge{std::int64_t{1} << 40, std::int64_t{1} << 40};
  CHECK_THROWS_WITH_AS((void)cq::zeros<float>(huge), doctest::Contains("zeros: f32["),
                       cq::shape_error);
  CHECK_THROWS_WITH_AS((void)cq::ones<float>(huge), doctest::Contains("ones: f32["),
                       cq::shape_error);
  CHECK_THROWS_WITH_AS((void)cq::full(huge, 1), doctest::Contains("full: i32["), cq::shape_error);
  CHECK_THROWS_WITH_AS((void)cq::eye<double>(std::int64_t{1} << 40), doctest::Contains("eye: f64["),
                       cq::shape_error);
  CHECK_THROWS_WITH_AS((void)cq::arange<std::int64_t>(std::int64_t{1} << 62),
                       doctest::Contains("arange: i64["), cq::shape_error);
  CHECK_THROWS_WITH_AS((void)cq::linspace(0, 1, std::int64_t{1} << 62),
                       doctest::Contains("linspace: f64["), cq::shape_error);
}

TEST_CASE("an extent of 0 makes any array empty, whatever stands before it") {
  const auto a = cq::zeros<float>(
      cq::shape{std::int64_t{1} << 40, std::int64_t{1} << 40, 0});  // UBSan watches the products
  CHECK(a.size() == 0);
  CHECK(a.bytes() == 0);
  CHECK(a.is_contiguous());
  CHECK(a.to_vector().empty());
  CHECK(a.clone().shape() == a.shape());
}

TEST_CASE("arange counts up and down, with integers exactly") {
  CHECK(cq::arange<int>(4).to_vector() == std::vector<int>{0, 1, 2, 3});
  CHECK(cq::arange<int>(2, 5).to_vector() == std::vector<int>{2, 3, 4});
  CHECK(cq::arange<int>(5, 0, -2).to_vector() == std::vector<int>{5, 3, 1});
  CHECK(cq::arange<int>(0, 7, 3).to_vector() == std::vector<int>{0, 3, 6});
  CHECK(cq::arange<int>(3, 3).size() == 0);
  CHECK(cq::arange<int>(3, 0).size() == 0);
  CHECK(cq::arange<int>(-2).size() == 0);
  CHECK(cq::arange<std::int64_t>(std::int64_t{1} << 60, (std::int64_t{1} << 60) + 2).to_vector() ==
        std::vector<std::int64_t>{std::int64_t{1} << 60, (std::int64_t{1} << 60) + 1});
  CHECK(cq::arange<float>(3).to_vector() == std::vector<float>{0, 1, 2});
  CHECK(cq::arange<std::uint64_t>(2u).to_vector() == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("arange reaches both ends of every 64-bit type") {
  constexpr auto top = std::numeric_limits<std::uint64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(cq::arange<std::uint64_t>(top - 2, top).to_vector() ==
        std::vector<std::uint64_t>{top - 2, top - 1});
  CHECK(cq::arange<std::uint64_t>(top, top - 4, -3).to_vector() ==
        std::vector<std::uint64_t>{top, top - 3});
  CHECK(cq::arange<std::int64_t>(least, most, most).to_vector() ==
        std::vector<std::int64_t>{least, -1, most - 1});
  CHECK(cq::arange<std::int64_t>(most - 1, top, top).to_vector() ==
        std::vector<std::int64_t>{most - 1});
  CHECK(cq::arange<double>(-1, top, top).to_vector() == std::vector<double>{-1, 0x1p64});
  CHECK_THROWS_AS((void)cq::arange<std::int64_t>(most - 1, top, 1u), cq::value_error);
  CHECK_THROWS_AS((void)cq::arange<float>(least, top), cq::value_error);
  CHECK_THROWS_AS((void)cq::arange<std::uint64_t>(0x1p64, 0x1.1p64, 0x1p60), cq::value_error);
  CHECK_THROWS_AS((void)cq::arange<std::int64_t>(0x1p63, 0x1.1p63, 0x1p60), cq::value_error);
}

TEST_CASE("a floating arange rounds each value once") {
  CHECK(cq::arange<double>(0.0, 1.0, 0.25).to_vector() == std::vector<double>{0, 0.25, 0.5, 0.75});
  const auto a = cq::arange<float>(0, 1000, 0.1);
  CHECK(a.size() == 10000);
  CHECK(a(9999) == 999.9f);
  CHECK(cq::arange<float>(1.5).to_vector() == std::vector<float>{0, 1});
}

TEST_CASE("an arange that cannot be is refused") {
  CHECK_THROWS_AS((void)cq::arange<int>(0, 5, 0), cq::value_error);
  CHECK_THROWS_AS((void)cq::arange<double>(0.0, 5.0, 0.0), cq::value_error);
  CHECK_THROWS_AS((void)cq::arange<double>(std::numeric_limits<double>::quiet_NaN()),
                  cq::value_error);
  CHECK_THROWS_AS((void)cq::arange<double>(std::numeric_limits<double>::infinity()),
                  cq::value_error);
  CHECK_THROWS_WITH_AS((void)cq::arange<std::int8_t>(200), doctest::Contains("does not fit"),
                       cq::value_error);
  CHECK_THROWS_AS((void)cq::arange<std::uint64_t>(-1, 3), cq::value_error);
  CHECK_THROWS_AS((void)cq::arange<std::uint8_t>(5, -5, -1), cq::value_error);
}

TEST_CASE("linspace holds both ends exactly") {
  const auto a = cq::linspace(0.f, 1.f, 1000);
  static_assert(std::is_same_v<decltype(a), const cq::array<float, 1>>);
  CHECK(a.size() == 1000);
  CHECK(a(0) == 0.f);
  CHECK(a(999) == 1.f);
  CHECK(a(500) == doctest::Approx(500.0 / 999));
  bool rising = true;
  for (int i = 1; i < 1000; ++i) rising = rising && a(i) > a(i - 1);
  CHECK(rising);
  const auto b = cq::linspace(1, -1, 5);
  static_assert(std::is_same_v<decltype(b), const cq::array<double, 1>>);
  CHECK(b.to_vector() == std::vector<double>{1, 0.5, 0, -0.5, -1});
  CHECK(cq::linspace(3.0, 9.0, 1).to_vector() == std::vector<double>{3});
  CHECK(cq::linspace(3.0, 9.0, 0).size() == 0);
  CHECK_THROWS_AS((void)cq::linspace(0.0, 1.0, -1), cq::shape_error);
}

TEST_CASE("eye has ones on its diagonal") {
  CHECK(cq::eye<int>(3).to_vector() == std::vector<int>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  CHECK(cq::eye<float>(0).size() == 0);
}
