// Which kernels come out of fusion: counts, assumptions and their fallback, limits; random graphs
// keep every rule of clusters.
#include "calque/passes/fuse.hpp"

#include "calque/passes/pipeline.hpp"
#include "support/cluster_rules.hpp"
#include "support/launches.hpp"
#include "support/random_graph.hpp"
#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

template <int R>
using floats = cq::array<float, R>;

constexpr auto axpy = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
constexpr auto norm = cq::trace([](auto x, auto y, auto a) {
  const auto z = a * x + y;
  return cq::sqrt(cq::sum(z * z));
});
constexpr auto chain = cq::trace([](auto x, auto y) {
  auto z = x;
  for (int i = 0; i < 5; ++i) z = z * y + 0.25f;
  return z;
});
constexpr auto softmax = cq::trace([](auto x) { return cq::softmax(x, cq::axis<1>); });

static_assert(cq::graph_of<axpy, floats<1>, floats<1>, float>().kernels() == 1);
static_assert(cq::graph_of<norm, floats<1>, floats<1>, float>().kernels() == 1);
static_assert(cq::graph_of<chain, floats<1>, floats<1>>().kernels() == 1);
static_assert(cq::graph_of<softmax, floats<2>>().kernels() <= 4);

// --- one function for each kind of cluster, on x and y that broadcast together ----------------

constexpr auto map_one = [](auto x, auto y) { return x * y + x; };
constexpr auto map_two = [](auto x, auto y) {
  const auto t = x * 2 + 1;
  return std::tuple{t, t * y};
};
constexpr auto map_three = [](auto x, auto y) {
  const auto t = cq::abs(x), u = t + y;
  return std::tuple{t, u, u * t};
};
constexpr auto reduce_all = [](auto x, auto y) { return cq::sum(x * y); };
constexpr auto reduce_leading = [](auto x, auto y) { return cq::sum(x * y + x, cq::axis<0>); };
constexpr auto reduce_trailing = [](auto x, auto y) { return cq::max(x * y, cq::axis<1>); };
constexpr auto reduce_middle = [](auto x, auto y) {
  const auto z = cq::broadcast_to(x, cq::shape{3, x.extent(0), x.extent(1)}) * y;
  return cq::sum(z, cq::axis<1>);
};
constexpr auto reduce_tail = [](auto x, auto y) {
  const auto s = cq::sum(x * y, cq::axis<1>, cq::keepdims);
  return std::tuple{cq::sqrt(s * s + 1), s};
};
constexpr auto reduce_mean = [](auto x, auto y) { return cq::mean(x * y, cq::axis<0>) * 2 + 1; };
constexpr auto down = [](auto x, auto y) { return cq::sum_to(x * y + y, x.shape()); };
constexpr auto down_inside = [](auto x, auto y) { return cq::sum_to(x * y, x.shape()) * 0.5f + x; };

/// Eighths between -4 and 4: sums of their products are exact in any order.
auto eighths(std::uint64_t seed) {
  return [random = std::mt19937_64(seed)]() mutable {
    return static_cast<float>(static_cast<int>(random() % 65) - 32) / 8;
  };
}

/// Compares fused with unfused results; `usual` and `fallback` are the launches expected of each.
template <class Body>
void check_kind(Body body, std::uint64_t usual, std::uint64_t fallback, int kernels,
                bool nothing_throws = false) {
  constexpr auto fused = cq::trace(Body{});
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(Body{});
  (void)body;
  constexpr cq::graph_view g = cq::graph_of<fused, floats<2>, floats<2>>();
  CHECK(g.kernels() == kernels);
  CHECK(cluster_rules(g).broken() == "");
  for (std::int64_t n : {0, 1, 3, 70})
    for (std::int64_t m : {0, 1, 5, 66}) {
      const cq::shape<2> pairs[][2] = {
          {cq::shape{n, m}, cq::shape{n, m}}, {cq::shape{n, 1}, cq::shape{n, m}},
          {cq::shape{1, m}, cq::shape{n, m}}, {cq::shape{n, m}, cq::shape{n, 1}},
          {cq::shape{1, 1}, cq::shape{n, m}}, {cq::shape{n, m}, cq::shape{1, m}}};
      for (const auto& pair : pairs) {
        const cq::shape<2> s = pair[0], t = pair[1];
        const auto x = laid_out<float>(s, layouts[static_cast<std::size_t>(n + m) % 5], eighths(1));
        const auto y = laid_out<float>(t, layouts[static_cast<std::size_t>(n) % 5], eighths(2));
        INFO("extents ", cq::to_string(s), " and ", cq::to_string(t));
        const bool nothing = nothing_throws && (s[1] == 0 || t[1] == 0);
        if (nothing && s[0] != 0 && t[0] != 0) {
          CHECK_THROWS_AS((void)fused(x, y), cq::shape_error);
          continue;
        }
        for (int call = 0; call < 2; ++call) {
          const auto a = fused(x, y), b = plain(x, y);
          const auto compare = [&](const auto& p, const auto& q) {
            CALQUE_CHECK_MATCHES(p, dense_of(q), 4);  // a product and a sum may be contracted
          };
          if constexpr (requires { a.shape(); }) {
            compare(a, b);
          } else {
            [&]<std::size_t... I>(std::index_sequence<I...>) {
              (compare(std::get<I>(a), std::get<I>(b)), ...);
            }(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(a)>>>{});
          }
        }
        const auto count = launches(fused, x, y);
        const bool same = s == t || (n == 1 && m == 1);
        if (same && n * m > 0) CHECK(count == usual);
        if (n > 1 && m > 1) CHECK(count <= (same ? usual : fallback));
      }
    }
}

}  // namespace

TEST_CASE("the design's examples are one kernel each and launch it once") {
  const auto x = cq::ones<float>(cq::shape{1000}), y = cq::ones<float>(cq::shape{1000});
  CHECK(launches(axpy, x, y, 2.f) == 1);
  CHECK(launches(norm, x, y, 2.f) == 1);
  CHECK(norm(x, y, 2.f).item() == doctest::Approx(std::sqrt(9000.0)));
}

TEST_CASE("a chain of ten operations is one launch (A10)") {
  const auto x = cq::ones<float>(cq::shape{1025}), y = cq::full(cq::shape{1025}, 0.5f);
  CHECK(launches(chain, x, y) == 1);
  CHECK(chain(x, y)(1024) == 0.515625f);
}

TEST_CASE(
    "map clusters of one and several outputs are right for all broadcasts, 0 and 1 included") {
  check_kind(map_one, 1, 1, 1);
  check_kind(map_two, 1, 3, 1);
  check_kind(map_three, 1, 3, 1);
}
TEST_CASE("reductions with bodies are right for all broadcasts, over all kinds of axes") {
  check_kind(reduce_all, 1, 1, 1);
  check_kind(reduce_leading, 1, 1, 1);
  check_kind(reduce_trailing, 1, 1, 1, true);
  check_kind(reduce_middle, 1, 2, 1);
}
TEST_CASE("reductions with tails and several outputs are right for all broadcasts") {
  check_kind(reduce_tail, 1, 1, 1);
  check_kind(reduce_mean, 1, 1, 1);
}
TEST_CASE("sum_to as a root and inside a cluster is right whether it sums or not") {
  check_kind(down, 1, 1, 1);
  check_kind(down_inside, 1, 4, 1);
}

TEST_CASE("a node before a reduction stays out of its tail") {
  // w / 2 comes before the sum in the graph, but only the sum's users read it
  constexpr auto f = cq::trace([](auto x, auto w) {
    const auto half = w / 2;
    return half * cq::sum(x, cq::axis<1>) - half;
  });
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>([](auto x, auto w) {
    const auto half = w / 2;
    return half * cq::sum(x, cq::axis<1>) - half;
  });
  const auto x = drawn<float>(cq::shape{7, 33}, draws<float>(1)),
             w = drawn<float>(cq::shape{7, 1}, draws<float>(2));
  const auto v = cq::reshape(w, cq::shape{7});
  CHECK(same_bits(f(x, v), plain(x, v)));
}

TEST_CASE("two sums with one user each keep their own passes; softmax-like graphs have no cycle") {
  constexpr auto f = cq::trace([](auto x, auto y) {
    const auto a = cq::sum(x * y, cq::axis<1>), b = cq::sum(x + y, cq::axis<1>);
    const auto e = cq::exp(x - cq::max(x, cq::axis<1>, cq::keepdims));
    return std::tuple{a / b + a * b, e / cq::sum(e, cq::axis<1>, cq::keepdims) * cq::mean(e)};
  });
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>([](auto x, auto y) {
    const auto a = cq::sum(x * y, cq::axis<1>), b = cq::sum(x + y, cq::axis<1>);
    const auto e = cq::exp(x - cq::max(x, cq::axis<1>, cq::keepdims));
    return std::tuple{a / b + a * b, e / cq::sum(e, cq::axis<1>, cq::keepdims) * cq::mean(e)};
  });
  constexpr cq::graph_view g = cq::graph_of<f, floats<2>, floats<2>>();
  CHECK(cluster_rules(g).broken() == "");
  const auto x = drawn<float>(cq::shape{5, 40}, draws<float>(1)),
             y = drawn<float>(cq::shape{5, 40}, draws<float>(2));
  const auto [p, q] = f(x, y);
  const auto [r, s] = plain(x, y);
  CALQUE_CHECK_MATCHES(p, dense_of(r), 64);
  CALQUE_CHECK_MATCHES(q, dense_of(s), 64);
}

TEST_CASE("a loss over rows and its gradient are one kernel: what sums over rows comes after it") {
  static constexpr auto step = cq::trace([](auto z, auto b, auto labels) {
    constexpr auto loss = [](auto y, auto c, auto l) { return cq::cross_entropy(y + c, l); };
    return cq::value_and_grad(loss, cq::wrt<0, 1>)(z, b, labels);
  });
  static constexpr cq::graph_view g =
      cq::graph_of<step, floats<2>, floats<1>, cq::array<std::int32_t, 1>>();
  CHECK(cluster_rules(g).broken() == "");
  int along_rows = 0, others = 0;
  for (int c = 0; c < g.cluster_count; ++c) {
    const bool full = g.nodes[g.clusters[c].domain].rank == 2;
    along_rows += full && g.clusters[c].kind == cq::cluster_kind::rows;
    others += full && g.clusters[c].kind != cq::cluster_kind::rows;
  }
  CHECK(along_rows == 1);
  CHECK(others == 1);  // the gradient with respect to b
}

TEST_CASE("nothing fuses across effects and regions; effects keep their order (B5)") {
  constexpr auto f = cq::trace([](auto v, auto x) {
    const auto before = v * 2;
    v.assign(x + 1);
    const auto between = v * 2;
    const auto r = cq::cond(
        cq::sum(x) > 0,
        [&] {
          v += before;
          return between * x;
        },
        [&] { return before - x; });
    v *= 2;
    return std::tuple{before + between, r * 3, v + 0};
  });
  constexpr cq::graph_view g = cq::graph_of<f, cq::variable<float, 1>, floats<1>>();
  CHECK(cluster_rules(g).broken() == "");
  for (int call = 0; call < 2; ++call) {
    const cq::variable<float, 1> v{cq::array<float, 1>{1, 2}, "v"};
    const auto [sum, r, now] = f(v, cq::array<float, 1>{3, 4});
    CHECK(sum.to_vector() == std::vector<float>{2 + 8, 4 + 10});
    CHECK(r.to_vector() == std::vector<float>{72, 120});
    CHECK(now.to_vector() == std::vector<float>{12, 18});
    CHECK(v.value().to_vector() == std::vector<float>{12, 18});
  }
}

TEST_CASE("more nodes or operands than a kernel takes are split over several") {
  cq::builder b;
  const int x = array_of(b, cq::dtype::float32, 1);
  int z = x;
  for (int i = 0; i < 300; ++i) z = b.map_of<cq::op::mul>(cq::dtype::float32, z, x);
  const cq::graph long_chain = cq::fuse(finish(b, z).view());
  CHECK(long_chain.clusters.size() == 2);
  CHECK(cluster_rules(long_chain.view()).broken() == "");

  cq::builder wide;
  std::vector<std::int32_t> results;
  int total = array_of(wide, cq::dtype::float32, 1);
  for (int i = 0; i < 70; ++i) {
    total =
        wide.map_of<cq::op::add>(cq::dtype::float32, total, array_of(wide, cq::dtype::float32, 1));
    results.push_back(total);
  }
  cq::builder one = wide;
  const std::int32_t last[] = {total};
  CHECK(cluster_rules(cq::fuse(one.finish(last, 1).view()).view()).broken() == "");
  const cq::graph many = cq::fuse(wide.finish(results.data(), 70).view());
  CHECK(cluster_rules(many.view()).broken() == "");
  CHECK(many.clusters.size() >= 2);
}

TEST_CASE(
    "functions of 70 arrays and 70 results, and of 130 operations, are right when replayed "
    "(C085)") {
  constexpr auto f = cq::trace([](auto xs) {
    auto total = xs[0];
    for (std::size_t i = 1; i < xs.size(); ++i) xs[i] = total = total + xs[i] * 0.5f;
    return xs;
  });
  std::array<floats<1>, 70> xs;
  for (std::size_t i = 0; i < 70; ++i) xs[i] = cq::full(cq::shape{9}, static_cast<float>(i));
  for (int call = 0; call < 3; ++call) {
    const auto r = f(xs);
    bool right = true;
    float total = 0;
    for (std::size_t i = 0; i < 70; ++i)
      right = right && r[i](8) == (total += 0.5f * static_cast<float>(i));
    CHECK(right);
  }
  constexpr auto sums = cq::trace([](auto x) {
    auto s = x * 0;
    for (int i = 0; i < 65; ++i) s = s + (x * static_cast<float>(i) + static_cast<float>(i % 7));
    return s;
  });
  for (int call = 0; call < 3; ++call) CHECK(sums(floats<1>{1, 2})(1) == 2 * 2080 + 190);
}

TEST_CASE("every fused random graph keeps the rules of clusters, and all kinds occur") {
  int kinds[6]{};
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const random_graph r = make_random_graph(seed);
    const cq::graph g = cq::optimised(r.g.view());
    INFO("seed ", seed);
    REQUIRE(cluster_rules(g.view()).broken() == "");
    REQUIRE(cq::verify(g.view()) == nullptr);
    for (const cq::cluster& c : g.clusters) {
      const bool tail = g.pool[c.first + c.nodes - 1] > c.root;
      ++kinds[c.kind == cq::cluster_kind::map ? c.outputs > 1 : tail ? 3 : 2];
      kinds[4] += c.assumptions > 0;
      kinds[5] += c.root >= 0 && g.nodes[c.root].op->kind == cq::op_kind::sum_to;
    }
  }
  for (int i = 0; i < 6; ++i) {
    INFO("kind ", i);
    CHECK(kinds[i] >= 20);
  }
}
