// Lanes against their scalar twins, in plain functions and under both target attributes.
#include "calque/core/lanes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

namespace lanes = calque::lanes;
using calque::lane;
namespace scalar = calque::detail;

constexpr int count = 64;

template <class T>
struct columns {
  T a[count], b[count];
  T add[count], sub[count], mul[count], div[count], neg[count], abs[count], root[count];
  T most[count], least[count], chosen[count], each[count];
  bool less[count], less_equal[count], equal[count], not_equal[count];
  std::int8_t to_i8[count];
  std::int32_t to_i32[count];
  std::uint32_t to_u32[count];
  std::int64_t to_i64[count];
  std::uint64_t to_u64[count];
  float to_f32[count];
  double to_f64[count];
  bool to_bool[count];
  T from_bool[count];
};

template <class To, class T, int W>
CALQUE_INLINE void converted(To* to, const lane<T, W>& a) {
  lane<To, W> r;
  lanes::convert<To, T, W>(r, a);
  lanes::store<To, W>(to, r);
}

template <class T, int W, bool Roots = true>
CALQUE_INLINE void evaluate(columns<T>& c) {
  for (int i = 0; i < count; i += W) {
    lane<T, W> a, b, r;
    lane<bool, W> m;
    lanes::load<T, W>(a, c.a + i);
    lanes::load<T, W>(b, c.b + i);
    if constexpr (!std::is_same_v<T, bool>) {
      lanes::add<T, W>(r, a, b), lanes::store<T, W>(c.add + i, r);
      lanes::sub<T, W>(r, a, b), lanes::store<T, W>(c.sub + i, r);
      lanes::mul<T, W>(r, a, b), lanes::store<T, W>(c.mul + i, r);
      lanes::div<T, W>(r, a, b), lanes::store<T, W>(c.div + i, r);
      lanes::neg<T, W>(r, a), lanes::store<T, W>(c.neg + i, r);
      lanes::abs<T, W>(r, a), lanes::store<T, W>(c.abs + i, r);
    }
    if constexpr (Roots && std::is_floating_point_v<T>)
      lanes::sqrt<T, W>(r, a), lanes::store<T, W>(c.root + i, r);
    lanes::maximum<T, W>(r, a, b), lanes::store<T, W>(c.most + i, r);
    lanes::minimum<T, W>(r, a, b), lanes::store<T, W>(c.least + i, r);
    lanes::less<T, W>(m, a, b), lanes::store<bool, W>(c.less + i, m);
    lanes::select<T, W>(r, m, b, a), lanes::store<T, W>(c.chosen + i, r);
    lanes::less_equal<T, W>(m, a, b), lanes::store<bool, W>(c.less_equal + i, m);
    lanes::equal<T, W>(m, a, b), lanes::store<bool, W>(c.equal + i, m);
    lanes::not_equal<T, W>(m, a, b), lanes::store<bool, W>(c.not_equal + i, m);
    const auto pick = [](bool p, T x, T y) { return p ? x : y; };
    lanes::map_each<T, W, bool, T, T>(pick, r, m, a, b), lanes::store<T, W>(c.each + i, r);
    converted<std::int8_t, T, W>(c.to_i8 + i, a), converted<std::int32_t, T, W>(c.to_i32 + i, a);
    converted<std::uint32_t, T, W>(c.to_u32 + i, a), converted<std::int64_t, T, W>(c.to_i64 + i, a);
    converted<std::uint64_t, T, W>(c.to_u64 + i, a), converted<float, T, W>(c.to_f32 + i, a);
    converted<double, T, W>(c.to_f64 + i, a), converted<bool, T, W>(c.to_bool + i, a);
    lanes::convert<T, bool, W>(r, m), lanes::store<T, W>(c.from_bool + i, r);
  }
}

template <class T>
[[gnu::noinline]] void plain(columns<T>& c) {
  evaluate<T, 16 / static_cast<int>(sizeof(T))>(c);
}
template <class T>
[[gnu::noinline]] void wider_than_registers(columns<T>& c) {
  evaluate<T, 64 / static_cast<int>(sizeof(T)), false>(c);  // roots: as `plain` left them
}
template <class T>
CALQUE_TARGET_AVX2 [[gnu::noinline]] void avx2(columns<T>& c) {
  evaluate<T, 32 / static_cast<int>(sizeof(T))>(c);
}
template <class T>
CALQUE_TARGET_AVX512 [[gnu::noinline]] void avx512(columns<T>& c) {
  evaluate<T, 64 / static_cast<int>(sizeof(T))>(c);
}

bool has_avx2() {
#if CALQUE_X86()
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return true;
#endif
}
bool has_avx512() {
#if CALQUE_X86()
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#else
  return true;
#endif
}

// Equal bits; every NaN counts as one.
template <class T>
bool same(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    if (x != x && y != y) return true;
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}

template <class T>
std::vector<T> interesting() {
  using limits = std::numeric_limits<T>;
  std::vector<T> v{T(0), T(1), T(2), T(3), T(7), T(100), limits::max(), limits::lowest()};
  if constexpr (std::is_floating_point_v<T>) {
    for (T x : {T(-0.0),
                T(-1),
                T(-2.5),
                T(0.75),
                T(-0.75),
                limits::min(),
                limits::denorm_min(),
                -limits::denorm_min(),
                limits::infinity(),
                -limits::infinity(),
                limits::quiet_NaN(),
                -limits::quiet_NaN(),
                T(127.5),
                T(128),
                T(-128.5),
                T(-129),
                T(2147483520),
                T(2147483648.0),
                T(-2147483648.0),
                T(4294967040.0),
                T(4294967296.0),
                T(9223371487098961920.0),
                T(9223372036854775808.0),
                T(-9223372036854775808.0),
                T(18446742974197923840.0),
                T(18446744073709551616.0),
                T(3e9),
                T(-3)})
      v.push_back(x);
  } else if constexpr (!std::is_same_v<T, bool>) {
    for (T x : {static_cast<T>(-1), static_cast<T>(-7), static_cast<T>(limits::max() / 2),
                static_cast<T>(limits::max() - 1), static_cast<T>(limits::lowest() + 1)})
      v.push_back(x);
  }
  return v;
}

template <class T>
void compare(const columns<T>& c) {
  for (int i = 0; i < count; ++i) {
    const T a = c.a[i], b = c.b[i];
    CAPTURE(i);
    CAPTURE(a);
    CAPTURE(b);
    if constexpr (!std::is_same_v<T, bool>) {
      CHECK(same(c.add[i], scalar::wrap_add(a, b)));
      CHECK(same(c.sub[i], scalar::wrap_sub(a, b)));
      CHECK(same(c.mul[i], scalar::wrap_mul(a, b)));
      CHECK(same(c.div[i], scalar::wrap_div(a, b)));
      CHECK(same(c.neg[i], scalar::wrap_neg(a)));
      CHECK(same(c.abs[i], scalar::scalar_abs(a)));
    }
    if constexpr (std::is_floating_point_v<T>) CHECK(same(c.root[i], std::sqrt(a)));
    CHECK(same(c.most[i], scalar::scalar_max(a, b)));
    CHECK(same(c.least[i], scalar::scalar_min(a, b)));
    CHECK(c.less[i] == (a < b));
    CHECK(same(c.chosen[i], a < b ? b : a));
    CHECK(c.less_equal[i] == (a <= b));
    CHECK(c.equal[i] == (a == b));
    CHECK(c.not_equal[i] == (a != b));
    CHECK(same(c.each[i], a != b ? a : b));
    CHECK(c.to_i8[i] == scalar::saturate_cast<std::int8_t>(a));
    CHECK(c.to_i32[i] == scalar::saturate_cast<std::int32_t>(a));
    CHECK(c.to_u32[i] == scalar::saturate_cast<std::uint32_t>(a));
    CHECK(c.to_i64[i] == scalar::saturate_cast<std::int64_t>(a));
    CHECK(c.to_u64[i] == scalar::saturate_cast<std::uint64_t>(a));
    CHECK(same(c.to_f32[i], scalar::saturate_cast<float>(a)));
    CHECK(same(c.to_f64[i], scalar::saturate_cast<double>(a)));
    CHECK(c.to_bool[i] == (a != T(0)));
    CHECK(same(c.from_bool[i], T(a != b)));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("lanes give the bits of the scalar arithmetic for every pair of special values",
                   T, bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t, float, double) {
  const std::vector<T> values = interesting<T>();
  const std::size_t pairs = values.size() * values.size();
  columns<T> c;
  for (std::size_t first = 0; first < pairs; first += count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t pair = (first + i) % pairs;
      c.a[i] = values[pair / values.size()];
      c.b[i] = values[pair % values.size()];
    }
    plain(c), compare(c);
    wider_than_registers(c), compare(c);
    if (has_avx2()) avx2(c), compare(c);
    if (has_avx512()) avx512(c), compare(c);
  }
}

TEST_CASE("casts from floating to integer saturate and give 0 for NaN") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(scalar::saturate_cast<std::int32_t>(std::nanf("")) == 0);
  CHECK(scalar::saturate_cast<std::int32_t>(inf) == std::numeric_limits<std::int32_t>::max());
  CHECK(scalar::saturate_cast<std::int32_t>(-inf) == std::numeric_limits<std::int32_t>::min());
  CHECK(scalar::saturate_cast<std::int32_t>(3e9f) == std::numeric_limits<std::int32_t>::max());
  CHECK(scalar::saturate_cast<std::int32_t>(2147483520.f) == 2147483520);
  CHECK(scalar::saturate_cast<std::int32_t>(-1.75) == -1);
  CHECK(scalar::saturate_cast<std::uint32_t>(-3.f) == 0);
  CHECK(scalar::saturate_cast<std::uint32_t>(-0.5f) == 0);
  CHECK(scalar::saturate_cast<std::int8_t>(127.9) == 127);
  CHECK(scalar::saturate_cast<std::int8_t>(-128.9) == -128);
  CHECK(scalar::saturate_cast<std::uint64_t>(1e30f) == std::numeric_limits<std::uint64_t>::max());
  CHECK(scalar::saturate_cast<std::int8_t>(std::int32_t{200}) == -56);
  static_assert(scalar::saturate_cast<float>(1e300) == std::numeric_limits<float>::infinity());
  static_assert(scalar::saturate_cast<float>(-1e300) == -std::numeric_limits<float>::infinity());
  static_assert(scalar::saturate_cast<bool>(0.25f));
}

TEST_CASE("integer arithmetic wraps, and division by zero gives 0 and the dividend as remainder") {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  static_assert(scalar::wrap_div(7, 0) == 0);
  static_assert(scalar::wrap_rem(7, 0) == 7);
  static_assert(scalar::wrap_div(least, -1) == least);
  static_assert(scalar::wrap_rem(least, -1) == 0);
  static_assert(scalar::wrap_rem(-7, 2) == -1);
  static_assert(scalar::wrap_neg(least) == least);
  static_assert(scalar::scalar_abs(least) == least);
  static_assert(scalar::wrap_mul<std::uint16_t>(65535, 65535) == 1);
  static_assert(scalar::wrap_mul<std::int64_t>(std::int64_t{1} << 62, 2) == INT64_MIN);
}

TEST_CASE("maximum and minimum pass NaN on from either operand, in every lane") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int k = 0; k < 16; ++k) {
    lane<float, 16> a, b, r;
    lanes::splat<float, 16>(a, 1.f);
    lanes::splat<float, 16>(b, 2.f);
    lanes::set<float, 16>(k % 2 ? a : b, k, nan);
    lanes::maximum<float, 16>(r, a, b);
    for (int i = 0; i < 16; ++i) {
      CHECK(std::isnan(lanes::at<float, 16>(r, i)) == (i == k));
      if (i != k) CHECK(lanes::at<float, 16>(r, i) == 2.f);
    }
    lanes::minimum<float, 16>(r, a, b);
    for (int i = 0; i < 16; ++i) CHECK(std::isnan(lanes::at<float, 16>(r, i)) == (i == k));
  }
}

TEST_CASE_TEMPLATE("partial loads and stores touch n elements and no more", T, bool, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, float, double) {
  constexpr int W = 16;
  for (int n = 0; n <= W; ++n) {
    // Heap blocks of exactly n elements: an address sanitizer sees any excess.
    std::vector<std::uint8_t> in_bytes(static_cast<std::size_t>(n) * sizeof(T));
    std::vector<std::uint8_t> out_bytes(in_bytes.size());
    T* in = reinterpret_cast<T*>(in_bytes.data());
    T* out = reinterpret_cast<T*>(out_bytes.data());
    for (int k = 0; k < n; ++k) in[k] = T(k % 3);
    lane<T, W> v;
    lanes::load_partial<T, W>(v, in, n, T(1));
    for (int k = 0; k < W; ++k) CHECK(lanes::at<T, W>(v, k) == (k < n ? T(k % 3) : T(1)));
    lanes::store_partial<T, W>(out, v, n);
    CHECK(in_bytes == out_bytes);
    T guarded[W + 1];
    for (T& x : guarded) x = T(1);
    lanes::splat<T, W>(v, T(0));
    lanes::store_partial<T, W>(guarded, v, n);
    for (int k = 0; k <= W; ++k) CHECK(guarded[k] == (k < n ? T(0) : T(1)));
  }
}

TEST_CASE("splat keeps the sign of zero, and a bool lane counts every nonzero byte as true") {
  lane<float, 8> z;
  lanes::splat<float, 8>(z, -0.f);
  for (int k = 0; k < 8; ++k) CHECK(std::signbit(lanes::at<float, 8>(z, k)));
  lane<bool, 4> m;
  lanes::splat<bool, 4>(m, true);
  lanes::set<bool, 4>(m, 2, false);
  bool out[4];
  lanes::store<bool, 4>(out, m);
  CHECK(out[0]);
  CHECK(out[1]);
  CHECK(!out[2]);
  CHECK(out[3]);
  const std::uint8_t bytes[4] = {0, 1, 0, 255};
  lanes::load<bool, 4>(m, reinterpret_cast<const bool*>(bytes));
  CHECK(!lanes::at<bool, 4>(m, 0));
  CHECK(lanes::at<bool, 4>(m, 3));
  lane<std::int32_t, 4> ones;
  lanes::convert<std::int32_t, bool, 4>(ones, m);
  CHECK(lanes::at<std::int32_t, 4>(ones, 3) == 1);
}

TEST_CASE("a lane's width follows from the widest element of a program") {
  static_assert(calque::lane_width(16, 4) == 4);
  static_assert(calque::lane_width(64, 8) == 8);
  static_assert(calque::lane_width(32, 1) == 32);
  static_assert(sizeof(calque::lane<double, 8>) == 64);
  static_assert(sizeof(calque::lane<bool, 8>) == 32);
}
