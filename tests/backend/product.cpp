// Products of matrices with elementwise ends, against the same functions op by op: bias,
// activation, residual, masks, updates in place; all layouts, sizes around rows and blocks, extents
// 0 and 1.
#include "calque/backend/cpu/product.hpp"

#include <tuple>

#include "calque/calque.hpp"
#include "support/cluster_rules.hpp"
#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;
using floats = cq::array<float, 2>;

constexpr auto layer = [](auto x, auto w, auto b, auto r) {
  return cq::maximum(cq::matmul(x, w) + b, 0) + r;
};
constexpr auto masked = [](auto x, auto w, auto b, auto r) {
  const auto z = cq::matmul(x, w);
  const auto y = cq::where(r > 0, z, b);
  return std::tuple{y, cq::astype<std::uint8_t>(y > b)};
};
constexpr auto transposed = [](auto x, auto w, auto b, auto r) {
  return cq::transpose(cq::matmul(cq::transpose(w), cq::transpose(x)) * 0.5f) + b + r;
};
constexpr auto two = [](auto x, auto w, auto b, auto r) {
  return cq::tanh(cq::matmul(x, w) + cq::matmul(x, w * 0.5f) - b) * r;
};

auto eighths(std::uint64_t seed) {
  return [random = std::mt19937_64(seed)]() mutable {
    return static_cast<float>(static_cast<int>(random() % 33) - 16) / 8;
  };
}

template <class A, class B>
void check_same(const A& a, const B& b) {
  if constexpr (requires { a.shape(); }) {
    CALQUE_CHECK_MATCHES(a, dense_of(b), 8);
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (check_same(std::get<I>(a), std::get<I>(b)), ...);
    }(std::make_index_sequence<std::tuple_size_v<A>>{});
  }
}

/// `products`: clusters that end a product.
template <class Body>
void check(Body, int products) {
  static constexpr auto fused = cq::trace(Body{});
  static constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(Body{});
  static constexpr cq::graph_view g = cq::graph_of<fused, floats, floats, floats, floats>();
  CHECK(cluster_rules(g).broken() == "");
  int found = 0;
  for (int c = 0; c < g.cluster_count; ++c)
    found += g.clusters[c].kind == cq::cluster_kind::product;
  CHECK(found == products);
  for (cq::isa level : {cq::isa::baseline, cq::isa::avx2, cq::isa::avx512}) {
    cq::detail::force_isa(level);
    fused.clear(), plain.clear();  // plans are made for one instruction set
    for (const auto& size : {std::array<std::int64_t, 3>{3, 4, 5},
                             {1, 7, 1},
                             {17, 33, 9},
                             {100, 20, 10},
                             {5, 0, 3},
                             {0, 3, 2},
                             {2, 3, 0},
                             {70, 8, 1500},
                             {300, 5, 700}})
      for (const layout how : layouts) {
        const std::int64_t m = size[0], k = size[1], n = size[2];
        INFO("level ", static_cast<int>(level), ", (", m, ",", k, ") by (", k, ",", n, "), layout ",
             static_cast<int>(how));
        const auto x = laid_out<float>(cq::shape{m, k}, how, eighths(1)),
                   w = laid_out<float>(cq::shape{k, n}, layouts[(static_cast<int>(how) + 1) % 4],
                                       eighths(2));
        const auto b = laid_out<float>(cq::shape{1, n}, layouts[0], eighths(3)),
                   r = laid_out<float>(cq::shape{m, n}, how, eighths(4));
        const auto once = fused(x, w, b, r);
        check_same(once, plain(x, w, b, r));
        check_same(fused(x, w, b, r), once);
        if (m * n > 4000 && how != layout::plain) break;
      }
  }
}

}  // namespace

TEST_CASE("A10: bias, activation and residual end a product in one kernel") { check(layer, 1); }
TEST_CASE("A10: a gradient's masks end a product, with several results") { check(masked, 1); }
TEST_CASE("A10: a product written transposed, and two products in one sum") {
  check(transposed, 1);
  check(two, 1);
}

TEST_CASE("A10: an update through a product is written where the variable lies") {
  constexpr auto step = cq::trace([](auto w, auto x, auto g) {
    w -= 0.5f * cq::matmul(cq::transpose(x), g);
    return cq::sum(w);
  });
  const cq::variable<float, 2> w{cq::ones<float>(cq::shape{6, 3}), "w"};
  const auto x = drawn<float>(cq::shape{4, 6}, eighths(1)),
             g = drawn<float>(cq::shape{4, 3}, eighths(2));
  const auto expected = w.value() - 0.5f * cq::matmul(cq::transpose(x), g);
  CHECK(step.plan(w, x, g).peak_bytes().count() < 600);
  const auto before = step.stats().launches;
  const float total = step(w, x, g);
  CHECK(step.stats().launches - before == 2);  // no copy
  CHECK(same_bits(w.value(), expected));
  CHECK(total == cq::sum(expected).item());
  const cq::variable<float, 2> square{drawn<float>(cq::shape{5, 5}, eighths(3)), "square"};
  constexpr auto twice = cq::trace([](auto v) { v -= cq::matmul(v, v); });  // reads what it writes
  const auto now = square.value().clone();
  twice(square);
  CHECK(same_bits(square.value(), now - cq::matmul(now, now)));
}

TEST_CASE("A10: extents that a product's end takes as equal are checked, with the fallback") {
  constexpr auto f = cq::trace([](auto x, auto w, auto r) { return cq::matmul(x, w) * 2 + r; });
  for (const auto& [m, n] : {std::array<std::int64_t, 2>{4, 5}, {1, 5}, {4, 1}, {1, 1}}) {
    const auto x = drawn<float>(cq::shape{m, 3}, eighths(1)),
               w = drawn<float>(cq::shape{std::int64_t{3}, n}, eighths(2));
    for (const auto& r :
         {drawn<float>(cq::shape{4, 5}, eighths(3)), drawn<float>(cq::shape{m, n}, eighths(3))}) {
      const auto got = f(x, w, r);
      CALQUE_CHECK_MATCHES(got, dense_of(cq::matmul(x, w) * 2 + r), 2);
    }
  }
}
