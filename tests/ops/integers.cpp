// Bits, shifts, remainders and logic of integers and bool against plain 128-bit loops; inputs that
// plain C++ leaves undefined; what mixes with what.
#include "support/elementwise_rows.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

template <class V>
V shifted_left(V x, V y, int width) {
  return y < 0 || y >= width ? V(0) : x * (V(1) << static_cast<int>(y));
}
template <class V>
V shifted_right(V x, V y, int width) {
  if (y < 0 || y >= width) return x < 0 ? V(-1) : V(0);
  return x >> static_cast<int>(y);
}

CALQUE_ROW_OF_TWO(bit_and, x& y, x& y, 0, 0, 0)
CALQUE_ROW_OF_TWO(bit_or, x | y, x | y, 0, 0, 0)
CALQUE_ROW_OF_TWO(bit_xor, x ^ y, x ^ y, 0, 0, 0)
CALQUE_ROW_OF_TWO(remainder, x % y, y == 0 ? x : x % y, 0, 0, 0)
CALQUE_ROW_OF_ONE(bit_not, ~x, ~x, 0, 0, 0)
CALQUE_ROW_OF_ONE(sign, cq::sign(x), V((x > 0) - (x < 0)), 0, 0, 0)
CALQUE_ROW_OF_ONE(logical_not, cq::logical_not(x), x == 0, 0, 0, 0)
CALQUE_ROW_OF_ONE(isnan, cq::isnan(x), false, 0, 0, 0)
CALQUE_ROW_OF_ONE(isfinite, cq::isfinite(x), true, 0, 0, 0)
CALQUE_ROW_OF_TWO(logical_and, cq::logical_and(x, y), x != 0 && y != 0, 0, 0, 0)

using bits = rows<row_bit_and, row_bit_or, row_bit_xor, row_remainder, row_logical_and>;
using single = rows<row_bit_not, row_sign, row_logical_not, row_isnan, row_isfinite>;

// of bool: C++ computes in int
CALQUE_ROW_OF_TWO(both, x& y, x&& y, 0, 0, 0)
CALQUE_ROW_OF_TWO(either, x | y, x || y, 0, 0, 0)
CALQUE_ROW_OF_TWO(one_of, x ^ y, x != y, 0, 0, 0)
CALQUE_ROW_OF_TWO(not_both, !(x & y), !(x && y), 0, 0, 0)
CALQUE_ROW_OF_TWO(not_first, ~x | y, !x || y, 0, 0, 0)
using logic = rows<row_both, row_either, row_one_of, row_not_both, row_not_first>;

constexpr auto shifts = cq::trace([](auto x, auto y) { return std::tuple{x << y, x >> y}; });

template <class T>
void check_shifts() {
  using V = wide<T>;
  constexpr int width = sizeof(T) * 8;
  for (std::int64_t n : {1, 7, 64, 131}) {
    auto x = drawn<T>(cq::shape{n}, draws<T>(static_cast<std::uint64_t>(n), 0.4));
    auto y = drawn<T>(cq::shape{n}, draws<T>(static_cast<std::uint64_t>(n) + 1, 0.2));
    for (std::int64_t i = 0; i < n; i += 3) y(i) = static_cast<T>(width - 2 + i % 5);
    const auto a = dense_of(x), b = dense_of(y);
    const auto [left, right] = shifts(x, y);
    CALQUE_CHECK_MATCHES(left, zip([&](V u, V v) { return shifted_left(u, v, width); }, a, b), 0);
    CALQUE_CHECK_MATCHES(right, zip([&](V u, V v) { return shifted_right(u, v, width); }, a, b), 0);
  }
}

template <class T>
void check_integers() {
  check_rows<T, 2, bits>(0.2);
  check_rows<T, 1, single>(0.2);
  check_shifts<T>();
}

}  // namespace

TEST_CASE("bits, shifts and remainders equal a 128-bit loop for every layout (B9, C043, C044)") {
  check_integers<std::int32_t>();
  check_integers<std::int64_t>();
  check_integers<std::uint8_t>();
}

TEST_CASE("& | ^ ! ~ of bool are bool (B9)") {
  check_rows<bool, 2, logic>();
  const cq::array<bool, 1> p{true, false};
  static_assert(std::is_same_v<decltype(p & p), cq::array<bool, 1>>);
  static_assert(std::is_same_v<decltype(!p), cq::array<bool, 1>>);
  static_assert(std::is_same_v<decltype(~p), cq::array<bool, 1>>);
  static_assert(std::is_same_v<decltype(p & true), cq::array<bool, 1>>);
  static_assert(std::is_same_v<decltype(p << 1), cq::array<std::int32_t, 1>>);
  const cq::array<float, 1> x{-1, 2};
  CHECK(((x > 0) | p).to_vector() == std::vector<bool>{true, true});
}

TEST_CASE("integers' operations give one result traced, eagerly and on arrays") {
  const auto x = drawn<std::int32_t>(cq::shape{67}, draws<std::int32_t>(3, 0.2));
  const auto y = drawn<std::int32_t>(cq::shape{67}, draws<std::int32_t>(4, 0.2));
  check_same_bits<bits>(x, y);
  check_same_bits<single>(x);
  check_same_bits<logic>(x > 0, y > 1);
  const auto [left, right] = shifts(x, y);
  const auto [slow_left, slow_right] = cq::eager(shifts)(x, y);
  CHECK((same_bits(left, slow_left) && same_bits(right, slow_right)));
  CHECK(same_bits(left, cq::bitwise_left_shift(x, y)));
  CHECK(same_bits(right, cq::bitwise_right_shift(x, y)));
}

TEST_CASE("remainders by 0 are the dividend and by -1 are 0, of numbers too (C043, C044)") {
  static constexpr auto least = std::numeric_limits<std::int32_t>::min();
  const cq::array<std::int32_t, 1> x{7, -7, least, least}, y{0, 0, -1, 3};
  CHECK((x % y).to_vector() == std::vector<std::int32_t>{7, -7, 0, least % 3});
  CHECK((x % 4).to_vector() == std::vector<std::int32_t>{3, -3, 0, 0});
  CHECK((10 % cq::array<std::int64_t, 1>{3, -4}).to_vector() == std::vector<std::int64_t>{1, 2});
  constexpr auto folded = cq::trace([](auto v) {
    const auto c = cq::full(cq::shape<0>(), least, v);
    return std::tuple{v + c % -1, v + c % 0, v + (c << 40), v + (c >> 40)};
  });
  const auto [a, b, c, d] = folded(cq::array<std::int32_t, 1>{1});
  CHECK((a(0) == 1 && b(0) == least + 1 && c(0) == 1 && d(0) == 0));
}

TEST_CASE("op= works for every operator, on arrays, symbols and variables") {
  cq::array<std::int32_t, 1> x{13, 6};
  x %= 8;
  x |= 8;
  x &= 13;
  x ^= 1;
  x <<= 3;
  x >>= 1;
  std::vector<std::int32_t> want;
  for (int v : {13, 6}) want.push_back(((((v % 8) | 8) & 13) ^ 1) * 8 / 2);
  CHECK(x.to_vector() == want);
  constexpr auto f = cq::trace([](auto w, auto v) {
    auto y = v + 0;
    y %= 5;
    y |= 16;
    w ^= y;
    return y << 1;
  });
  const cq::variable<std::int32_t, 1> w{cq::array<std::int32_t, 1>{1, 2}, "w"};
  CHECK(f(w, x)(0) == ((want[0] % 5) | 16) * 2);
  CHECK(w.value()(0) == (1 ^ ((want[0] % 5) | 16)));
}

TEST_CASE("mixed operands take the promotion table's type; a number that does not fit is refused") {
  const cq::array<std::uint8_t, 1> u{250, 7};
  const cq::array<std::int8_t, 1> s{-8, 3};
  static_assert(std::is_same_v<decltype(u & s), cq::array<std::int16_t, 1>>);
  static_assert(std::is_same_v<decltype(u % 7), cq::array<std::uint8_t, 1>>);
  CHECK((u & s).to_vector() == std::vector<std::int16_t>{250 & -8, 7 & 3});
  CHECK_THROWS_AS((void)(u % 300), cq::dtype_error);
}
