// Elementwise arithmetic against plain loops: every broadcast, layout and element type; integers'
// special quotients; promotion with literals.
#include "calque/ops/arithmetic.hpp"

#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

constexpr auto binary = cq::trace([](auto x, auto y) {
  return std::tuple{x + y, x - y, x * y, x / y, cq::maximum(x, y), cq::minimum(x, y)};
});
constexpr auto negative = cq::trace([](auto x) { return -x; });

template <class V>
V quotient(V a, V b) {
  if constexpr (std::is_same_v<V, __int128>) return b == 0 ? V{0} : a / b;
  else return a / b;
}
template <class V>
V larger(V a, V b) {
  return a != a || a > b ? a : b;
}
template <class V>
V smaller(V a, V b) {
  return a != a || a < b ? a : b;
}

template <class T, int RA, int RB>
void check_binary(const cq::array<const T, RA>& x, const cq::array<const T, RB>& y) {
  using V = wide<T>;
  const auto a = dense_of(x), b = dense_of(y);
  const double half_ulp = std::is_same_v<T, double> ? 0.51 : 0;
  for (int call = 0; call < 2; ++call) {  // planned, then replayed
    INFO("call ", call);
    const auto [sum, difference, product, ratio, most, least] = binary(x, y);
    CALQUE_CHECK_MATCHES(sum, zip([](V u, V v) { return u + v; }, a, b), half_ulp);
    CALQUE_CHECK_MATCHES(difference, zip([](V u, V v) { return u - v; }, a, b), half_ulp);
    CALQUE_CHECK_MATCHES(product, zip([](V u, V v) { return u * v; }, a, b), half_ulp);
    CALQUE_CHECK_MATCHES(ratio, zip([](V u, V v) { return quotient(u, v); }, a, b), half_ulp);
    CALQUE_CHECK_MATCHES(most, zip([](V u, V v) { return larger(u, v); }, a, b), 0);
    CALQUE_CHECK_MATCHES(least, zip([](V u, V v) { return smaller(u, v); }, a, b), 0);
  }
}

/// The last `R` axes of `s`, with extent 1 where `ones` has a bit.
template <int R, int From>
cq::shape<R> squeezed(const cq::shape<From>& s, unsigned ones) {
  std::array<std::int64_t, R> e{};
  for (int i = 0; i < R; ++i)
    e[static_cast<std::size_t>(i)] = ((ones >> i) & 1u) ? 1 : s[From - R + i];
  return cq::shape<R>(e);
}

template <class T, int RA, int RB>
void check_broadcasts() {
  constexpr int rank = RA > RB ? RA : RB;
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<rank>())
    for (layout how : layouts)
      for (unsigned ones = 0; ones < (1u << RA); ones += how == layout::plain ? 1 : 3) {
        ++seed;
        const auto x = laid_out<T>(squeezed<RA>(s, ones), how, draws<T>(seed, 0.1));
        const auto y = laid_out<T>(squeezed<RB>(s, seed % 3 ? 0 : ones ^ 1u), layouts[seed % 5],
                                   draws<T>(seed + 1000, 0.1));
        INFO("extents ", cq::to_string(x.shape()), " and ", cq::to_string(y.shape()), ", layouts ",
             static_cast<int>(how), " and ", seed % 5);
        check_binary<T, RA, RB>(x, y);
      }
}

}  // namespace

TEST_CASE("f32 arithmetic equals a wide loop for every broadcast and layout (B9, C067, C068)") {
  check_broadcasts<float, 0, 0>();
  check_broadcasts<float, 1, 1>();
  check_broadcasts<float, 2, 0>();
  check_broadcasts<float, 2, 3>();
  check_broadcasts<float, 4, 4>();
}

TEST_CASE("f64 arithmetic equals a wide loop for every broadcast and layout (B9, C067, C068)") {
  check_broadcasts<double, 2, 2>();
  check_broadcasts<double, 4, 1>();
}

TEST_CASE("integer arithmetic wraps and equals a 128-bit loop (B9, C043, C044)") {
  check_broadcasts<std::int32_t, 2, 2>();
  check_broadcasts<std::int32_t, 1, 3>();
  check_broadcasts<std::int64_t, 2, 2>();
  check_broadcasts<std::uint8_t, 2, 2>();
  check_broadcasts<std::int8_t, 1, 2>();
}

TEST_CASE(
    "integers divide by zero to 0 and the least by -1 to itself, in body and tail (C043, C044)") {
  const auto check = []<class T>(T) {
    for (std::int64_t n : {1, 3, 8, 64, 67}) {
      auto x = cq::zeros<T>(cq::shape{n}), y = cq::zeros<T>(cq::shape{n});
      for (std::int64_t i = 0; i < n; ++i) {
        x(i) = i % 2 ? std::numeric_limits<T>::min() : static_cast<T>(i + 1);
        y(i) = i % 2 ? static_cast<T>(-1) : T(0);
      }
      INFO("n = ", n);
      check_binary<T, 1, 1>(x, y);
      const auto q = std::get<3>(binary(x, y));
      CHECK(q(n - 1) == (n % 2 ? T(0) : static_cast<T>(wide<T>(x(n - 1)) / y(n - 1))));
    }
  };
  check(std::int8_t{});
  check(std::int32_t{});
  check(std::int64_t{});
  check(std::uint8_t{});
  const cq::array<std::int32_t, 1> a{1, 2, 3}, b{0, 1, 0};
  CHECK((a / b).to_vector() == std::vector<std::int32_t>{0, 2, 0});
}

TEST_CASE("negation flips the sign of zero, keeps NaN and wraps the least integer (C044)") {
  for (layout how : layouts) {
    const auto f = laid_out<float>(cq::shape{5, 9}, how, draws<float>(3, 0.3));
    CALQUE_CHECK_MATCHES(negative(f), zip([](long double v) { return -v; }, dense_of(f)), 0);
    const auto i = laid_out<std::int32_t>(cq::shape{5, 9}, how, draws<std::int32_t>(3, 0.3));
    CALQUE_CHECK_MATCHES(negative(i), zip([](__int128 v) { return -v; }, dense_of(i)), 0);
  }
  CHECK(std::signbit(negative(cq::array<float, 1>{0.f})(0)));
  CHECK(!std::signbit(negative(cq::array<float, 1>{-0.f})(0)));
  const auto least = std::numeric_limits<std::int64_t>::min();
  CHECK(negative(cq::array<std::int64_t, 1>{least})(0) == least);
}

TEST_CASE("an element has the same bits in a vector's body and in its tail, at every length") {
  constexpr auto f = cq::trace([](auto x, auto y) { return (x * y - x) / (y + 2.5f) + x * x; });
  at_each_isa(
      [&] {
        for (std::int64_t n : lengths) {
          const auto x = drawn<float>(cq::shape{n}, draws<float>(1));
          const auto y = drawn<float>(cq::shape{n}, draws<float>(2));
          const auto whole = f(x, y);
          CHECK(same_bits(whole, f(x, y)));
          for (std::int64_t k : {1, 3, 7}) {
            const cq::range r{k, cq::range::open};
            CHECK(same_bits(cq::slice(whole, r), f(cq::slice(x, r), cq::slice(y, r))));
          }
        }
      },
      f);
}

TEST_CASE("a scalar before or after an array gives the same bits and the array's type (C037)") {
  const auto x = drawn<float>(cq::shape{37}, draws<float>(5));
  constexpr auto left = cq::trace([](auto a, auto b) { return std::tuple{a * b, a + b, 0.1 * b}; });
  constexpr auto right =
      cq::trace([](auto a, auto b) { return std::tuple{b * a, b + a, b * 0.1}; });
  const auto [p, q, r] = left(0.1, x);
  const auto [s, t, u] = right(0.1, x);
  static_assert(std::is_same_v<decltype(p), const cq::array<float, 1>>);
  static_assert(std::is_same_v<decltype(left(1, x)), decltype(right(1.0f, x))>);
  CHECK(same_bits(p, s));
  CHECK(same_bits(q, t));
  CHECK(same_bits(r, u));
  for (std::int64_t i = 0; i < 37; ++i) CHECK(p(i) == 0.1f * x(i));
}

TEST_CASE("a floating scalar is not rounded to an integer array's type (C038)") {
  const cq::array<std::int32_t, 1> k{7, 6};
  constexpr auto f =
      cq::trace([](auto x, auto a) { return std::tuple{x * 2.5, x / 0.5, x + 2.5f, x * a}; });
  const auto [product, ratio, sum, scaled] = f(k, 2.5);
  static_assert(std::is_same_v<decltype(product), const cq::array<double, 1>>);
  static_assert(std::is_same_v<decltype(sum), const cq::array<float, 1>>);
  static_assert(std::is_same_v<decltype(scaled), const cq::array<double, 1>>);
  CHECK(product.to_vector() == std::vector<double>{17.5, 15});
  CHECK(ratio.to_vector() == std::vector<double>{14, 12});
  CHECK(sum.to_vector() == std::vector<float>{9.5f, 8.5f});
  CHECK(scaled.to_vector() == std::vector<double>{17.5, 15});
  CHECK((k * 2.5).to_vector() == std::vector<double>{17.5, 15});
}

TEST_CASE("bool with bool counts in int32, mixed operands take the table's type") {
  const cq::array<bool, 1> p{true, false, true}, q{true, true, false};
  const cq::array<std::uint8_t, 1> u{250, 1, 7};
  const cq::array<std::int8_t, 1> s{-8, 100, -128};
  static_assert(std::is_same_v<decltype(p + q), cq::array<std::int32_t, 1>>);
  static_assert(std::is_same_v<decltype(u + s), cq::array<std::int16_t, 1>>);
  static_assert(std::is_same_v<decltype(-p), cq::array<std::int32_t, 1>>);
  CHECK((p + q).to_vector() == std::vector<std::int32_t>{2, 1, 1});
  CHECK((-p).to_vector() == std::vector<std::int32_t>{-1, 0, -1});
  CHECK((u + s).to_vector() == std::vector<std::int16_t>{242, 101, -121});
  CHECK((u * 2).to_vector() == std::vector<std::uint8_t>{244, 2, 14});
}

TEST_CASE("extents broadcast by NumPy's rule, 1 against 0 gives 0, a mismatch throws (C031)") {
  constexpr auto add = cq::trace([](auto x, auto y) { return x + y; });
  const auto check = [&](const cq::shape<2>& s, const cq::shape<2>& t) {
    const auto x = drawn<float>(s, draws<float>(1)), y = drawn<float>(t, draws<float>(2));
    const auto a = dense_of(x), b = dense_of(y);
    INFO("extents ", cq::to_string(s), " and ", cq::to_string(t));
    bool fits = true;
    for (int i = 0; i < 2; ++i) fits = fits && (s[i] == t[i] || s[i] == 1 || t[i] == 1);
    for (int call = 0; call < 2; ++call) {
      if (fits) CALQUE_CHECK_MATCHES(add(x, y), zip([](auto u, auto v) { return u + v; }, a, b), 0);
      else CHECK_THROWS_AS((void)add(x, y), cq::shape_error);
    }
  };
  for (int i = 0; i < 256; ++i) check(cq::shape{i % 4, i / 4 % 4}, cq::shape{i / 16 % 4, i / 64});
  CHECK(add(cq::ones<float>(cq::shape{1, 1}), cq::ones<float>(cq::shape{0, 1})).shape() ==
        cq::shape{0, 1});
}

TEST_CASE("reversed views are read and accumulated element by element (C067)") {
  const auto x = cq::arange<float>(6);
  const cq::range back{cq::range::open, cq::range::open, -1};
  constexpr auto f = cq::trace([](auto base, auto v) { return base + 2 * v; });
  const auto r =
      cq::slice(f(cq::slice(cq::zeros<float>(cq::shape{6}), back), cq::slice(x, back)), back);
  CHECK(r.to_vector() == std::vector<float>{0, 2, 4, 6, 8, 10});
}

TEST_CASE("an operand that reaches past 2^31 elements is addressed in 64 bits (C029)") {
  const std::int64_t stride = (std::int64_t{1} << 30) + 1, bytes = 2 * stride + 16;
  std::uint8_t* const base =
      static_cast<std::uint8_t*>(std::calloc(static_cast<std::size_t>(bytes), 1));
  REQUIRE(base != nullptr);
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t j = 0; j < 16; ++j)
      base[row * stride + j] = static_cast<std::uint8_t>(16 * row + j);
  {
    const auto view = cq::borrow(base, cq::shape{3, 16}, std::array<std::int64_t, 2>{stride, 1});
    constexpr auto f = cq::trace([](auto x) { return std::tuple{x + 1, cq::sum(x, cq::axis<1>)}; });
    const auto [next, sums] = f(view);
    bool right = true;
    for (std::int64_t row = 0; row < 3; ++row)
      for (std::int64_t j = 0; j < 16; ++j) right = right && next(row, j) == 16 * row + j + 1;
    CHECK(right);
    CHECK(sums.to_vector() == std::vector<std::uint64_t>{120, 376, 632});
  }
  std::free(base);
}
