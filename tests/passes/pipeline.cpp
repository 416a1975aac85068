// The passes together: levels, counts before and after, equal values, and the compilers' own
// limits.
#include "calque/passes/pipeline.hpp"

#include <map>
#include <string>

#include "support/arguments.hpp"
#include "support/random_graph.hpp"
#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

constexpr auto body = [](auto x, auto w, auto b) {
  const auto h = cq::tanh(cq::matmul(x, w) + b * 1 + 0 * 2);
  const auto again = cq::tanh(cq::matmul(x, w) + b * 1 + 0 * 2);
  const auto unused = cq::exp(h) * 3;
  (void)unused;
  return std::tuple{cq::mean((h + again) * (h - 2 * again)), cq::sum(h, cq::axis<0>) / 2};
};
constexpr auto level0 = cq::trace<cq::options{.pass_level = 0}>(body);
constexpr auto level1 = cq::trace<cq::options{.pass_level = 1}>(body);
constexpr auto level2 = cq::trace(body);

template <int R>
using floats = cq::array<float, R>;
template <class F, int Level, class... A>
using stages = cq::pipeline<cq::detail::trace_source<F, A...>, Level>;

struct counted {
  cq::pass_report of[6];
  int passes;
};
template <class Stages>
constexpr counted counts() {
  counted c{};
  c.passes = Stages::reports(c.of);
  return c;
}

// Layers and their derivatives: more than 500 nodes once expanded.
constexpr auto deep = [](auto x, auto t) {
  auto h = x;
  for (int i = 0; i < 24; ++i) {
    h = cq::tanh(h * t + 0.5f) / (1 + cq::exp(-h)) + cq::maximum(h, 0);
    h = h - cq::mean(h, cq::axis<1>, cq::keepdims);
  }
  return cq::sum(h * h);
};
constexpr auto deep_slopes = [](auto x, auto t) { return cq::grad(deep, cq::wrt<0, 1>)(x, t); };

}  // namespace

TEST_CASE("level 0 keeps one node for each traced operation; higher levels drop nodes (A16)") {
  constexpr auto simple = cq::trace<cq::options{.pass_level = 0}>([](auto x) { return x * x + x; });
  constexpr cq::graph_view g = cq::graph_of<simple, floats<1>>();
  static_assert(g.node_count == 4 && g.kernels() == 2);  // entry, x, *, +
  static_assert(count_op<cq::op::mul>(g) == 1 && count_op<cq::op::add>(g) == 1);

  constexpr cq::graph_view a = cq::graph_of<level0, floats<2>, floats<2>, floats<1>>();
  constexpr cq::graph_view b = cq::graph_of<level1, floats<2>, floats<2>, floats<1>>();
  constexpr cq::graph_view c = cq::graph_of<level2, floats<2>, floats<2>, floats<1>>();
  static_assert(count_op<cq::op::tanh>(a) == 2 && count_op<cq::op::matmul>(a) == 2);
  static_assert(count_op<cq::op::exp>(a) == 1);
  static_assert(count_op<cq::op::tanh>(b) == 1 && count_op<cq::op::matmul>(b) == 1);
  static_assert(count_op<cq::op::exp>(b) == 0);
  static_assert(a.node_count > b.node_count && b.node_count == c.node_count);
  static_assert(a.cluster_count == 0 && b.cluster_count == 0 && c.cluster_count > 0);
  static_assert(a.kernels() > b.kernels() && b.kernels() > c.kernels());
}

TEST_CASE("all levels give the same values") {
  const auto x = drawn<float>(cq::shape{5, 7}, draws<float>(1)),
             w = drawn<float>(cq::shape{7, 3}, draws<float>(2));
  const auto b = drawn<float>(cq::shape{3}, draws<float>(3));
  for (int call = 0; call < 2; ++call) {
    const auto [m0, s0] = level0(x, w, b);
    const auto [m1, s1] = level1(x, w, b);
    const auto [m2, s2] = level2(x, w, b);
    CHECK(m1.item() == doctest::Approx(m0.item()).epsilon(1e-5));
    CHECK(m2.item() == doctest::Approx(m0.item()).epsilon(1e-5));
    CALQUE_CHECK_MATCHES(s1, dense_of(s0), 32);
    CALQUE_CHECK_MATCHES(s2, dense_of(s0), 32);
  }
}

TEST_CASE("each pass reports nodes before and after, and hands on what it made (A16)") {
  using F = std::remove_cv_t<decltype(body)>;
  constexpr counted plain = counts<stages<F, 2, floats<2>, floats<2>, floats<1>>>();
  static_assert(plain.passes == 4);
  CHECK(std::string(plain.of[0].name) == "fold");
  CHECK(std::string(plain.of[1].name) == "cse");
  CHECK(std::string(plain.of[2].name) == "dce");
  CHECK(std::string(plain.of[3].name) == "fuse");
  for (int i = 1; i < 4; ++i) CHECK(plain.of[i].before == plain.of[i - 1].after);
  CHECK(plain.of[1].after < plain.of[1].before);
  CHECK(plain.of[2].after < plain.of[2].before);
  CHECK(plain.of[3].after == plain.of[3].before);
  static_assert(counts<stages<F, 0, floats<2>, floats<2>, floats<1>>>().passes == 0);
  static_assert(counts<stages<F, 1, floats<2>, floats<2>, floats<1>>>().passes == 3);

  constexpr auto square = [](auto v) { return cq::grad([](auto u) { return cq::sum(u * u); })(v); };
  using G = std::remove_cv_t<decltype(square)>;
  constexpr counted expanded = counts<stages<G, 2, floats<1>>>();
  static_assert(expanded.passes == 5);
  CHECK(std::string(expanded.of[0].name) == "gradient");
  CHECK(expanded.of[0].after > expanded.of[0].before);
}

TEST_CASE("500 nodes after gradient stay inside the compilers' default limits (design, fact 2)") {
  using S = stages<std::remove_cv_t<decltype(deep_slopes)>, 2, floats<2>, floats<2>>;
  static_assert(S::expanded::view().node_count >= 500);
  static_assert(cq::verify(S::final::view()) == nullptr);
  static_assert(S::final::view().cluster_count > 0);
  CHECK(S::live::view().node_count < S::expanded::view().node_count);
}

TEST_CASE("the pipeline that runs at run time makes the graphs that the compiler makes") {
  using S = stages<std::remove_cv_t<decltype(deep_slopes)>, 2, floats<2>, floats<2>>;
  for (int level : {0, 1, 2}) {
    const cq::graph g = cq::optimised(S::traced::view(), level);
    const cq::graph_view want = level == 0   ? S::expanded::view()
                                : level == 1 ? S::live::view()
                                             : S::final::view();
    REQUIRE(g.nodes.size() == want.node_count);
    REQUIRE(g.clusters.size() == want.cluster_count);
    std::map<std::string, int> kinds;  // their order may differ, as that of a call's operands does
    for (int i = 0; i < want.node_count; ++i)
      ++kinds[g.nodes[i].op->name], --kinds[want.nodes[i].op->name];
    for (const auto& kind : kinds) CHECK(kind.second == 0);
  }
}

TEST_CASE("running the passes on their own result changes nothing more") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const random_graph r = make_random_graph(seed);
    const cq::graph once = cq::optimised(r.g.view(), 2);
    const cq::graph twice = cq::optimised(once.view(), 2);
    INFO("seed ", seed);
    CHECK(twice.nodes.size() == once.nodes.size());
    CHECK(twice.clusters.size() == once.clusters.size());
  }
}
