#include "calque/array/factories.hpp"

#include <doctest/doctest.h>

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
