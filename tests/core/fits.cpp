#include "calque/core/fits.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

namespace cq = calque;

using cq::detail::fits;

static_assert(fits<std::uint8_t>(255) && !fits<std::uint8_t>(256) && !fits<std::uint8_t>(-1));
static_assert(fits<std::int8_t>(-128) && !fits<std::int8_t>(128u));
static_assert(!fits<std::int64_t>(std::numeric_limits<std::uint64_t>::max()));
static_assert(!fits<std::uint64_t>(std::int64_t{-1}) && fits<std::uint64_t>(std::int8_t{1}));
static_assert(fits<bool>(300) && fits<std::int8_t>(true));
static_assert(fits<float>(std::numeric_limits<std::int64_t>::max()) && fits<int>(1e30));

TEST_CASE("an integer becomes an element by value, or is refused with its type") {
  CHECK(cq::detail::checked_element<std::uint8_t>(255, "op") == 255);
  CHECK(cq::detail::checked_element<float>((1 << 24) + 1, "op") == 16777216.f);
  CHECK_THROWS_WITH_AS((void)cq::detail::checked_element<std::int16_t>(40000, "op"),
                       doctest::Contains("op: 40000 does not fit i16"), cq::dtype_error);
}
