// Reductions on symbols: types, ranks and extents for axes, keepdims, and empty axes.
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace cq = calque;

namespace {

template <class T, int Rank>
constexpr cq::expr<T, Rank> a{};
template <class R, class X>
constexpr bool is(const X&) {
  return std::is_same_v<R, X>;
}

static_assert(is<cq::expr<float, 0>>(decltype(cq::sum(a<float, 3>)){}));
static_assert(is<cq::expr<float, 2>>(decltype(cq::sum(a<float, 3>, cq::axis<1>)){}));
static_assert(is<cq::expr<float, 1>>(decltype(cq::sum(a<float, 3>, cq::axis<0, -1>)){}));
static_assert(is<cq::expr<float, 3>>(decltype(cq::sum(a<float, 3>, cq::axis<0>, cq::keepdims)){}));
static_assert(is<cq::expr<float, 3>>(decltype(cq::sum(a<float, 3>, cq::keepdims)){}));
// narrow sums are 64-bit (C001, C002); max and min keep the type
static_assert(is<cq::expr<std::int64_t, 0>>(decltype(cq::sum(a<bool, 1>)){}));
static_assert(is<cq::expr<std::int64_t, 0>>(decltype(cq::sum(a<std::int8_t, 1>)){}));
static_assert(is<cq::expr<std::uint64_t, 0>>(decltype(cq::sum(a<std::uint16_t, 1>)){}));
static_assert(is<cq::expr<bool, 0>>(decltype(cq::max(a<bool, 1>)){}));
static_assert(is<cq::expr<std::int8_t, 1>>(decltype(cq::min(a<std::int8_t, 2>, cq::axis<-2>)){}));
static_assert(is<cq::expr<double, 0>>(decltype(cq::mean(a<int, 2>)){}));
static_assert(is<cq::expr<float, 2>>(decltype(cq::mean(a<float, 2>, cq::axis<1>, cq::keepdims)){}));
static_assert(is<cq::expr<std::int64_t, 1>>(decltype(cq::argmax(a<float, 2>, cq::axis<1>)){}));
static_assert(is<cq::expr<std::int64_t, 0>>(decltype(cq::argmin(a<bool, 1>)){}));
static_assert(is<cq::expr<std::int64_t, 2>>(decltype(cq::argmax(a<float, 2>, cq::axis<0>,
                                                                cq::keepdims)){}));
static_assert(is<cq::expr<float, 0>>(decltype(cq::sum(a<float, 0>)){}));

template <class T>
constexpr cq::scalar_expr<T> weak{};
constexpr auto sums = graphs::plain([](auto x) {
  return std::tuple{cq::sum(x, cq::axis<0, -1>), cq::sum(x, cq::axis<1>, cq::keepdims),
                    cq::max(x, cq::axis<2, 0>, cq::keepdims), cq::argmax(x, cq::axis<-1>)};
});
constexpr cq::graph_view graph = cq::graph_of<sums, cq::array<float, 3>>();

constexpr auto over_empty = cq::trace([](auto x) {
  return std::tuple{cq::sum(x, cq::axis<0>), cq::mean(x, cq::axis<0>), cq::sum(x, cq::axis<1>)};
});

}  // namespace

TEST_CASE("axes become a mask, negative ones count from the end, keepdims leaves extent 1") {
  static_assert(graphs::result(graph, 0).axis_mask == 0b101);
  static_assert(graphs::same(graph, graphs::result(graph, 0), 0, 0, 1));
  static_assert(graphs::result(graph, 1).axis_mask == 0b010);
  static_assert(graphs::same(graph, graphs::result(graph, 1), 0, 0, 0));
  static_assert(graphs::literal(graph, graphs::result(graph, 1), 1, 1));
  static_assert(graphs::same(graph, graphs::result(graph, 1), 2, 0, 2));
  static_assert(graphs::literal(graph, graphs::result(graph, 2), 0, 1));
  static_assert(graphs::same(graph, graphs::result(graph, 2), 1, 0, 1));
  static_assert(graphs::result(graph, 3).axis_mask == 0b100);
  static_assert(graphs::same(graph, graphs::result(graph, 3), 1, 0, 1));
}

TEST_CASE("an empty axis sums to 0, has no mean, and one that is kept stays empty (C032, C034)") {
  const auto [sum, mean, rows] = over_empty(cq::zeros<float>(cq::shape{0, 2}));
  CHECK(sum.to_vector() == std::vector<float>{0, 0});
  CHECK(std::isnan(mean(0)));
  CHECK(std::isnan(mean(1)));
  CHECK(rows.shape() == cq::shape{0});
}

TEST_CASE("a number reduces to itself, and so does its symbol, as an array of rank 0") {
  static_assert(is<cq::expr<float, 0>>(decltype(cq::sum(weak<float>)){}));
  static_assert(is<cq::expr<std::int64_t, 0>>(decltype(cq::sum(weak<int>, cq::keepdims)){}));
  static_assert(is<cq::expr<double, 0>>(decltype(cq::mean(weak<int>)){}));
  static_assert(is<cq::expr<int, 0>>(decltype(cq::max(weak<int>)){}));
  static_assert(is<float>(cq::mean(2.f)) && is<std::int64_t>(cq::sum(2)));
  static_assert(cq::sum(3.f) == 3 && cq::min(-2) == -2 && cq::mean(5) == 5.0);
  constexpr auto loss = [](auto w) { return cq::mean(cq::sum(w * w) + cq::max(w) + cq::sum(1)); };
  constexpr auto of = cq::value_and_grad(loss);
  const auto number = of(3.f);
  CHECK(number.value.item() == 13);
  CHECK(number.grad.item() == 7);
  const auto array = of(cq::array<float, 1>{3});
  CHECK(array.value.item() == 13);
  CHECK(array.grad(0) == 7);
}
