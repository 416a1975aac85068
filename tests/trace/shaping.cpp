// Functions that rearrange extents: symbolic arithmetic in shapes, and what a plan checks of it.
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

namespace cq = calque;
using graphs::literal;
using graphs::result;
using graphs::same;

namespace {

template <class X>
constexpr X a{};
using m2 = cq::expr<float, 2>;
static_assert(std::is_same_v<decltype(cq::reshape(a<m2>, cq::shape{a<m2>.extent(0), 2, 3})),
                             cq::expr<float, 3>>);
static_assert(std::is_same_v<decltype(cq::broadcast_to(a<cq::expr<int, 0>>, cq::shape{2})),
                             cq::expr<int, 1>>);
static_assert(std::is_same_v<decltype(cq::sum_to(a<m2>, cq::shape{3})), cq::expr<float, 1>>);
static_assert(std::is_same_v<decltype(cq::matmul(a<m2>, a<cq::expr<int, 2>>)), m2>);
static_assert(std::is_same_v<decltype(cq::matmul(a<cq::expr<bool, 2>>, a<cq::expr<bool, 2>>)),
                             cq::expr<int, 2>>);
static_assert(
    std::is_same_v<decltype(cq::one_hot<double>(a<cq::expr<int, 2>>, 4)), cq::expr<double, 3>>);
static_assert(std::is_same_v<decltype(cq::full(cq::shape{2}, 1.5f, a<m2>)), cq::expr<float, 1>>);
static_assert(std::is_same_v<decltype(cq::full(cq::shape{2}, a<cq::scalar_expr<int>>, a<m2>)),
                             cq::expr<int, 1>>);
static_assert(
    std::is_same_v<decltype(cq::zeros_like(a<cq::var_expr<bool, 2>>)), cq::expr<bool, 2>>);
static_assert(std::is_same_v<decltype(cq::arange<int>(a<m2>.extent(0), a<m2>)), cq::expr<int, 1>>);

constexpr auto shapes = graphs::plain([](auto x, auto s, auto n) {
  const auto rows = x.extent(0), columns = x.extent(1);
  return std::tuple{cq::reshape(x, cq::shape{rows * columns}),
                    cq::reshape(x, cq::shape{rows * 2, columns / 2}),
                    cq::zeros<float>(cq::shape{rows + 1, columns - 1, n.value}, x),
                    cq::broadcast_to(x, s),
                    cq::transpose(x),
                    cq::reshape(x, x.shape()),
                    cq::arange<int>(rows, x)};
});
constexpr cq::graph_view graph =
    cq::graph_of<shapes, cq::array<float, 2>, cq::shape<3>, cq::static_t<7>>();

constexpr auto picture = cq::trace([](auto x, auto n) {
  return std::tuple{cq::reshape(x, cq::shape{x.extent(0), n.value, -1 + n.value * x.extent(1) / 2}),
                    cq::full(cq::shape{2}, 3, x) + cq::arange<int>(2, x),
                    cq::ones<double>(x.shape(), x), cq::zeros_like(x)};
});

}  // namespace

TEST_CASE("extents of a result are arithmetic on those of arguments") {
  static_assert(graph.dims[result(graph, 0).dims[0]].kind == cq::dim_kind::mul);
  static_assert(graph.dims[result(graph, 1).dims[0]].kind == cq::dim_kind::mul);
  static_assert(graph.dims[result(graph, 1).dims[1]].kind == cq::dim_kind::div);
  static_assert(graph.dims[result(graph, 2).dims[0]].kind == cq::dim_kind::add);
  static_assert(graph.dims[result(graph, 2).dims[1]].kind == cq::dim_kind::sub);
  static_assert(literal(graph, result(graph, 2), 2, 7));
  static_assert(same(graph, result(graph, 3), 0, 1, 0) && same(graph, result(graph, 3), 2, 1, 2));
  static_assert(same(graph, result(graph, 4), 0, 0, 1) && same(graph, result(graph, 4), 1, 0, 0));
  static_assert(same(graph, result(graph, 6), 0, 0, 0));
}

TEST_CASE("a reshape to the extents that are there is no node") {
  static_assert(graphs::count(graph, "reshape") == 2);
  static_assert(result(graph, 5).op->kind == cq::op_kind::input);
}

TEST_CASE("a shape is an argument of its own: it gives extents and is part of the plan's key") {
  const auto x = cq::reshape(cq::arange<float>(8), cq::shape{2, 4});
  const auto r = shapes(x, cq::shape{4, 2, 4}, cq::static_<7>);
  CHECK(std::get<1>(r).shape() == cq::shape{4, 2});
  CHECK(std::get<1>(r)(3, 0) == 6);
  CHECK(std::get<2>(r).shape() == cq::shape{3, 3, 7});
  CHECK(std::get<3>(r).shape() == cq::shape{4, 2, 4});
  CHECK(std::get<3>(r)(3, 1, 2) == 6);
  CHECK(std::get<4>(r)(2, 0) == 2);
  CHECK(std::get<6>(r).to_vector() == std::vector<int>{0, 1});
  const auto misses = shapes.stats().misses;
  (void)shapes(x, cq::shape{5, 2, 4}, cq::static_<7>);
  CHECK(shapes.stats().misses == misses + 1);
  CHECK_THROWS_AS((void)shapes(x, cq::shape{5, 3, 4}, cq::static_<7>), cq::shape_error);
}

TEST_CASE("extents are computed for each call's sizes, and refused where they do not fit") {
  const auto r = picture(cq::ones<float>(cq::shape{5, 2}), cq::static_<2>);
  CHECK(std::get<0>(r).shape() == cq::shape{5, 2, 1});
  CHECK(std::get<1>(r).to_vector() == std::vector<int>{3, 4});
  CHECK(std::get<2>(r).shape() == cq::shape{5, 2});
  CHECK(std::get<3>(r)(4, 1) == 0);
  try {
    (void)picture(cq::ones<float>(cq::shape{5, 4}), cq::static_<2>);
    FAIL("no exception");
  } catch (const cq::shape_error& e) {
    const std::string text = e.what();
    CHECK(text.find("reshape: a is f32[5,4]") == 0);
    CHECK(text.find("[5,2,3]") != text.npos);
    CHECK(text.find("shaping.cpp") != text.npos);
  }
  // the last extent is -1
  CHECK_THROWS_AS((void)picture(cq::ones<float>(cq::shape{0, 0}), cq::static_<2>), cq::shape_error);
}

TEST_CASE("negative axes of transpose count from the end, on symbols as on arrays") {
  constexpr auto turn = cq::trace([](auto x) { return cq::transpose<-1, 0, -2>(x); });
  const auto x = cq::reshape(cq::arange<float>(24), cq::shape{2, 3, 4});
  CHECK(turn(x).shape() == cq::shape{4, 2, 3});
  CHECK(turn(x)(3, 1, 2) == x(1, 2, 3));
  CHECK(turn(x).to_vector() == cq::transpose<-1, 0, -2>(x).to_vector());
}
