// How operands meet: the promotion table through operators, in both orders (C037, C038).
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

#include <array>

namespace cq = calque;

namespace {

template <class T, int Rank = 1>
using sym = cq::expr<T, Rank>;
template <class T>
using weak = cq::scalar_expr<T>;

template <class R, class A, class B>
constexpr bool sums_to = std::is_same_v<decltype(std::declval<A>() + std::declval<B>()), R> &&
                         std::is_same_v<decltype(std::declval<B>() + std::declval<A>()), R> &&
                         std::is_same_v<decltype(std::declval<A>() * std::declval<B>()), R> &&
                         std::is_same_v<decltype(std::declval<B>() / std::declval<A>()), R>;
template <class R, class A, class B>
constexpr bool compares_to = std::is_same_v<decltype(std::declval<A>() < std::declval<B>()), R> &&
                             std::is_same_v<decltype(std::declval<B>() < std::declval<A>()), R> &&
                             std::is_same_v<decltype(std::declval<A>() == std::declval<B>()), R> &&
                             std::is_same_v<decltype(std::declval<B>() != std::declval<A>()), R>;
template <class A, class B>
concept can_add = requires(A a, B b) { a + b; };

// two arrays
static_assert(sums_to<sym<float>, sym<float>, sym<float>>);
static_assert(sums_to<sym<int>, sym<bool>, sym<bool>>);
static_assert(sums_to<sym<std::int8_t>, sym<bool>, sym<std::int8_t>>);
static_assert(sums_to<sym<std::int64_t>, sym<std::int64_t>, sym<std::int16_t>>);
static_assert(sums_to<sym<std::uint32_t>, sym<std::uint32_t>, sym<std::uint8_t>>);
static_assert(sums_to<sym<std::int16_t>, sym<std::int8_t>, sym<std::uint8_t>>);
static_assert(sums_to<sym<std::int64_t>, sym<std::int32_t>, sym<std::uint32_t>>);
static_assert(sums_to<sym<float>, sym<float>, sym<std::int64_t>>);
static_assert(sums_to<sym<double>, sym<float>, sym<double>>);
// a rank-0 array is not weak
static_assert(sums_to<sym<double>, sym<float>, sym<double, 0>>);
static_assert(sums_to<sym<float, 3>, sym<float, 3>, sym<float>>);
// numbers beside arrays: weak of the same or a lower kind, their own type above it (C037, C038)
static_assert(sums_to<sym<float>, sym<float>, double>);
static_assert(sums_to<sym<float>, sym<float>, int>);
static_assert(sums_to<sym<float>, sym<float>, weak<double>>);
static_assert(sums_to<sym<std::int8_t>, sym<std::int8_t>, std::int64_t>);
static_assert(sums_to<sym<std::uint8_t>, sym<std::uint8_t>, weak<int>>);
static_assert(sums_to<sym<double>, sym<int>, double>);
static_assert(sums_to<sym<float>, sym<int>, float>);
static_assert(sums_to<sym<float>, sym<std::int64_t>, weak<float>>);
static_assert(sums_to<sym<double>, sym<bool>, weak<double>>);
static_assert(sums_to<sym<int>, sym<bool>, int>);
static_assert(sums_to<sym<std::int64_t>, sym<bool>, long long>);
static_assert(sums_to<sym<int>, sym<bool>, bool>);
// two weak scalars: C++'s conversions
static_assert(sums_to<weak<int>, weak<bool>, weak<bool>>);
static_assert(sums_to<weak<int>, weak<std::int8_t>, weak<std::uint8_t>>);
static_assert(sums_to<weak<std::uint32_t>, weak<std::int32_t>, weak<std::uint32_t>>);
static_assert(sums_to<weak<double>, weak<float>, double>);
static_assert(sums_to<weak<float>, weak<float>, int>);
static_assert(sums_to<weak<std::uint64_t>, weak<std::int64_t>, weak<std::uint64_t>>);
// comparisons are bool whatever is compared
static_assert(compares_to<sym<bool>, sym<float>, int>);
static_assert(compares_to<sym<bool, 2>, sym<std::int8_t, 2>, sym<double>>);
static_assert(compares_to<sym<bool>, sym<bool>, sym<bool>>);
static_assert(compares_to<weak<bool>, weak<int>, weak<double>>);
// a variable's symbol is a value in expressions
static_assert(sums_to<sym<float>, cq::var_expr<float, 1>, cq::var_expr<float, 1>>);
static_assert(sums_to<sym<float, 2>, cq::var_expr<float, 1>, sym<float, 2>>);
static_assert(sums_to<sym<double>, cq::var_expr<int, 1>, double>);
// what is no operand stays none (C127)
static_assert(!can_add<sym<float>, std::string>);
static_assert(!can_add<sym<float>, const float*>);
static_assert(!can_add<sym<float>, long double>);
static_assert(!can_add<sym<float>, char>);
static_assert(!can_add<std::vector<float>, int>);
static_assert(!can_add<std::vector<float>, sym<float>>);
// unary minus
static_assert(std::is_same_v<decltype(-std::declval<sym<bool>>()), sym<int>>);
static_assert(std::is_same_v<decltype(-std::declval<weak<std::int8_t>>()), weak<int>>);
static_assert(std::is_same_v<decltype(-std::declval<cq::var_expr<float, 2>>()), sym<float, 2>>);

constexpr auto mixed = graphs::plain([](auto f, auto i, auto b, auto d) {
  return std::tuple{f * 0.1, 0.1 * f, f * d, d * f, i * 2.5, i / 0.5, i + 2.5f, b + b, i < b};
});
constexpr cq::graph_view mixed_graph =
    cq::graph_of<mixed, cq::array<float, 1>, cq::array<int, 1>, cq::array<bool, 1>, double>();

constexpr auto fits = graphs::plain([](auto i8, auto u8) {
  return std::tuple{i8 + 127, i8 + -128, u8 + 255, u8 * true, i8 + std::uint64_t{5}};
});

}  // namespace

TEST_CASE("a number beside an array is rounded once to the type it is computed in (C037)") {
  for (int k = 0; k < 2; ++k) {
    const cq::node& c = graphs::node(mixed_graph, "constant", k);
    CHECK(c.type == cq::dtype::float32);
    CHECK(c.value.f == double{0.1f});
  }
  const auto r = mixed(cq::array<float, 1>{3, 1e30f}, cq::array<int, 1>{7, 6},
                       cq::array<bool, 1>{true, false}, 0.1);
  const auto a = std::get<0>(r).to_vector();
  CHECK(a == std::vector<float>{3 * 0.1f, 1e30f * 0.1f});
  CHECK(std::get<1>(r).to_vector() == a);
  CHECK(std::get<2>(r).to_vector() == a);
  CHECK(std::get<3>(r).to_vector() == a);
}

TEST_CASE("a floating number is not cut to an integer array's type (C038)") {
  const auto r = mixed(cq::array<float, 1>{1, 1}, cq::array<int, 1>{7, 6},
                       cq::array<bool, 1>{true, false}, 0.1);
  CHECK(std::get<4>(r).to_vector() == std::vector<double>{17.5, 15});
  CHECK(std::get<5>(r).to_vector() == std::vector<double>{14, 12});
  CHECK(std::get<6>(r).to_vector() == std::vector<float>{9.5f, 8.5f});
  CHECK(std::get<7>(r).to_vector() == std::vector<int>{2, 0});
  CHECK(std::get<8>(r).to_vector() == std::vector<bool>{false, false});
}

TEST_CASE("a number takes the array's integer type where it fits, up to the bounds") {
  const auto r = fits(cq::array<std::int8_t, 1>{0}, cq::array<std::uint8_t, 1>{0});
  CHECK(std::get<0>(r)(0) == 127);
  CHECK(std::get<1>(r)(0) == -128);
  CHECK(std::get<2>(r)(0) == 255);
  CHECK(std::get<3>(r)(0) == 0);
  CHECK(std::get<4>(r)(0) == 5);
}

TEST_CASE("a mismatch of extents names the operation, its operands and the line") {
  constexpr int line = __LINE__ + 1;
  constexpr auto add = cq::trace([](auto x, auto y) { return x + y; });
  try {
    (void)add(cq::ones<float>(cq::shape{3}), cq::ones<float>(cq::shape{4}));
    FAIL("no exception");
  } catch (const cq::shape_error& e) {
    const std::string text = e.what();
    CAPTURE(text);
    CHECK(text.find("add") != text.npos);
    CHECK(text.find("f32[3]") != text.npos);
    CHECK(text.find("f32[4]") != text.npos);
    CHECK(text.find("operation.cpp") != text.npos);
    CHECK(text.find(std::to_string(line)) != text.npos);
  }
}
