// Every elementwise function of floating types, row by row of one table.
#include "support/elementwise_rows.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

CALQUE_ROW_OF_ONE(exp, cq::exp(x), std::exp(x), 2, -2, 2)
CALQUE_ROW_OF_ONE(log, cq::log(x), std::log(x), 2, 0.2, 3)
CALQUE_ROW_OF_ONE(sqrt, cq::sqrt(x), std::sqrt(x), 0.51, 0.2, 3)
CALQUE_ROW_OF_ONE(tanh, cq::tanh(x), std::tanh(x), 2, -2, 2)
CALQUE_ROW_OF_ONE(erf, cq::erf(x), std::erf(x), 2, -2, 2)
CALQUE_ROW_OF_ONE(sin, cq::sin(x), std::sin(x), 2, -4, 4)
CALQUE_ROW_OF_ONE(cos, cq::cos(x), std::cos(x), 2, -4, 4)
CALQUE_ROW_OF_ONE(tan, cq::tan(x), std::tan(x), 3, -1, 1)
CALQUE_ROW_OF_ONE(expm1, cq::expm1(x), std::expm1(x), 3, -2, 2)
CALQUE_ROW_OF_ONE(log1p, cq::log1p(x), std::log1p(x), 3, -0.7, 2)
CALQUE_ROW_OF_ONE(sigmoid, cq::sigmoid(x),
                  x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)), 3, -2, 2)
CALQUE_ROW_OF_ONE(rsqrt, cq::rsqrt(x), 1 / std::sqrt(x), 3, 0.2, 3)
CALQUE_ROW_OF_ONE(floor, cq::floor(x), std::floor(x), 0, 0, 0)
CALQUE_ROW_OF_ONE(ceil, cq::ceil(x), std::ceil(x), 0, 0, 0)
CALQUE_ROW_OF_ONE(round, cq::round(x), std::nearbyint(x), 0, 0, 0)
CALQUE_ROW_OF_ONE(sign, cq::sign(x), x > 0 ? V(1) : x < 0 ? V(-1) : x, 0, 0, 0)
CALQUE_ROW_OF_ONE(abs, cq::abs(x), std::fabs(x), 0, -2, 2)
CALQUE_ROW_OF_ONE(neg, -x, -x, 0, -2, 2)
CALQUE_ROW_OF_ONE(square, cq::square(x), x* x, 0.51, -2, 2)
CALQUE_ROW_OF_ONE(reciprocal, cq::reciprocal(x), 1 / x, 0.51, 0.3, 2)
CALQUE_ROW_OF_ONE(relu, cq::relu(x), x <= 0 ? V(0) : x, 0, -2, 2)
CALQUE_ROW_OF_ONE(isnan, cq::isnan(x), std::isnan(x), 0, 0, 0)
CALQUE_ROW_OF_ONE(isinf, cq::isinf(x), std::isinf(x), 0, 0, 0)
CALQUE_ROW_OF_ONE(isfinite, cq::isfinite(x), std::isfinite(x), 0, 0, 0)
CALQUE_ROW_OF_ONE(square_by_pow, cq::pow(x, 2), x* x, 0.51, -2, 2)
CALQUE_ROW_OF_ONE(cube_by_pow, cq::pow(x, 3), x* x* x, 2, -2, 2)
CALQUE_ROW_OF_ONE(silu, cq::silu(x), x / (1 + std::exp(-x)), 4, -2, 2)
CALQUE_ROW_OF_ONE(gelu, cq::gelu(x), x* std::erfc(-x / std::sqrt(V(2))) / 2, 4, -2, 2)

CALQUE_ROW_OF_TWO(pow, cq::pow(x, y), std::pow(x, y), 2, 0.3, 2.5)
CALQUE_ROW_OF_TWO(atan2, cq::atan2(x, y), std::atan2(x, y), 3, 0.3, 2)
CALQUE_ROW_OF_TWO(fmod, cq::fmod(x, y), std::fmod(x, y), 0, 1.1, 1.9)
CALQUE_ROW_OF_TWO(true_divide, cq::true_divide(x, y), x / y, 0.51, 0.3, 2)
CALQUE_ROW_OF_TWO(maximum, cq::maximum(x, y), x != x || x > y ? x : y, 0, -2, 2)
CALQUE_ROW_OF_TWO(minimum, cq::minimum(x, y), x != x || x < y ? x : y, 0, -2, 2)
CALQUE_ROW_OF_TWO(where, cq::where(x > y, x * 2, y), x > y ? x * 2 : y, 0, -2, 2)
CALQUE_ROW_OF_TWO(logical_and, cq::logical_and(x, y), x != 0 && y != 0, 0, 0, 0)
CALQUE_ROW_OF_TWO(logical_or, cq::logical_or(x, y), x != 0 || y != 0, 0, 0, 0)
CALQUE_ROW_OF_TWO(logical_xor, cq::logical_xor(x, y), (x != 0) != (y != 0), 0, 0, 0)

template <class V>
V clipped(V x, V low, V high) {
  const V a = x != x || x > low ? x : low;
  return a != a || a < high ? a : high;
}
CALQUE_ROW_OF_THREE(clip, cq::clip(x, y, z), clipped(x, y, z), 0, -2, 2)

using smooth = rows<row_exp, row_log, row_sqrt, row_tanh, row_erf>;
using circles = rows<row_sin, row_cos, row_tan>;
using relatives = rows<row_expm1, row_log1p, row_sigmoid, row_rsqrt, row_reciprocal, row_square>;
using steps = rows<row_floor, row_ceil, row_round, row_sign, row_abs, row_neg, row_relu>;
using tests = rows<row_isnan, row_isinf, row_isfinite>;
using composed = rows<row_square_by_pow, row_cube_by_pow>;
using pairs = rows<row_pow, row_atan2, row_fmod, row_true_divide>;
using choices =
    rows<row_maximum, row_minimum, row_where, row_logical_and, row_logical_or, row_logical_xor>;

template <class T>
void check_all() {
  check_rows<T, 1, smooth>();
  check_rows<T, 1, circles>();
  check_rows<T, 1, relatives>();
  check_rows<T, 1, steps>();
  check_rows<T, 1, tests>();
  check_rows<T, 2, pairs>();
  check_rows<T, 3, rows<row_clip>>();
}

}  // namespace

TEST_CASE("f32 functions are within their bounds for every layout and special value (B9, C014)") {
  check_all<float>();
  check_rows<float, 1, composed>(0);
  check_rows<float, 2, choices>();
}
TEST_CASE("f64 functions are within their bounds for every layout and special value (B9, C014)") {
  check_all<double>();
}

template <class T>
void check_activations(double epsilon) {
  // gelu and silu at every magnitude; what is lost of gelu's left tail is small beside its operand
  cq::array<T, 1> x = cq::linspace(T(-12), T(12), 4801);
  const auto ge = cq::gelu(x), si = cq::silu(x);
  for (int i = 0; i < 4801; ++i) {
    const long double v = x(i);
    const long double exact = v * std::erfc(-v / std::sqrt(2.0L)) / 2;
    CHECK(std::fabs(ge(i) - static_cast<double>(exact)) <=
          2 * epsilon * static_cast<double>(v < 0 ? -v : exact));
    const long double s = v / (1 + std::exp(-v));
    CHECK(std::fabs(si(i) - static_cast<double>(s)) <=
          4 * epsilon * static_cast<double>(std::fabs(s)));
  }
}
TEST_CASE("activations are within their bounds over the whole range that matters (B9)") {
  check_activations<float>(0x1p-23);
  check_activations<double>(0x1p-52);
  constexpr float inf = std::numeric_limits<float>::infinity(), most = 3e38f;
  const auto ge = cq::gelu(cq::array<float, 1>{inf, most, 0, -0.f, -most, -100});
  CHECK(ge.to_vector() == std::vector<float>{inf, most, 0, -0.f, -0.f, -0.f});
  CHECK(std::isnan(cq::gelu(cq::array<float, 1>{-inf})(0)));  // -inf times 0
}

TEST_CASE("erf is 1 where its result rounds to that, as in C") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const cq::array<float, 1> x{inf, 3e38f, 10, 4.5f, 0x1.f5a88ap+1f, -0x1.f5a88ap+1f, -4, -inf};
  CHECK(cq::erf(x).to_vector() == std::vector<float>{1, 1, 1, 1, 1, -1, -1, -1});
  const cq::array<double, 1> y{HUGE_VAL, 1e300, 10, 6, -6, -HUGE_VAL};
  CHECK(cq::erf(y).to_vector() == std::vector<double>{1, 1, 1, 1, -1, -1});
}

TEST_CASE("functions give one result traced, eagerly, on arrays and anywhere in a lane (C014)") {
  const auto x = drawn<float>(cq::shape{67}, draws<float>(3, 0.2));
  const auto y = drawn<float>(cq::shape{67}, draws<float>(4, 0.2));
  check_same_bits<smooth>(x);
  check_same_bits<circles>(x);
  check_same_bits<relatives>(x);
  check_same_bits<steps>(x);
  check_same_bits<tests>(x);
  check_same_bits<pairs>(x, y);
  check_same_bits<choices>(x, y);
  check_same_bits<rows<row_clip>>(x, y, drawn<float>(cq::shape{67}, draws<float>(5, 0.2)));
  check_same_bits<rows<row_silu, row_gelu>>(x);
}

TEST_CASE("derivatives agree with differences, by row (B8)") {
  check_row_slopes<row_erf, 0>();
  check_row_slopes<row_sin, 0>();
  check_row_slopes<row_cos, 0>();
  check_row_slopes<row_tan, 0>();
  check_row_slopes<row_expm1, 0>();
  check_row_slopes<row_log1p, 0>();
  check_row_slopes<row_sigmoid, 0>();
  check_row_slopes<row_rsqrt, 0>();
  check_row_slopes<row_square_by_pow, 0>();
  check_row_slopes<row_reciprocal, 0>();
  check_row_slopes<row_relu, 0>();
  check_row_slopes<row_silu, 0>();
  check_row_slopes<row_gelu, 0>();
  check_row_slopes<row_pow, 0, 1>();
  check_row_slopes<row_atan2, 0, 1>();
  check_row_slopes<row_fmod, 0, 1>();
  check_row_slopes<row_true_divide, 0, 1>();
  check_row_slopes<row_clip, 0, 1, 2>();
}

TEST_CASE("steps have a derivative of zero, beside whatever else flows (B8)") {
  const cq::array<double, 1> x{-1.5, 0.25, 2.75};
  const auto slope = cq::grad([](auto v) {
    return cq::sum(cq::floor(v) + cq::ceil(v) + cq::round(v) + cq::sign(v) + 3 * v);
  });
  CHECK(slope(x).to_vector() == std::vector<double>{3, 3, 3});
  CHECK(cq::grad([](auto v) { return cq::sum(cq::relu(v)); })(
            cq::array<float, 1>{-1, 0, 2, std::nanf("")})
            .to_vector()[1] == 0);
}

TEST_CASE("a slope that is infinite on the side not taken gives no NaN (C055)") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const cq::array<float, 1> x{4, 0, -1};
  const auto check = [&](auto f, std::vector<float> want) {
    const std::vector<float> got = cq::grad(f)(x).to_vector();
    for (std::size_t i = 0; i < 3; ++i) CHECK(got[i] == doctest::Approx(want[i]));
  };
  check([](auto v) { return cq::sum(cq::where(v > 0, cq::pow(v, 0.5f), 0)); }, {0.25f, 0, 0});
  check([](auto v) { return cq::sum(cq::where(v > 0, cq::pow(v, v), 0)); },
        {256 * (1 + std::log(4.f)), 0, 0});
  check([](auto v) { return cq::sum(cq::where(v > 0, cq::rsqrt(v), 0)); }, {-0.0625f, 0, 0});
  check([](auto v) { return cq::sum(cq::where(v > 0, cq::log1p(v - 1), v)); }, {0.25f, 1, 1});
  check([](auto v) { return cq::sum(cq::where(v > 0, cq::reciprocal(v), 0)); }, {-0.0625f, 0, 0});
  // powers at zero
  const cq::array<float, 1> zero{0}, two{2};
  const auto by_base = cq::grad([](auto a, auto b) { return cq::sum(cq::pow(a, b)); });
  CHECK(by_base(zero, zero)(0) == 0);
  CHECK(by_base(zero, two)(0) == 0);
  CHECK(by_base(zero, cq::array<float, 1>{0.5f})(0) == inf);
  const auto by_exponent =
      cq::grad([](auto a, auto b) { return cq::sum(cq::pow(a, b)); }, cq::wrt<1>);
  CHECK(by_exponent(zero, two)(0) == 0);
}

TEST_CASE("clip and relu are NaN where an operand is (C014)") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const cq::array<float, 1> x{nan, 0.5f, 0.5f, 2}, low{0, nan, 0, 0}, high{1, 1, nan, 1};
  const auto c = cq::clip(x, low, high);
  CHECK((std::isnan(c(0)) && std::isnan(c(1)) && std::isnan(c(2)) && c(3) == 1));
  CHECK(std::isnan(cq::relu(x)(0)));
  static_assert(
      std::is_same_v<decltype(cq::clip(cq::array<int, 1>{}, 0, 1.5)), cq::array<double, 1>>);
}

TEST_CASE("composites keep their value at 0, 1 and infinity (C050)") {
  const cq::array<float, 1> zero{0.f, -0.f};
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{cq::log(cq::pow(x, x)), cq::atan2(x - x, x * 0), cq::log1p(cq::expm1(x))};
  });
  const auto [a, b, c] = f(zero);
  CHECK((a(0) == 0 && a(1) == 0 && b(0) == 0 && c(0) == 0 && std::signbit(c(1))));
}

TEST_CASE("floating functions of integers and bool are computed in double, of weak ones weakly") {
  const cq::array<std::int32_t, 1> k{0, 3, -2};
  static_assert(std::is_same_v<decltype(cq::pow(k, k)), cq::array<double, 1>>);
  static_assert(std::is_same_v<decltype(cq::pow(k, 0.5f)), cq::array<float, 1>>);
  static_assert(std::is_same_v<decltype(cq::true_divide(k, 2)), cq::array<double, 1>>);
  static_assert(std::is_same_v<decltype(cq::floor(k)), cq::array<std::int32_t, 1>>);
  static_assert(
      std::is_same_v<decltype(cq::sign(cq::array<bool, 1>{})), cq::array<std::int32_t, 1>>);
  CHECK(cq::sigmoid(k)(0) == 0.5);
  CHECK(cq::pow(k, 3).to_vector() == std::vector<double>{0, 27, -8});
  CHECK(cq::true_divide(k, 2).to_vector() == std::vector<double>{0, 1.5, -1});
  CHECK(cq::floor(k).to_vector() == k.to_vector());
  constexpr auto weak = cq::trace([](auto x, auto a) { return x * cq::sin(a) + cq::pow(a, 2); });
  static_assert(std::is_same_v<decltype(weak(cq::array<float, 1>{}, 0.5)), cq::array<float, 1>>);
}
