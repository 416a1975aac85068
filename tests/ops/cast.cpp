// Conversions of element types against a wide reference: saturation, NaN, bool; derivatives.
#include "calque/ops/cast.hpp"

#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// `v` as type To: out of range gives the nearest bound, NaN 0; integers wrap.
template <class To, class From>
To expected(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    using limits = std::numeric_limits<To>;
    const auto w = static_cast<long double>(v);
    if (std::isnan(v)) return 0;
    if (w <= static_cast<long double>(limits::min())) return limits::min();
    if (w >= static_cast<long double>(limits::max())) return limits::max();
    return static_cast<To>(w);
  } else {
    return static_cast<To>(v);
  }
}

template <class From, class To>
void check_cast(const std::vector<From>& values) {
  constexpr auto f = cq::trace([](auto x) { return cq::astype<To>(x); });
  constexpr auto steps =
      cq::trace<cq::options{.pass_level = 0}>([](auto x) { return cq::astype<To>(x); });
  for (layout how : layouts)
    for (std::int64_t n : {1, 7, 8, 33, 64, 67}) {
      const auto x = laid_out<From>(cq::shape{n}, how, [&, i = std::size_t{0}]() mutable {
        return static_cast<From>(values[i++ % values.size()]);
      });
      const auto y = f(x);
      INFO(std::string(cq::name_of(cq::dtype_of<From>)), " to ",
           std::string(cq::name_of(cq::dtype_of<To>)), ", n = ", n);
      for (std::int64_t i = 0; i < n; ++i)
        if (!is_close<To>(y(i), expected<To>(x(i)))) {
          FAIL_CHECK("element ", i, ": ", y(i), " from ", x(i));
          break;
        }
      CHECK(same_bits(y, f(x)));
      CHECK(same_bits(y, steps(x)));
    }
}
template <class From>
void check_casts(const std::vector<From>& values) {
  check_cast<From, float>(values);
  check_cast<From, double>(values);
  check_cast<From, std::int32_t>(values);
  check_cast<From, std::int64_t>(values);
  check_cast<From, std::uint8_t>(values);
  check_cast<From, std::uint32_t>(values);
  check_cast<From, bool>(values);
}

template <class T>
std::vector<T> floats() {
  std::vector<T> v{T(0),
                   T(-0.0),
                   T(0.5),
                   T(-0.5),
                   T(0.99),
                   T(1),
                   T(-1.75),
                   T(254.9),
                   T(255),
                   T(256),
                   T(-3),
                   T(3e9),
                   T(-3e9),
                   T(1e30),
                   T(-1e30),
                   T(2147483520.),
                   T(2147483648.),
                   T(4294967040.),
                   T(9.2233715e18),
                   T(9.3e18),
                   T(infinite),
                   T(-infinite),
                   T(not_a_number),
                   std::numeric_limits<T>::denorm_min(),
                   T(1e300),
                   T(0x1.ffffffp127)};
  return v;
}
template <class T>
std::vector<T> integers() {
  return {T(0),
          T(1),
          T(2),
          T(100),
          std::numeric_limits<T>::max(),
          std::numeric_limits<T>::min(),
          static_cast<T>(-1),
          static_cast<T>(0x12345678),
          static_cast<T>(16777217)};
}

}  // namespace

TEST_CASE("f32 converts to every type: saturating, NaN to 0, in body and tail (C040)") {
  check_casts<float>(floats<float>());
}
TEST_CASE("f64 converts to every type: saturating, NaN to 0, in body and tail (C040)") {
  check_casts<double>(floats<double>());
}
TEST_CASE("integers and bool convert to every type, wrapping") {
  check_casts<std::int32_t>(integers<std::int32_t>());
  check_casts<std::int64_t>(integers<std::int64_t>());
  check_casts<std::uint8_t>(integers<std::uint8_t>());
  check_casts<bool>({true, false, false, true, true});
}

TEST_CASE("out-of-range floats give the integer type's bounds and NaN gives 0 (C040)") {
  const auto f = static_cast<float>(infinite);
  const cq::array<float, 1> x{static_cast<float>(not_a_number), f, -f, 3e9f, -3.f};
  CHECK(cq::astype<std::int32_t>(x).to_vector() ==
        std::vector<std::int32_t>{0, 2147483647, -2147483647 - 1, 2147483647, -3});
  CHECK(cq::astype<std::uint32_t>(x).to_vector() ==
        std::vector<std::uint32_t>{0, 4294967295u, 0, 3000000000u, 0});
}

TEST_CASE("a cast inside a cluster rounds: float to int and back is no identity") {
  constexpr auto f = cq::trace([](auto x) { return x - cq::astype<float>(cq::astype<int>(x)); });
  CHECK(f(cq::array<float, 1>{1.25f, -2.5f, 7.f}).to_vector() ==
        std::vector<float>{0.25f, -0.5f, 0});
  constexpr auto narrow =
      cq::trace([](auto x) { return cq::astype<double>(cq::astype<float>(x)) - x; });
  CHECK(narrow(cq::array<double, 1>{0.1, 0.5})(0) == static_cast<double>(0.1f) - 0.1);
}

TEST_CASE("derivatives pass through casts between floating types and stop at integers") {
  const cq::array<float, 1> x{1.5f, -2.25f};
  const auto wide = cq::grad([](auto v) {
    const auto d = cq::astype<double>(v);
    return cq::sum(d * d * 3.0);
  })(x);
  static_assert(std::is_same_v<decltype(wide), const cq::array<float, 1>>);
  CHECK(wide.to_vector() == std::vector<float>{9, -13.5f});
  const auto none =
      cq::grad([](auto v) { return cq::sum(cq::astype<float>(cq::astype<int>(v)) + v); })(x);
  CHECK(none.to_vector() == std::vector<float>{1, 1});
}
