// Cheap values are computed again where that moves fewer bytes than storing them, and only there.
#include "calque/passes/recompute.hpp"

#include <algorithm>
#include <cmath>

#include "calque/passes/pipeline.hpp"
#include "support/cluster_rules.hpp"
#include "support/random_graph.hpp"
#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;
template <int R>
using floats = cq::array<float, R>;

constexpr auto normalised = [](auto x) {  // 2 x is taken twice from x, and never stored
  const auto y = x * 2 + 1;
  return y / cq::sqrt(cq::sum(y * y));
};
constexpr auto two_operands = [](auto x, auto z) {  // x + z would be read twice instead of stored
  const auto y = x + z;
  return y / cq::sqrt(cq::sum(y * y));
};
constexpr auto costly = [](auto x) {
  const auto y = cq::tanh(x);
  return y / cq::sqrt(cq::sum(y * y));
};
constexpr auto result_too = [](auto x) {
  const auto y = x * 2 + 1;
  return std::tuple{y, y / cq::sqrt(cq::sum(y * y))};
};

constexpr auto scaled_rows = [](auto x) {  // for the columns' sums rows are scaled again
  const auto y = x * x / cq::max(x * x, cq::axis<1>, cq::keepdims);
  return std::tuple{y / cq::sum(y, cq::axis<1>, cq::keepdims), cq::sum(y, cq::axis<0>)};
};
constexpr auto layer_gradients = [](auto x, auto gamma, auto beta, auto dy) {
  const auto loss = [](auto a, auto g, auto b, auto d) {
    return cq::sum(cq::layer_norm(a, g, b) * d);
  };
  return cq::grad(loss, cq::wrt<0, 1, 2>)(x, gamma, beta, dy);
};

/// The largest difference over the largest number: elements that cancel have no digits of their
/// own.
template <class A, class B>
double distance(const A& got, const B& exact) {
  double most = 0, off = 0;
  const auto a = dense_of(got);
  const auto b = dense_of(exact);
  REQUIRE(a.data.size() == b.data.size());
  for (std::size_t i = 0; i < a.data.size(); ++i) {
    most = std::max(most, static_cast<double>(std::fabs(b.data[i])));
    off = std::max(off, static_cast<double>(std::fabs(a.data[i] - b.data[i])));
  }
  return most == 0 ? off : off / most;
}

template <auto F, class... A>
constexpr int stored() {  // outputs of clusters
  constexpr cq::graph_view g = cq::graph_of<F, A...>();
  int n = 0;
  for (int c = 0; c < g.cluster_count; ++c) n += g.clusters[c].outputs;
  return n;
}

}  // namespace

TEST_CASE("A10: a cheap value of one operand is computed again instead of stored") {
  static constexpr auto f = cq::trace(normalised);
  static_assert(stored<f, floats<1>>() == 2);  // the norm and the result
  const auto x = drawn<float>(cq::shape{1000}, draws<float>(1));
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(normalised);
  CALQUE_CHECK_MATCHES(f(x), dense_of(plain(x)), 8);
}

TEST_CASE("A10: what rows give is kept a value a row, and elements are computed from it again") {
  static constexpr auto f = cq::trace(scaled_rows);
  static_assert(stored<f, floats<2>>() == 3);  // the maxima of rows and two results
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(scaled_rows);
  for (const auto& extents :
       {cq::shape{300, 70}, cq::shape{1, 5}, cq::shape{5, 1}, cq::shape{0, 4}}) {
    const auto x = drawn<float>(extents, draws<float>(1));
    const auto [rows, columns] = f(x);
    const auto [expected_rows, expected_columns] = plain(x);
    CALQUE_CHECK_MATCHES(rows, dense_of(expected_rows), 8);
    CALQUE_CHECK_MATCHES(columns, dense_of(expected_columns), 64);
  }
}

TEST_CASE("A10: layer norm's gradients store nothing of x's size but dx, for any broadcast") {
  static constexpr auto f = cq::trace(layer_gradients);
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(layer_gradients);
  const auto check = [&](cq::shape<2> xs, cq::shape<2> ds, std::int64_t columns) {
    const auto x = drawn<float>(xs, draws<float>(1)), d = drawn<float>(ds, draws<float>(2));
    const auto gamma = drawn<float>(cq::shape{columns}, draws<float>(3));
    const auto beta = drawn<float>(cq::shape{columns}, draws<float>(4));
    const auto [dx, dgamma, dbeta] = f(x, gamma, beta, d);
    const auto wide = [](const auto& v) { return cq::astype<double>(v); };
    const auto [x0, gamma0, beta0] = plain(wide(x), wide(gamma), wide(beta), wide(d));
    CHECK(distance(dx, x0) < 1e-6);
    CHECK(distance(dgamma, gamma0) < 1e-6);
    CHECK(distance(dbeta, beta0) < 1e-6);
  };
  check(cq::shape{64, 48}, cq::shape{64, 48}, 48);
  check(cq::shape{64, 48}, cq::shape{1, 48}, 48);
  check(cq::shape{64, 48}, cq::shape{64, 1}, 48);
  check(cq::shape{64, 48}, cq::shape{64, 48}, 1);
  check(cq::shape{1, 48}, cq::shape{64, 48}, 48);
  check(cq::shape{3000, 7}, cq::shape{3000, 7}, 7);
  const auto x = drawn<float>(cq::shape{64, 4000}, draws<float>(1));
  const auto one = drawn<float>(cq::shape{4000}, draws<float>(3));
  CHECK(f.plan(x, one, one, x).peak_bytes().count() < 4 * (64 * 4000 + 2 * 4000) + 64 * 4000);
}

TEST_CASE("A10: values that cost more, need more bytes or are results are stored") {
  static constexpr auto a = cq::trace(two_operands);
  static_assert(stored<a, floats<1>, floats<1>>() == 3);
  static constexpr auto b = cq::trace(costly);
  static_assert(stored<b, floats<1>>() == 3);
  static constexpr auto c = cq::trace(result_too);
  static_assert(stored<c, floats<1>>() == 3);
}

TEST_CASE("A16: recomputing is a pass with a report, whose graphs keep every rule") {
  static constexpr auto f = cq::trace(normalised);
  static constexpr cq::traced_graph g = cq::graph_of<f, floats<1>>();
  CHECK(std::string(g.passes().back().name) == "recompute");
  int found = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const random_graph r = make_random_graph(seed);
    const cq::graph live = cq::optimised(r.g.view(), 1), fused = cq::fuse(live.view());
    if (!cq::recomputes(fused.view())) continue;
    ++found;
    INFO("seed ", seed);
    const cq::graph again = cq::recompute(fused.view());
    REQUIRE(cq::verify(again.view()) == nullptr);
    interpreter before(live.view(), r.arguments), after(again.view(), r.arguments);
    const auto x = before.run(), y = after.run();
    for (std::size_t k = 0; k < x.size(); ++k) REQUIRE(same_values(x[k], y[k]));
  }
  CHECK(found > 20);
}
