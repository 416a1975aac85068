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

template <class T, int W>
void check_fours() {
  T from[4 * W], got[W], twice[2 * W];
  for (int k = 0; k < 4 * W; ++k) from[k] = static_cast<T>(k);
  lane<T, W> x[4], r;
  for (int p = 0; p < 4; ++p) lanes::load<T, W>(x[p], from + p * W);
  lane<T, 2 * W> both;
  lanes::join<T, W>(both, x[0], x[1]);
  lanes::store<T, 2 * W>(twice, both);
  for (int k = 0; k < 2 * W; ++k) CHECK(twice[k] == from[k]);
  lanes::half<T, 2 * W, 0>(r, both);
  lanes::store<T, W>(got, r);
  for (int k = 0; k < W; ++k) CHECK(got[k] == from[k]);
  lanes::half<T, 2 * W, 1>(r, both);
  lanes::store<T, W>(got, r);
  for (int k = 0; k < W; ++k) CHECK(got[k] == from[W + k]);
  lanes::transpose_fours<T, W>(x[0], x[1], x[2], x[3]);
  for (int q = 0; q < 4; ++q) {
    lanes::store<T, W>(got, x[q]);
    for (int k = 0; k < W; ++k) CHECK(got[k] == from[k % 4 * W + k / 4 * 4 + q]);
  }
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

TEST_CASE("groups of four elements are transposed, and halves joined and parted") {
  check_fours<float, 4>();
  check_fours<float, 16>();
  check_fours<double, 8>();
  check_fours<std::int32_t, 8>();
  check_fours<std::uint8_t, 16>();
}
