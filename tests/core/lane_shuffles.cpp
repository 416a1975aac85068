#include "calque/core/lane_shuffles.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace {

using namespace calque;

template <class T, int W, int D>
void check() {
  T a[W], b[W], got[W];
  for (int k = 0; k < W; ++k) a[k] = static_cast<T>(k + 1), b[k] = static_cast<T>(-k - 1);
  lane<T, W> x, y, r;
  lanes::load<T, W>(x, a);
  lanes::load<T, W>(y, b);
  lanes::shift_up<T, W, D>(r, x, y);
  lanes::store<T, W>(got, r);
  for (int k = 0; k < W; ++k) CHECK(got[k] == (k < D ? b[k] : a[k - D]));
  lanes::keep_first<T, W, D>(r, x, y);
  lanes::store<T, W>(got, r);
  for (int k = 0; k < W; ++k) CHECK(got[k] == (k < D ? a[k] : b[k]));
  lanes::every_other<T, W, 1>(r, x, y);
  lanes::store<T, W>(got, r);
  for (int k = 0; k < W; ++k) CHECK(got[k] == (k < W / 2 ? a[2 * k + 1] : b[2 * k + 1 - W]));
  lanes::spread_last<T, W>(r, x);
  lanes::store<T, W>(got, r);
  for (int k = 0; k < W; ++k) CHECK(got[k] == a[W - 1]);
  lanes::reverse<T, W>(x, x);
  lanes::store<T, W>(got, x);
  for (int k = 0; k < W; ++k) CHECK(got[k] == a[W - 1 - k]);
}

}  // namespace

TEST_CASE("elements move between the places of a lane") {
  check<float, 4, 1>();
  check<float, 16, 8>();
  check<double, 2, 1>();
  check<double, 8, 4>();
  check<std::int32_t, 8, 2>();
  check<std::uint8_t, 32, 16>();
}
