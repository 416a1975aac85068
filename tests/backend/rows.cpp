// Row clusters against the same functions op by op: every kind, all sizes around vectors, tiles and
// blocks, all layouts, in place, every instruction set.
#include "calque/backend/cpu/row_tables.hpp"

#include <tuple>

#include "calque/calque.hpp"
#include "calque/passes/fuse.hpp"
#include "support/cluster_rules.hpp"
#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

template <int R>
using floats = cq::array<float, R>;

constexpr auto softmax = [](auto x, auto y) { return cq::softmax(x + y, cq::axis<1>); };
constexpr auto softmax_down = [](auto x, auto y) { return cq::softmax(x * y, cq::axis<0>); };
constexpr auto log_softmax = [](auto x, auto y) { return cq::log_softmax(x - y, cq::axis<-1>); };
constexpr auto log_sum_exp = [](auto x, auto y) {
  const auto z = x * y;
  const auto m = cq::max(z, cq::axis<1>, cq::keepdims);
  return cq::log(cq::sum(cq::exp(z - m), cq::axis<1>)) + cq::reshape(m, cq::shape{z.extent(0)});
};
constexpr auto centred = [](auto x, auto y) {
  const auto mean = cq::mean(x, cq::axis<1>, cq::keepdims);
  const auto d = x - mean;
  const auto variance = cq::mean(d * d, cq::axis<1>, cq::keepdims);
  return std::tuple{d / cq::sqrt(variance + 1e-3f) * y, variance, mean};
};
constexpr auto several = [](auto x, auto y) {
  const auto z = x * y;
  return std::tuple{cq::sum(z, cq::axis<1>), cq::max(z, cq::axis<1>),
                    cq::min(z + x, cq::axis<1>) * 2, z};
};
constexpr auto several_down = [](auto x, auto y) {
  const auto z = x * y;
  return std::tuple{cq::sum(z, cq::axis<0>) + 1, cq::max(z, cq::axis<0>),
                    x - cq::min(x, cq::axis<0>)};
};
constexpr auto whole = [](auto x, auto y) {
  const auto z = x * y + 1;
  return std::tuple{z, cq::sum(z), cq::max(z) - cq::min(z),
                    cq::sum(z * 0.5f, cq::axis<0, 1>, cq::keepdims)};
};
constexpr auto kept_operand = [](auto x, auto y) {  // y's row values come from outside
  const auto w = cq::exp(cq::sum(y, cq::axis<1>, cq::keepdims) * 0.01f);
  const auto z = x / (cq::sum(x * x, cq::axis<1>, cq::keepdims) + w);
  return std::tuple{z + w, cq::sum(z, cq::axis<1>)};
};
constexpr auto integers = [](auto x, auto y) {
  const auto i = cq::astype<std::int32_t>(x * 8), j = cq::astype<std::int32_t>(y * 8);
  const auto top = cq::max(i * j, cq::axis<1>, cq::keepdims);
  const auto hits = cq::astype<std::uint8_t>(i * j == top);
  return std::tuple{cq::sum(hits, cq::axis<1>), top, hits, i * j < top};
};
constexpr auto derivative = [](auto x, auto y) {
  const auto loss = [](auto a, auto b) {
    const auto s = cq::sum(a * a * b, cq::axis<1>);
    return cq::sum(s * s) * 1e-3f;
  };
  const auto r = cq::value_and_grad(loss, cq::wrt<0>)(x, y);
  return std::tuple{r.value, r.grad};
};
constexpr auto affine_derivatives = [](auto x, auto y) {  // sum_to over the rows, twice
  const auto loss = [](auto a, auto scale, auto shift) {
    const auto z = a * scale + shift;
    return cq::sum(z * z * a) * 1e-3f;
  };
  const auto row = cq::mean(y, cq::axis<0>);
  return cq::grad(loss, cq::wrt<1, 2>)(x, row, row);
};
constexpr auto in_doubles = [](auto x, auto y) {
  return cq::softmax(cq::astype<double>(x) + y, cq::axis<1>);
};

auto eighths(std::uint64_t seed) {
  return [random = std::mt19937_64(seed)]() mutable {
    return static_cast<float>(static_cast<int>(random() % 65) - 32) / 8;
  };
}

/// Equal to within `tolerance` of the larger of 1 and the value; integers exactly.
template <class A, class B>
void check_same(const A& a, const B& b, double tolerance) {
  if constexpr (requires { a.shape(); }) {
    REQUIRE(cq::to_string(a.shape()) == cq::to_string(b.shape()));
    const auto p = a.to_vector(), q = b.to_vector();
    for (std::size_t i = 0; i < p.size(); ++i) {
      const auto u = static_cast<double>(p[i]), v = static_cast<double>(q[i]);
      if (u == v || (u != u && v != v)) continue;
      const double allowed =
          std::is_integral_v<std::remove_cvref_t<decltype(p[0])>> ? 0 : tolerance;
      INFO("element ", i, ": ", u, " instead of ", v);
      REQUIRE(std::abs(u - v) <= allowed * std::max(1.0, std::abs(v)));
    }
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (check_same(std::get<I>(a), std::get<I>(b), tolerance), ...);
    }(std::make_index_sequence<std::tuple_size_v<A>>{});
  }
}

constexpr std::int64_t sizes[][2] = {
    {3, 5},    {1, 1},    {1, 40},   {40, 1},  {9, 15},   {100, 10}, {7, 16},  {8, 17},
    {20, 31},  {17, 32},  {5, 33},   {64, 64}, {3, 100},  {2, 999},  {600, 7}, {4, 2048},
    {2, 2049}, {1, 4100}, {4100, 2}, {70, 70}, {33, 600}, {0, 4},    {4, 0},   {0, 0}};

/// `Body` is one rows cluster and gives what it gives op by op. `needs`: the axis that may not be
/// empty, -2 for both.
template <class Body>
void check_rows(Body, int needs, int kernels = 1) {
  static constexpr auto fused = cq::trace(Body{});
  static constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(Body{});
  fused.clear(), plain.clear();  // plans are made for one instruction set
  static constexpr cq::graph_view g = cq::graph_of<fused, floats<2>, floats<2>>();
  CHECK(g.kernels() == kernels);
  CHECK(cluster_rules(g).broken() == "");
  bool rows = false;
  for (int c = 0; c < g.cluster_count; ++c) rows |= g.clusters[c].kind == cq::cluster_kind::rows;
  CHECK(rows);
  for (const auto& [n, m] : sizes)
    for (const layout how : layouts) {
      const cq::shape s{n, m};
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto x = laid_out<float>(s, how, eighths(1)),
                 y = laid_out<float>(s, layouts[0], eighths(2));
      if (needs == -2 ? n * m == 0 : needs >= 0 && s[needs] == 0 && s[1 - needs] != 0) {
        CHECK_THROWS_AS((void)fused(x, y), cq::shape_error);
        break;
      }
      const auto a = fused(x, y);
      check_same(a, plain(x, y), 2e-5);
      check_same(fused(x, y), a, 0);
      if (n * m == 0) break;
      if (n < 600 && m < 600) {
        const auto before = fused.stats().launches;
        (void)fused(x, y);
        CHECK(fused.stats().launches - before == static_cast<std::uint64_t>(kernels));
      }
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a)>, floats<2>>) {
        floats<2> own = x.clone();  // the result lies where the operand is
        fused.into(own, own, y);
        check_same(own, a, 0);
      }
    }
}

}  // namespace

#define CALQUE_ROWS_CASE(text, ...)                                             \
  TEST_CASE(text) {                                                             \
    for (cq::isa level : {cq::isa::baseline, cq::isa::avx2, cq::isa::avx512}) { \
      INFO("level ", static_cast<int>(level));                                  \
      cq::detail::force_isa(level);                                             \
      __VA_ARGS__;                                                              \
    }                                                                           \
  }

CALQUE_ROWS_CASE("B9: softmax along rows is one kernel and right for all layouts",
                 check_rows(softmax, -1))
CALQUE_ROWS_CASE("B9: softmax down columns is one kernel and right for all layouts",
                 check_rows(softmax_down, -1))
CALQUE_ROWS_CASE("B9: log-softmax is one kernel", check_rows(log_softmax, -1))
CALQUE_ROWS_CASE("B9: log-sum-exp without kept axes is one kernel", check_rows(log_sum_exp, 1))
CALQUE_ROWS_CASE("B9: centring by mean and variance is one kernel, which gives them too",
                 check_rows(centred, -1))
CALQUE_ROWS_CASE("A10: several reductions and an elementwise result share a pass over rows",
                 check_rows(several, 1))
CALQUE_ROWS_CASE("A10: several reductions down columns, and their users, share a pass",
                 check_rows(several_down, 0))
CALQUE_ROWS_CASE("A10: reductions of everything and an elementwise result share a pass",
                 check_rows(whole, -2))
CALQUE_ROWS_CASE("A10: row values computed outside are read once a row",
                 check_rows(kept_operand, -1, 2))
CALQUE_ROWS_CASE("A10: integers and booleans in rows", check_rows(integers, 1))
CALQUE_ROWS_CASE("B8: a loss and its derivative share a pass", check_rows(derivative, -1, 2))
CALQUE_ROWS_CASE("B8: derivatives with respect to a row's scale and shift share a pass",
                 check_rows(affine_derivatives, -1, 2))
CALQUE_ROWS_CASE("B9: softmax of doubles from floats", check_rows(in_doubles, -1))

TEST_CASE("A10: a row value whose sum sums nothing is kept for later phases and sweeps") {
  constexpr auto body = [](auto x, auto c, auto d) {
    const auto w = cq::sum_to(c * d, cq::shape{x.extent(1)});
    const auto e = cq::exp(x);
    return std::tuple{w / cq::sum(e, cq::axis<0>), e * w};
  };
  static constexpr auto fused = cq::trace(body);
  static constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(body);
  static constexpr cq::graph_view g =
      cq::graph_of<fused, cq::array<double, 2>, cq::array<double, 1>, cq::array<double, 1>>();
  CHECK(g.kernels() == 1);
  for (const auto& extents : sizes) {
    const std::int64_t n = extents[0], m = extents[1];
    INFO("n = ", n, ", m = ", m);
    const auto x = drawn<double>(cq::shape{n, m}, draws<double>(1));
    const auto c = drawn<double>(cq::shape{m}, draws<double>(2)),
               one = drawn<double>(cq::shape{1}, draws<double>(3));
    check_same(fused(x, c, c), plain(x, c, c), 1e-13);
    check_same(fused(x, c, one), plain(x, c, one), 1e-13);
    if (m == 1) continue;
    const auto narrow = drawn<double>(cq::shape{n, 1}, draws<double>(4));
    check_same(fused(narrow, c, one), plain(narrow, c, one), 1e-12);
  }
}
