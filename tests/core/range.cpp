#include "calque/core/range.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace cq = calque;
using cq::range;

namespace {

std::vector<std::int64_t> kept(const range& r, std::int64_t extent) {
  const auto x = cq::detail::resolve(r, extent);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < x.count; ++i) indices.push_back(x.first + i * x.step);
  return indices;
}

// What Python's slice keeps, by walking.
std::vector<std::int64_t> walked(std::int64_t lo, std::int64_t hi, std::int64_t step,
                                 std::int64_t extent) {
  std::vector<std::int64_t> indices;
  if (lo < 0) lo += extent;
  if (hi < 0) hi += extent;
  for (std::int64_t i = 0; i < extent; ++i) {
    const std::int64_t at = step > 0 ? i : extent - 1 - i;
    const std::int64_t start = step > 0 ? std::max<std::int64_t>(lo, 0) : std::min(lo, extent - 1);
    const bool inside = step > 0 ? at >= start && at < hi : at <= start && at > hi;
    if (inside && (at - start) % step == 0) indices.push_back(at);
  }
  return indices;
}

}  // namespace

TEST_CASE("ranges keep what Python's slices keep, for all small bounds and steps") {
  for (std::int64_t extent = 0; extent <= 5; ++extent)
    for (std::int64_t lo = -8; lo <= 8; ++lo)
      for (std::int64_t hi = -8; hi <= 8; ++hi)
        for (std::int64_t step : {-7, -3, -2, -1, 1, 2, 3, 7}) {
          CAPTURE(extent);
          CAPTURE(lo);
          CAPTURE(hi);
          CAPTURE(step);
          // a bound that is still negative after counting from the end lies before the axis
          CHECK(kept(range{lo, hi, step}, extent) == walked(lo, hi, step, extent));
        }
}

TEST_CASE("open bounds are the ends in the direction of the step") {
  CHECK(kept(range{}, 3) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(kept(range{1}, 3) == std::vector<std::int64_t>{1, 2});
  CHECK(kept(range{range::open, -1}, 3) == std::vector<std::int64_t>{0, 1});
  CHECK(kept(range{range::open, range::open, -1}, 3) == std::vector<std::int64_t>{2, 1, 0});
  CHECK(kept(range{1, range::open, -1}, 3) == std::vector<std::int64_t>{1, 0});
  CHECK(kept(range{range::open, 0, -2}, 5) == std::vector<std::int64_t>{4, 2});
}

TEST_CASE("step 0 throws") {
  CHECK_THROWS_AS((range{0, 1, 0}), cq::shape_error);
  range r;
  r.step = 0;
  CHECK_THROWS_AS((void)cq::detail::resolve(r, 3), cq::shape_error);
}

TEST_CASE("the most extreme bounds and steps do not overflow") {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  CHECK(kept(range{-most, most, most}, 5) == std::vector<std::int64_t>{0});
  CHECK(kept(range{most, -most, least}, 5) == std::vector<std::int64_t>{4});
  CHECK(kept(range{0, std::numeric_limits<std::uint64_t>::max()}, 2) ==
        std::vector<std::int64_t>{0, 1});
  CHECK(cq::detail::resolve(range{0, most, 1}, most).count == most);
}

TEST_CASE("ranges are constants and take any integer types") {
  constexpr range r{std::int8_t{1}, 5u, 2L};
  static_assert(r == range{1, 5, 2});
  static_assert(cq::detail::resolve(r, 10).count == 2);
}
