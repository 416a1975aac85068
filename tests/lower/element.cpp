// Every operation at one element, on the baseline's lanes, and as a plain call: the same bits.
// (Wider lanes may fuse a multiply and an add, so tests/core compares those within ulps.)
#include "calque/lower/element.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>

#include "calque/backend/cpu/map.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/select.hpp"

namespace {

using calque::ins;
using calque::load;
using calque::program;
using calque::splat;
using calque::store;
using calque::detail::evaluate_element;
using calque::detail::evaluate_uniform_element;
using calque::detail::linear_access;
using calque::detail::offset_access;
using calque::detail::scalars;
namespace op = calque::op;

constexpr int n = 203;

/// n values: ordinary ones, and the odd ones of their type.
template <class T>
std::unique_ptr<T[]> values(unsigned seed) {
  std::mt19937 random(seed);
  auto v = std::make_unique<T[]>(n);
  using limits = std::numeric_limits<T>;
  for (int i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      v[static_cast<std::size_t>(i)] = random() % 2 == 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      const T odd[] = {T(0),
                       T(-0.),
                       limits::infinity(),
                       -limits::infinity(),
                       limits::quiet_NaN(),
                       limits::max(),
                       limits::lowest(),
                       limits::denorm_min(),
                       T(1),
                       T(300.7)};
      v[static_cast<std::size_t>(i)] =
          i % 3 == 0 ? odd[random() % 10]
                     : static_cast<T>(std::uniform_real_distribution<double>(-40, 40)(random));
    } else {
      const T odd[] = {T(0), T(1), limits::max(), limits::min(), static_cast<T>(-1)};
      v[static_cast<std::size_t>(i)] =
          i % 3 == 0 ? odd[random() % 5] : static_cast<T>(random() % 50);
    }
  }
  return v;
}

/// The bytes, but any NaN is as good as another.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a && b != b) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
/// Runs P, whose last operand is its output of type Out, both ways; `plain(i)` is the right value.
template <class P, class Out, class Plain>
void agree(void** data, int output, const Plain& plain) {
  auto by_element = std::make_unique<Out[]>(n), by_lanes = std::make_unique<Out[]>(n);
  data[output] = by_element.get();
  scalars<P> r;
  evaluate_uniform_element<P>(r, data);
  for (int i = 0; i < n; ++i) evaluate_element<P>(r, linear_access<int>{data, i});
  data[output] = by_lanes.get();
  calque::detail::map_baseline<P>(data, n);
  for (std::size_t i = 0; i < n; ++i) {
    CAPTURE(i);
    CHECK(same(by_element[i], plain(i)));
    CHECK(same(by_element[i], by_lanes[i]));
  }
}

template <class Op, class T>
void unary() {
  CAPTURE(Op::name);
  auto x = values<T>(1);
  void* data[] = {x.get(), nullptr};
  agree<program<load<0, T>, ins<Op, T, T, 0>, store<1, T, 1>>, T>(
      data, 1, [&](std::size_t i) { return static_cast<T>(Op{}(x[i])); });
}
template <class Op, class T, class Out = T>
void binary() {
  CAPTURE(Op::name);
  auto x = values<T>(2), y = values<T>(3);
  void* data[] = {x.get(), y.get(), nullptr};
  agree<program<load<0, T>, load<1, T>, ins<Op, Out, T, 0, 1>, store<2, Out, 2>>, Out>(
      data, 2, [&](std::size_t i) { return static_cast<Out>(Op{}(x[i], y[i])); });
}
template <class T>
void choice() {
  auto p = values<bool>(4);
  auto x = values<T>(5), y = values<T>(6);
  void* data[] = {p.get(), x.get(), y.get(), nullptr};
  agree<
      program<load<0, bool>, load<1, T>, load<2, T>, ins<op::where, T, T, 0, 1, 2>, store<3, T, 3>>,
      T>(data, 3, [&](std::size_t i) { return p[i] ? x[i] : y[i]; });
}
template <class From, class To>
void conversion() {
  auto x = values<From>(7);
  void* data[] = {x.get(), nullptr};
  agree<program<load<0, From>, ins<op::cast, To, From, 0>, store<1, To, 1>>, To>(
      data, 1, [&](std::size_t i) { return calque::detail::saturate_cast<To>(x[i]); });
}

template <class T>
void comparisons() {
  binary<op::less, T, bool>();
  binary<op::less_equal, T, bool>();
  binary<op::greater, T, bool>();
  binary<op::greater_equal, T, bool>();
  binary<op::equal, T, bool>();
  binary<op::not_equal, T, bool>();
}
template <class T>
void arithmetic() {
  unary<op::neg, T>();
  unary<op::abs, T>();
  binary<op::add, T>();
  binary<op::sub, T>();
  binary<op::mul, T>();
  binary<op::div, T>();
  binary<op::maximum, T>();
  binary<op::minimum, T>();
  comparisons<T>();
  choice<T>();
}
template <class T>
void functions() {
  unary<op::exp, T>();
  unary<op::log, T>();
  unary<op::sqrt, T>();
  unary<op::tanh, T>();
}
template <class From>
void conversions() {
  conversion<From, bool>();
  conversion<From, std::int8_t>();
  conversion<From, std::uint16_t>();
  conversion<From, std::int32_t>();
  conversion<From, std::uint64_t>();
  conversion<From, float>();
  conversion<From, double>();
}

}  // namespace

TEST_CASE(
    "arithmetic at one element has the bits of its lanes and of a plain call: floating types") {
  arithmetic<float>();
  arithmetic<double>();
}
TEST_CASE("arithmetic at one element has the bits of its lanes and of a plain call: integers") {
  arithmetic<std::int8_t>();
  arithmetic<std::int32_t>();
  arithmetic<std::int64_t>();
  arithmetic<std::uint16_t>();
}
TEST_CASE("bool compares, is chosen and reduced at one element as on lanes") {
  comparisons<bool>();
  choice<bool>();
  binary<op::maximum, bool>();
  binary<op::minimum, bool>();
}
TEST_CASE("functions at one element have the bits of their lanes") {
  functions<float>();
  functions<double>();
}
TEST_CASE("conversions at one element have the bits of their lanes and of a plain call") {
  conversions<bool>();
  conversions<std::int8_t>();
  conversions<std::uint16_t>();
  conversions<std::int32_t>();
  conversions<std::int64_t>();
  conversions<float>();
  conversions<double>();
}

TEST_CASE("types of every width mix in one program") {
  // double(i8) * a + (p ? x : y), with a uniform double, and the comparison beside it
  using P =
      program<load<0, std::int8_t>, ins<op::cast, double, std::int8_t, 0>, splat<1, double>,
              ins<op::mul, double, double, 1, 2>, load<2, bool>, load<3, float>, load<4, float>,
              ins<op::where, float, float, 4, 5, 6>, ins<op::cast, double, float, 7>,
              ins<op::maximum, double, double, 3, 8>, store<5, double, 9>>;
  auto i8 = values<std::int8_t>(8);
  auto p = values<bool>(9);
  auto x = values<float>(10), y = values<float>(11);
  double a = 0.5;  // the same for all
  void* data[] = {i8.get(), &a, p.get(), x.get(), y.get(), nullptr};
  agree<P, double>(data, 5, [&](std::size_t i) {
    return calque::detail::scalar_max(static_cast<double>(i8[i]) * a,
                                      static_cast<double>(p[i] ? x[i] : y[i]));
  });
}

TEST_CASE("operands may lie at offsets of their own") {
  using P = program<load<0, float>, load<1, bool>, load<2, float>,
                    ins<op::where, float, float, 1, 0, 2>, store<3, float, 3>, store<4, bool, 1>>;
  const float x[] = {1, 2, 3, 4}, y[] = {10, 20};
  const unsigned char p[] = {0, 7, 0};
  float out[] = {0, 0, 0};
  unsigned char flag[] = {9, 9};
  void* data[] = {const_cast<float*>(x), const_cast<unsigned char*>(p), const_cast<float*>(y), out,
                  flag};
  scalars<P> r;
  const long first[] = {3, 1, 0, 2, 1}, second[] = {0, 2, 1, 0, 0};
  evaluate_element<P>(r, offset_access<long>{data, first});
  evaluate_element<P>(r, offset_access<long>{data, second});
  CHECK(out[2] == 4);
  CHECK(out[0] == 20);
  CHECK(out[1] == 0);
  CHECK(flag[1] == 1);
  CHECK(flag[0] == 0);
}

TEST_CASE("what depends on uniform operands alone is computed once") {
  using P = program<splat<0, float>, ins<op::exp, float, float, 0>, load<1, float>,
                    ins<op::add, float, float, 1, 2>, store<2, float, 3>>;
  float a = 0, x[] = {1, 2}, out[] = {0, 0};
  void* data[] = {&a, x, out};
  scalars<P> r;
  evaluate_uniform_element<P>(r, data);
  a = 100;
  evaluate_element<P>(r, linear_access<int>{data, 0});
  evaluate_element<P>(r, linear_access<int>{data, 1});
  CHECK(out[0] == 2);
  CHECK(out[1] == 3);
}
