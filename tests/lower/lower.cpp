// Which program a traced function's cluster becomes.
#include "calque/lower/lower.hpp"

#include <doctest/doctest.h>

#include <type_traits>

#include "calque/calque.hpp"

namespace cq = calque;

namespace {

using cq::ins;
using cq::load;
using cq::program;
using cq::splat;
using cq::store;
using cq::detail::body_code;
using cq::detail::lowered;
using cq::detail::single_code;
using cq::detail::tail_code;
namespace op = cq::op;

using vector = cq::array<float, 1>;

template <class F, class... A>
using graph = typename cq::detail::signature<F, 2, cq::detail::key_of<A>...>::final;

struct axpy {
  constexpr auto operator()(auto x, auto y, auto a) const { return a * x + y; }
};
struct norm {
  constexpr auto operator()(auto x) const { return cq::sqrt(cq::sum(x * x)); }
};
struct chosen {
  constexpr auto operator()(auto x, auto y) const {
    auto larger = x > y;
    return std::tuple{cq::astype<double>(cq::where(larger, x, y)), larger};
  }
};
struct scaled {
  constexpr auto operator()(auto x, auto a) const { return cq::sum(x * a, cq::axis<1>) * a + a; }
};

// operands in the order of their first use; the scalar has one value for the whole loop
using G0 = graph<axpy, vector, vector, float>;
static_assert(G0::view().cluster_count == 1);
static_assert(std::is_same_v<lowered<body_code<G0, 0>>,
                             program<splat<0, float>, load<1, float>, load<2, float>,
                                     ins<op::mul, float, float, 0, 1>,
                                     ins<op::add, float, float, 3, 2>, store<3, float, 4>>>);

// a reduction stores what it reduces, once; the tail's operand 0 is the reduced value
using G1 = graph<norm, vector>;
static_assert(
    std::is_same_v<lowered<body_code<G1, 0>>,
                   program<load<0, float>, ins<op::mul, float, float, 0, 0>, store<1, float, 1>>>);
static_assert(body_code<G1, 0>::value.result == cq::dtype::float32);
static_assert(
    std::is_same_v<lowered<tail_code<G1, 0>>,
                   program<load<0, float>, ins<op::sqrt, float, float, 0>, store<1, float, 1>>>);

// outputs by node; a comparison gives bool from T, a choice takes its type from its second operand
using G2 = graph<chosen, vector, vector>;
static_assert(G2::view().cluster_count == 1);
static_assert(
    std::is_same_v<lowered<body_code<G2, 0>>,
                   program<load<0, float>, load<1, float>, ins<op::greater, bool, float, 0, 1>,
                           ins<op::where, float, float, 2, 0, 1>, ins<op::cast, double, float, 3>,
                           store<2, bool, 2>, store<3, double, 4>>>);

// body and tail number their operands apart; the same scalar is an operand of both
using G3 = graph<scaled, cq::array<float, 2>, float>;
static_assert(G3::view().cluster_count == 1);
static_assert(std::is_same_v<lowered<body_code<G3, 0>>,
                             program<load<0, float>, splat<1, float>,
                                     ins<op::mul, float, float, 0, 1>, store<2, float, 2>>>);
static_assert(
    std::is_same_v<lowered<tail_code<G3, 0>>,
                   program<load<0, float>, splat<1, float>, ins<op::mul, float, float, 0, 1>,
                           ins<op::add, float, float, 2, 1>, store<2, float, 3>>>);

// a node alone: every use is an operand, loaded element by element whatever its rank
constexpr int node_named(const cq::graph_view& g, std::string_view name) {
  for (int id = 0; id < g.node_count; ++id)
    if (g.nodes[id].op->name == name) return id;
  return -1;
}
static_assert(std::is_same_v<lowered<single_code<G1, node_named(G1::view(), "mul")>>,
                             program<load<0, float>, load<1, float>,
                                     ins<op::mul, float, float, 0, 1>, store<2, float, 2>>>);
static_assert(std::is_same_v<lowered<single_code<G2, node_named(G2::view(), "where")>>,
                             program<load<0, bool>, load<1, float>, load<2, float>,
                                     ins<op::where, float, float, 0, 1, 2>, store<3, float, 3>>>);

}  // namespace

TEST_CASE("lowered programs compute what their functions say") {
  const vector x{3, 4}, y{5, 1};
  CHECK(cq::trace(axpy{})(x, y, 2.f).to_vector() == std::vector<float>{11, 9});
  CHECK(static_cast<float>(cq::trace(norm{})(x)) == 5);
  const auto [value, larger] = cq::trace(chosen{})(x, y);
  CHECK(value.to_vector() == std::vector<double>{5, 4});
  CHECK(larger(0) == false);
  CHECK(larger(1) == true);
  const cq::array<float, 2> m{{1, 2}, {3, 4}};
  CHECK(cq::trace(scaled{})(m, 2.f).to_vector() == std::vector<float>{14, 30});
}
