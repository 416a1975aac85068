// Printing where the compiler may assume that there is no NaN and no infinity (-ffast-math).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fast-math")
#endif

#include "calque/array/print.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>

namespace cq = calque;

namespace {

float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

}  // namespace

TEST_CASE("special values and subnormal numbers print, whatever the compiler assumes") {
  const float infinite = from_bits(0x7f800000u), not_a_number = from_bits(0x7fc00000u);
  const float least = from_bits(1);
  CHECK(cq::to_string(cq::array<float, 1>{infinite, 1e10f, 1e-10f}) == "[   inf 1.e+10 1.e-10]");
  CHECK(cq::to_string(cq::array<float, 1>{-infinite, not_a_number, 2}) == "[-inf  nan   2.]");
  CHECK(cq::to_string(cq::array<float, 1>{least, 0}) == "[1.e-45 0.e+00]");
  CHECK(cq::to_string(cq::array<float, 0>(infinite)) == "inf");
  CHECK(cq::to_string(cq::array<float, 0>(-infinite)) == "-inf");
  CHECK(cq::to_string(cq::array<float, 0>(not_a_number)) == "nan");
  CHECK(cq::to_string(cq::array<float, 0>(least)) == "1e-45");
  CHECK(cq::to_string(cq::array<double, 0>(std::bit_cast<double>(~std::uint64_t{0} >> 12 << 52))) ==
        "-inf");
}
