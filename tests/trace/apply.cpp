// User elementwise operations: functors of scalars with and without derivative and lanes, in every
// place where an operation may stand; functors that throw; compositions.
#include "calque/trace/apply.hpp"

#include <stdexcept>

#include "support/elementwise_rows.hpp"

namespace cq = calque;

namespace user {

struct softsign {
  static constexpr char name[] = "softsign";
  template <class T>
  constexpr T operator()(T x) const {
    return x / (T(1) + (x < T(0) ? -x : x));
  }
  static constexpr auto gradient(auto x, auto dy) { return dy / cq::square(1 + cq::abs(x)); }
};
struct hypotenuse {  // also the name of the derivative of two operands
  static constexpr char name[] = "hypotenuse";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return static_cast<T>(std::sqrt(x * x + y * y));
  }
  static constexpr auto gradient(auto x, auto y, auto dy) {
    const auto r = cq::sqrt(x * x + y * y);
    return std::tuple{dy * x / r, dy * y / r};
  }
};
struct inside {
  static constexpr char name[] = "inside";
  using result_type = bool;
  template <class T>
  constexpr bool operator()(T x, T low, T high) const {
    return low <= x && x <= high;
  }
};
struct width {  // tells the type it is called with
  static constexpr char name[] = "width";
  template <class T>
  constexpr T operator()(T) const {
    return static_cast<T>(sizeof(T));
  }
};
struct doubled {
  static constexpr char name[] = "doubled";
  template <class T>
  constexpr T operator()(T x) const {
    return x + x;
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(cq::lane<T, W>& r, const cq::lane<T, W>& x) {
    r = x + x;
  }
  static constexpr auto gradient(auto, auto) { return 2; }  // a number: for every element
};
struct picky {
  static constexpr char name[] = "picky";
  template <class T>
  T operator()(T x) const {
    if (x == T(0)) throw std::domain_error("picky: zero");
    return x;
  }
};

}  // namespace user

CALQUE_REGISTER(user::softsign);
CALQUE_REGISTER(user::hypotenuse);
CALQUE_REGISTER(user::inside);
CALQUE_REGISTER(user::width);
CALQUE_REGISTER(user::doubled);
CALQUE_REGISTER(user::picky);

namespace {

using namespace calque::test;

CALQUE_ROW_OF_ONE(softsign, cq::apply<user::softsign>(x), x / (1 + std::fabs(x)), 2, -2, 2)
CALQUE_ROW_OF_ONE(doubled, cq::apply<user::doubled>(x), x + x, 0, -2, 2)
CALQUE_ROW_OF_ONE(mixed, cq::exp(-cq::apply<user::softsign>(x) * 2),
                  std::exp(-2 * (x / (1 + std::fabs(x)))), 8, -2, 2)
CALQUE_ROW_OF_TWO(hypotenuse, cq::apply<user::hypotenuse>(x, y), std::sqrt(x* x + y * y), 2, 0.3, 2)
CALQUE_ROW_OF_THREE(inside, cq::apply<user::inside>(x, y, z), y <= x && x <= z, 0, 0, 0)

/// A composition needs nothing but itself.
constexpr auto mish = [](auto x) { return x * cq::tanh(cq::log1p(cq::exp(x))); };
struct row_mish {
  static constexpr const char* name = "mish";
  static constexpr double low = -2, high = 2;
  template <class X>
  static constexpr auto call(const X& x) {
    return mish(x);
  }
};

constexpr auto picked = cq::trace([](auto x) { return cq::apply<user::picky>(x) * 2; });

}  // namespace

TEST_CASE("user operations equal plain loops for every layout, in clusters and alone (B9)") {
  check_rows<float, 1, rows<row_doubled>>(0.1);
  check_rows<float, 1, rows<row_softsign, row_doubled, row_mixed>>(0);
  check_rows<double, 2, rows<row_hypotenuse>>(0);
  check_rows<std::int32_t, 3, rows<row_inside>>(0.1);
  constexpr auto sums = cq::trace([](auto x) { return cq::sum(cq::apply<user::softsign>(x)); });
  for (std::int64_t n : {0, 1, 5, 16, 67, 1027}) {
    const auto x = drawn<double>(cq::shape{n}, draws<double>(7));
    double want = 0;
    for (double v : x.to_vector()) want += v / (1 + std::fabs(v));
    CHECK(static_cast<double>(sums(x)) == doctest::Approx(want).epsilon(1e-12));
  }
}

TEST_CASE("user operations give the same bits traced, eagerly, on arrays and anywhere in a lane") {
  const auto x = drawn<float>(cq::shape{67}, draws<float>(3, 0.1));
  const auto y = drawn<float>(cq::shape{67}, draws<float>(4, 0.1));
  check_same_bits<rows<row_softsign, row_doubled>>(x);
  check_same_bits<rows<row_hypotenuse>>(x, y);
  check_same_bits<rows<row_inside>>(x, y, y + 1);
}

TEST_CASE("a user's derivative is used, also for the derivative of a derivative (B8)") {
  check_row_slopes<row_softsign, 0>();
  check_row_slopes<row_mixed, 0>();
  check_row_slopes<row_hypotenuse, 0, 1>();
  check_row_slopes<row_mish, 0>();
  const cq::array<double, 1> x{-1.5, 0.25, 3};
  const auto second = cq::grad([](auto v) {
    return cq::sum(cq::grad([](auto u) { return cq::sum(cq::apply<user::softsign>(u)); })(v));
  })(x);
  for (int i = 0; i < 3; ++i) {
    const double v = x(i), d = 1 + std::fabs(v);
    CHECK(second(i) == doctest::Approx((v < 0 ? 2 : -2) / (d * d * d)));
  }
  CHECK(cq::grad([](auto v) { return cq::sum(cq::apply<user::doubled>(v)); })(x)(2) == 2);
  CHECK(cq::grad([](auto v) { return cq::sum(cq::apply<user::width>(v) + v); })(x)(0) == 1);
}

TEST_CASE("operands take their common type, a predicate gives bool") {
  const cq::array<std::int8_t, 1> s{1, 2};
  const cq::array<std::int16_t, 1> t{1, 2};
  const cq::array<float, 2> x{{0.5f, 3}};
  static_assert(std::is_same_v<decltype(cq::apply<user::width>(s)), cq::array<std::int8_t, 1>>);
  static_assert(std::is_same_v<decltype(cq::apply<user::hypotenuse>(s, x)), cq::array<float, 2>>);
  static_assert(std::is_same_v<decltype(cq::apply<user::inside>(x, 0, 1)), cq::array<bool, 2>>);
  CHECK(cq::apply<user::width>(s)(0) == 1);
  CHECK(cq::eager([](auto v) { return cq::apply<user::width>(v); })(t)(0) == 2);
  CHECK(cq::apply<user::width>(x)(0, 0) == 4);
  const auto in = cq::apply<user::inside>(x, 0, 1);
  CHECK((in(0, 0) && !in(0, 1)));
  CHECK(cq::apply<user::inside>(s, s, t)(1));
}

TEST_CASE("a functor's exception reaches the caller, and the next call is right (C088)") {
  constexpr std::int64_t n = 100003;
  auto x = cq::ones<float>(cq::shape{n});
  auto out = cq::full(cq::shape{n}, 7.f);
  for (std::int64_t n_small : {1, 3, 17})  // no element but the operand's own is seen
    CHECK(picked(cq::ones<float>(cq::shape{n_small}))(0) == 2);
  for (std::int64_t at : {std::int64_t{0}, std::int64_t{5000}, n - 1}) {
    x(at) = 0;
    CHECK_THROWS_AS((void)picked(x), std::domain_error);
    CHECK_THROWS_AS((void)cq::eager(picked)(x), std::domain_error);
    CHECK_THROWS_AS((void)cq::apply<user::picky>(x), std::domain_error);
    CHECK_THROWS_AS((void)cq::trace([](auto v) { return cq::sum(cq::apply<user::picky>(v)); })(x),
                    std::domain_error);
    x(at) = 1;
    picked.into(out, x);
    CHECK((out(0) == 2 && out(n - 1) == 2));
  }
}

TEST_CASE("a call that a functor ends leaves variables as they were (C088)") {
  constexpr auto step = cq::trace([](auto w, auto v, auto x) {
    w += 1;
    v -= cq::apply<user::picky>(x);
    return cq::apply<user::picky>(w + x);
  });
  const cq::variable<float, 1> w{cq::array<float, 1>{1, 2}, "w"}, v{cq::array<float, 1>{3, 4}, "v"};
  const cq::array<float, 1> bad{1, 0}, late{1, -3}, good{1, 2};
  CHECK_THROWS_AS((void)step(w, v, bad), std::domain_error);
  CHECK((w.value().to_vector() == std::vector<float>{1, 2}));
  CHECK((v.value().to_vector() == std::vector<float>{3, 4}));
  CHECK_THROWS_AS((void)step(w, v, late), std::domain_error);
  CHECK((w.value().to_vector() == std::vector<float>{1, 2}));
  CHECK((v.value().to_vector() == std::vector<float>{3, 4}));
  CHECK(step(w, v, good)(0) == 3);
  CHECK((w.value()(1) == 3 && v.value()(1) == 2));
}
