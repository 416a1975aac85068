// Functions on lanes where the compiler may reassociate (-ffast-math, which CMake gives this file):
// what tells how much a rounding has lost is not optimised away.
#include <doctest/doctest.h>

#include <string>

#include "support/lane_functions.hpp"

#if !defined(__FAST_MATH__)
#error "compile with -ffast-math"
#endif

namespace {

using namespace calque::test;

/// Some units in the last place, near zeros of a function those of 1/100.
template <class Row, class T>
bool near(T got, next_wider<T> exact) {
  if (Row::bound == 0) return got == static_cast<T>(exact);
  const double size = std::fabs(static_cast<double>(exact));
  const double unit = static_cast<double>(std::numeric_limits<T>::epsilon()) * std::max(size, 0.01);
  return std::fabs(static_cast<double>(got - exact)) <= 4 * Row::bound * unit;
}

template <class Row, class T, class... X>
void check(const std::vector<T>& first, const X&... more) {
  using V = next_wider<T>;
  for (const auto& kernel : row_kernels<Row, T, T, typename X::value_type...>()) {
    std::vector<T> y(first.size());
    kernel.run(static_cast<int>(first.size()), y.data(), first.data(), more.data()...);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const V exact = Row::template exact<V>(static_cast<V>(first[i]), static_cast<V>(more[i])...);
      if (near<Row, T>(y[i], exact)) continue;
      FAIL_CHECK(std::string(Row::name), ", ", std::string(kernel.isa), " at ", first[i], " gives ",
                 y[i], " instead of ", static_cast<double>(exact));
      break;
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("B9: -ffast-math leaves functions their accuracy for ordinary numbers", T, float,
                   double) {
  std::vector<T> positive, any, other;
  for (int i = 1; i < 4000; ++i) {
    positive.push_back(static_cast<T>(i) * T(0.00731));
    any.push_back(static_cast<T>(i - 2000) * T(0.0149));
    other.push_back(static_cast<T>((i * 37) % 101) * T(0.11) - T(5));
  }
  for_each_row<lane_functions>([&]<class Row>(Row) {
    check<Row, T>(positive);
    const std::string name = Row::name;
    if (name != "log" && name != "log1p" && name != "rsqrt") check<Row, T>(any);
  });
  check<lane_log1p, T>(std::vector<T>{T(-0.29879), T(-0.5), T(1e-3), T(1e-6), T(0.414287), T(3e5)});
  check<lane_expm1, T>(std::vector<T>{T(1e-5), T(-1e-4), T(1e-9), T(-20)});
  check<lane_sin, T>(std::vector<T>{T(631.461), T(-942.4), T(12345.6)});
  for_each_row<lane_functions_of_two>([&]<class Row>(Row) { check<Row, T>(positive, other); });
}
