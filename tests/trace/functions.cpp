// Elementwise functions on symbols: the types they compute in and the nodes they record.
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace cq = calque;
using graphs::count;
using graphs::operations;

namespace {

template <class T, int Rank = 1>
using sym = cq::expr<T, Rank>;
template <class T>
using weak = cq::scalar_expr<T>;
template <class X>
constexpr X a{};

static_assert(std::is_same_v<decltype(cq::exp(a<sym<float>>)), sym<float>>);
static_assert(std::is_same_v<decltype(cq::log(a<sym<int>>)), sym<double>>);
static_assert(std::is_same_v<decltype(cq::sqrt(a<sym<bool, 2>>)), sym<double, 2>>);
static_assert(std::is_same_v<decltype(cq::tanh(a<weak<int>>)), weak<double>>);
static_assert(std::is_same_v<decltype(cq::exp(a<weak<float>>)), weak<float>>);
static_assert(std::is_same_v<decltype(cq::abs(a<sym<std::int8_t>>)), sym<std::int8_t>>);
static_assert(std::is_same_v<decltype(cq::abs(a<sym<bool>>)), sym<int>>);
static_assert(std::is_same_v<decltype(cq::maximum(a<sym<float>>, 0)), sym<float>>);
static_assert(std::is_same_v<decltype(cq::minimum(2.5, a<sym<int>>)), sym<double>>);
static_assert(std::is_same_v<decltype(cq::maximum(a<sym<bool>>, a<sym<bool>>)), sym<bool>>);
static_assert(
    std::is_same_v<decltype(cq::maximum(a<weak<float>>, a<sym<float, 2>>)), sym<float, 2>>);
static_assert(std::is_same_v<decltype(cq::where(a<sym<bool>>, 1, 2.5f)), sym<float>>);
static_assert(std::is_same_v<decltype(cq::where(a<weak<bool>>, a<weak<int>>, 2)), weak<int>>);
static_assert(std::is_same_v<decltype(cq::where(a<sym<bool, 2>>, a<sym<int>>, a<sym<float, 0>>)),
                             sym<float, 2>>);
static_assert(std::is_same_v<decltype(cq::where(true, a<sym<float>>, 0)), sym<float>>);
static_assert(std::is_same_v<decltype(cq::astype<std::int8_t>(a<sym<double>>)), sym<std::int8_t>>);
static_assert(std::is_same_v<decltype(cq::astype<float>(a<weak<int>>)), weak<float>>);
static_assert(std::is_same_v<decltype(cq::exp(a<cq::var_expr<float, 1>>)), sym<float>>);

constexpr auto casts = graphs::plain([](auto x, auto i) {
  return std::tuple{cq::astype<float>(x), cq::exp(i), cq::where(x > 0, x, i), cq::maximum(x, 1)};
});
constexpr cq::graph_view casting = cq::graph_of<casts, cq::array<float, 1>, cq::array<int, 1>>();

constexpr auto bounded = cq::trace([](auto x) {
  using std::exp, std::max;
  return std::tuple{cq::where(x > 0, cq::sqrt(x), 0), maximum(x, 0), exp(x), cq::astype<int>(x)};
});

}  // namespace

TEST_CASE("a cast is a node only where the type changes") {
  CHECK(operations(casting) == "input input cast exp constant greater cast where constant maximum");
  static_assert(graphs::result(casting, 0).op->kind == cq::op_kind::input);
}

TEST_CASE("unqualified names and using-declarations of std find the function of a symbol (C127)") {
  const auto [root, relu, e, i] = bounded(cq::array<float, 1>{4, -1, 0});
  CHECK(root.to_vector() == std::vector<float>{2, 0, 0});
  CHECK(relu.to_vector() == std::vector<float>{4, 0, 0});
  CHECK(e(2) == 1);
  CHECK(i.to_vector() == std::vector<int>{4, -1, 0});
}

TEST_CASE("maximum and where carry NaN as the operand that holds it does (C010, C014)") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto [root, relu, e, i] = bounded(cq::array<float, 1>{nan, inf, -inf, 3e9f});
  CHECK(root(0) == 0);
  CHECK(std::isnan(relu(0)));
  CHECK(relu(2) == 0);
  CHECK(e(2) == 0);
  CHECK(i.to_vector() == std::vector<int>{0, 2147483647, -2147483647 - 1, 2147483647});  // C040
}
