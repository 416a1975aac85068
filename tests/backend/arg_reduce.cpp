// argmax and argmin against plain loops: ties, NaN, layouts, sizes.
#include "calque/backend/cpu/arg_reduce.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "backend/blocks.hpp"
#include "calque/ops/reduce.hpp"
#include "support/effort.hpp"

namespace {

using namespace blocks;
namespace op = calque::op;

/// Indices of the extremes of x, whose last axes after `kept` are one reduced axis.
template <class Op, class T>
void arg_reduce(const extents& kept, std::int64_t n, block<T>& x, block<std::int64_t>& out) {
  const calque::operand_layout o[] = {x.layout(), out.layout()};
  calque::geometry g;
  g.kept = static_cast<std::int32_t>(kept.size());
  g.rank = g.kept + 1;
  g.inputs = g.outputs = 1;
  for (std::size_t a = 0; a < kept.size(); ++a) g.extents[a] = kept[a];
  g.extents[g.kept] = n;
  g.kept_size = count(kept);
  g.size = g.kept_size * n;
  g.operands = o;
  void* data[] = {x.data(), out.data()};
  calque::detail::launch_arg_reduce<typename Op::better, T>(g, data, nullptr);
}

template <class Op, class T>
std::int64_t of(const std::vector<T>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  block<T> x(extents{n});
  block<std::int64_t> out(extents{});
  std::copy(values.begin(), values.end(), x.data());
  arg_reduce<Op>({}, n, x, out);
  return out.at({});
}

template <class T>
void any_layout(unsigned seed) {
  std::mt19937 random(seed);
  const std::int64_t sizes[] = {0, 1, 2, 3, 7, 33, 65};
  for (int i = 0; i < calque::test::rounds(200); ++i) {
    CAPTURE(seed);
    CAPTURE(i);
    extents kept;
    for (auto a = random() % 4; a > 0; --a) kept.push_back(sizes[random() % 7]);
    const std::int64_t n = sizes[1 + random() % 6];
    extents all = kept;
    all.push_back(n);
    block<T> x(all, any_strides(all, true, random));
    for (std::size_t k = 0; k < x.size(); ++k)
      x.raw(k) = static_cast<T>(static_cast<int>(random() % 9) - 4);
    block<std::int64_t> out(kept, any_strides(kept, false, random));
    block<std::int64_t> want_max(kept, out.strides()), want_min(kept, out.strides());
    for_each(kept, [&](const extents& k) {
      std::int64_t best = 0, least = 0;
      const auto value = [&](std::int64_t j) {
        extents at = k;
        at.push_back(j);
        return x.at(at);
      };
      for (std::int64_t j = 1; j < n; ++j) {
        if (value(j) > value(best)) best = j;
        if (value(j) < value(least)) least = j;
      }
      want_max.at(k) = best;
      want_min.at(k) = least;
    });
    arg_reduce<op::argmax>(kept, n, x, out);
    CHECK(out.same(want_max));
    arg_reduce<op::argmin>(kept, n, x, out);
    CHECK(out.same(want_min));
  }
}

}  // namespace

TEST_CASE("argmax and argmin give the plain loop's index for any layout") {
  any_layout<float>(1);
  any_layout<double>(2);
  any_layout<std::int32_t>(3);
  any_layout<std::int8_t>(4);
  any_layout<std::uint64_t>(5);
}

TEST_CASE("C016 of equal extremes the first index wins, for values and for bool") {
  block<float> x(extents{2, 5});
  const float values[] = {2, 3, 0, 3, 3, 1, 3, 1, 3, 1};
  std::copy_n(values, 10, x.data());
  block<std::int64_t> out(extents{2});
  arg_reduce<op::argmax>({2}, 5, x, out);
  CHECK(out.at({0}) == 1);
  CHECK(out.at({1}) == 1);
  arg_reduce<op::argmin>({2}, 5, x, out);
  CHECK(out.at({0}) == 2);
  CHECK(out.at({1}) == 0);
  for (const std::int64_t n : {1, 2, 7, 64, 1025, 100003}) {
    CAPTURE(n);
    block<bool> flags(extents{n});
    std::fill_n(flags.data(), n, false);
    block<std::int64_t> at(extents{});
    arg_reduce<op::argmax>({}, n, flags, at);
    CHECK(at.at({}) == 0);
    flags.at({n - 1}) = true;
    flags.at({n / 2}) = true;
    arg_reduce<op::argmax>({}, n, flags, at);
    CHECK(at.at({}) == n / 2);
  }
}

TEST_CASE("C017 along an axis of one element every index is 0") {
  for (const std::int64_t n : {1, 2, 900, 36000, 100003}) {
    block<float> x(extents{n, 1});
    for (std::int64_t i = 0; i < n; ++i) x.at({i, 0}) = static_cast<float>(i % 5);
    block<std::int64_t> out(extents{n});
    arg_reduce<op::argmax>({n}, 1, x, out);
    bool zero = true;
    for (std::int64_t i = 0; i < n; ++i) zero = zero && out.at({i}) == 0;
    CHECK(zero);
  }
}

TEST_CASE("the first NaN is the extreme, wherever it stands") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(of<op::argmax>(std::vector<float>{1, nan, 3, nan}) == 1);
  CHECK(of<op::argmin>(std::vector<float>{1, nan, 0, nan}) == 1);
  CHECK(of<op::argmax>(std::vector<float>{nan, inf}) == 0);
  CHECK(of<op::argmin>(std::vector<float>{-inf, nan}) == 1);
  for (std::size_t at = 0; at < 130; ++at) {
    std::vector<float> x(130, inf);
    x[at] = nan;
    CHECK(of<op::argmax>(x) == static_cast<std::int64_t>(at));
    CHECK(of<op::argmin>(x) == static_cast<std::int64_t>(at));
  }
}

TEST_CASE("infinities, signed zeros and the ends of integer types compare as values") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(of<op::argmax>(std::vector<double>{-inf, -inf}) == 0);
  CHECK(of<op::argmin>(std::vector<double>{inf, inf}) == 0);
  CHECK(of<op::argmax>(std::vector<double>{-0., 0.}) == 0);
  CHECK(of<op::argmin>(std::vector<std::int64_t>{0, INT64_MIN, INT64_MAX, INT64_MIN}) == 1);
  CHECK(of<op::argmax>(std::vector<std::uint64_t>{0, UINT64_MAX, 1}) == 1);
}

TEST_CASE("C010, C016: long rows give the first extreme, or NaN, wherever it lies") {
  const auto check = []<class T>(T, unsigned seed) {
    std::mt19937 random(seed);
    for (const std::int64_t n : {63, 64, 65, 255, 256, 257, 300, 1000, 2053})
      for (int i = 0; i < calque::test::rounds(60); ++i) {
        std::vector<T> x(static_cast<std::size_t>(n));
        for (T& v : x) v = static_cast<T>(random() % 7);
        if (i % 3 == 1) x[random() % x.size()] = static_cast<T>(9);
        if constexpr (std::is_floating_point_v<T>)
          if (i % 4 == 3)
            for (int k = 0; k < 2; ++k)
              x[random() % x.size()] = std::numeric_limits<T>::quiet_NaN();
        CAPTURE(n);
        CAPTURE(i);
        const auto nan = std::find_if(x.begin(), x.end(), [](T v) { return v != v; });
        const auto most = nan != x.end() ? nan : std::max_element(x.begin(), x.end());
        const auto least = nan != x.end() ? nan : std::min_element(x.begin(), x.end());
        CHECK(of<op::argmax>(x) == most - x.begin());
        CHECK(of<op::argmin>(x) == least - x.begin());
      }
  };
  for (calque::isa level : {calque::isa::baseline, calque::isa::avx2, calque::isa::avx512}) {
    calque::detail::force_isa(level);
    check(float{}, 1);
    check(double{}, 2);
    check(std::int32_t{}, 3);
    check(std::uint8_t{}, 4);
    check(std::int64_t{}, 5);
  }
}

TEST_CASE("C010, C016: lines side by side give the first extreme of each, or its first NaN") {
  const auto check = []<class T>(T, unsigned seed) {
    std::mt19937 random(seed);
    for (const std::int64_t m : {8, 9, 17, 65, 1023, 1025, 2050})
      for (const std::int64_t n : {1, 2, 63, 64, 65, 130}) {
        if (calque::test::sanitized && m * n > 9000) continue;
        block<T> x(extents{m, n}, extents{1, m + 3});
        for (std::size_t k = 0; k < x.size(); ++k)
          x.raw(k) = static_cast<T>(random() % (m % 2 == 0 ? 2 : 7));
        if constexpr (std::is_floating_point_v<T>) {
          for (std::size_t k = 0; k < x.size(); ++k)  // zeros of both signs, which are equal
            if (x.raw(k) == 0 && random() % 2 == 0) x.raw(k) = T(-0.);
          using limits = std::numeric_limits<T>;
          for (std::int64_t k = 0; k < m; k += 2)
            for (int quiet = 0; quiet < 2; ++quiet)
              x.at({k, static_cast<std::int64_t>(random()) % n}) =
                  quiet != 0 ? limits::quiet_NaN() : limits::signaling_NaN();
        }
        block<std::int64_t> most(extents{m}), least(extents{m}), out(extents{m});
        for (std::int64_t k = 0; k < m; ++k) {
          std::int64_t high = 0, low = 0;
          for (std::int64_t j = 1; j < n; ++j) {
            const T v = x.at({k, j}), top = x.at({k, high}), bottom = x.at({k, low});
            if (top == top && (v > top || v != v)) high = j;
            if (bottom == bottom && (v < bottom || v != v)) low = j;
          }
          most.at({k}) = high;
          least.at({k}) = low;
        }
        CAPTURE(m);
        CAPTURE(n);
        arg_reduce<op::argmax>({m}, n, x, out);
        CHECK(out.same(most));
        arg_reduce<op::argmin>({m}, n, x, out);
        CHECK(out.same(least));
      }
  };
  at_each_level([&](calque::isa) {
    check(float{}, 1);
    check(double{}, 2);
    check(std::int32_t{}, 3);
    check(std::uint8_t{}, 4);
    check(std::int64_t{}, 5);
  });
}

TEST_CASE("short rows, empty results and rows behind one another in any direction") {
  at_each_level([](calque::isa) {
    for (const std::int64_t n : {1, 2, 3, 10, 15, 16, 17, 31, 33}) {
      block<float> x(extents{5, 3, n}, extents{4 * n, -n, 1});
      block<std::int64_t> out(extents{5, 3}, extents{1, 5}), want(extents{5, 3}, extents{1, 5});
      std::mt19937 random(static_cast<unsigned>(n));
      for (std::size_t k = 0; k < x.size(); ++k) x.raw(k) = static_cast<float>(random() % 5);
      for_each({5, 3}, [&](const extents& k) {
        std::int64_t best = 0;
        for (std::int64_t j = 1; j < n; ++j)
          if (x.at({k[0], k[1], j}) > x.at({k[0], k[1], best})) best = j;
        want.at(k) = best;
      });
      arg_reduce<op::argmax>({5, 3}, n, x, out);
      CHECK(out.same(want));
    }
    block<float> x(extents{0, 4});
    block<std::int64_t> out(extents{0});
    arg_reduce<op::argmax>({0}, 4, x, out);
  });
}
