// Cheap values are computed again where that moves fewer bytes than storing them, and only there.
#include "calque/passes/recompute.hpp"

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
