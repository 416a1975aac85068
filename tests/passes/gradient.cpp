// Derivatives of every operation and of compositions against central differences; what a derivative
// is taken with respect to; derivatives of derivatives.
#include "calque/passes/gradient.hpp"

#include "support/slopes.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

template <template <class, int> class A>
struct layer {
  A<double, 2> w;
  A<double, 1> b;
};
template <template <class, int> class A>
struct net {
  layer<A> first, second;
};

cq::array<double, 2> matrix(std::int64_t m, std::int64_t n, double lo, double hi,
                            std::uint64_t seed = 1) {
  return drawn<double>(cq::shape{m, n}, between(lo, hi, seed));
}

constexpr auto cube = [](auto x) { return cq::sum(x * x * x); };

}  // namespace

TEST_CASE("derivatives of elementwise functions equal central differences (B8)") {
  check_slopes<0, 1, 2, 3, 4, 5>(
      [](auto a, auto b, auto c, auto d, auto e, auto f, auto w) {
        return cq::sum(cq::exp(a) * w) + cq::sum(cq::log(b) * w) + cq::sum(cq::sqrt(c) * w) +
               cq::sum(cq::tanh(d) * w) + cq::sum(cq::abs(e) * w) + cq::sum(-f * w);
      },
      matrix(2, 3, -2, 2), matrix(2, 3, 0.3, 4), matrix(2, 3, 0.3, 4), matrix(2, 3, -2, 2),
      matrix(2, 3, -2, 2), matrix(2, 3, -2, 2), matrix(2, 3, -1, 1, 9));
}

TEST_CASE("derivatives of arithmetic and choice equal central differences (B8)") {
  check_slopes<0, 1, 2, 3, 4, 5, 6, 7>(
      [](auto a, auto b, auto c, auto d, auto e, auto f, auto g, auto h, auto w) {
        return cq::sum((a + b) * w) + cq::sum((c - d) * w) + cq::sum(e * f * w) +
               cq::sum(cq::maximum(a, d) * w) + cq::sum(cq::minimum(c, f) * w) +
               cq::sum(cq::where(a > 0, g, h) * w) + cq::sum(g / h * w) + cq::sum(3 / h) +
               cq::sum(cq::where(b < c, cq::astype<double>(cq::astype<int>(a)), b * h));
      },
      matrix(3, 2, -2, 2, 1), matrix(3, 2, -2, 2, 2), matrix(3, 2, -2, 2, 3),
      matrix(3, 2, -2, 2, 4), matrix(3, 2, -2, 2, 5), matrix(3, 2, -2, 2, 6),
      matrix(3, 2, -2, 2, 7), matrix(3, 2, 0.5, 2, 8), matrix(3, 2, -1, 1, 9));
}

TEST_CASE("derivatives of reductions over all kinds of axes equal central differences (B8)") {
  constexpr auto f = [](auto x, auto y, auto z, auto u, auto v) {
    const auto s = cq::sum(x, cq::axis<1>);
    const auto t = cq::mean(x, cq::axis<0, 2>);
    const auto k = cq::sum(x, cq::axis<-1>, cq::keepdims);
    const auto high = cq::max(y, cq::axis<1>);
    const auto low = cq::min(y, cq::axis<0, 2>, cq::keepdims);
    return cq::sum(s * s) + cq::sum(t * t * t) + cq::sum(k * k) + cq::mean(x) * cq::sum(x) +
           cq::sum(high * high) + cq::sum(low * low) + cq::max(z) * cq::min(z) +
           cq::sum(cq::softmax(u, cq::axis<1>) * v) + cq::sum(cq::log_softmax(u, cq::axis<0>) * v);
  };
  check_slopes<0, 1, 2, 3>(f, drawn<double>(cq::shape{2, 3, 4}, between(-2, 2, 1)),
                           drawn<double>(cq::shape{2, 3, 4}, between(-2, 2, 2)),
                           matrix(3, 4, -2, 2, 3), matrix(3, 4, -2, 2, 4), matrix(3, 4, -2, 2, 5));
  check_slopes<0, 1, 2, 3>(f, drawn<double>(cq::shape{1, 1, 2}, between(-2, 2, 1)),
                           drawn<double>(cq::shape{3, 1, 1}, between(-2, 2, 2)),
                           matrix(1, 1, -2, 2, 3), matrix(1, 5, -2, 2, 4), matrix(1, 5, -2, 2, 5));
}

TEST_CASE("derivatives of views, products and casts equal central differences (B8)") {
  constexpr auto f = [](auto x, auto y, auto z, auto w) {
    const auto t = cq::transpose(x) * w;
    const auto r = cq::reshape(x, cq::shape{x.extent(1), 1, x.extent(0)});
    const auto b = cq::broadcast_to(z, cq::shape{2, x.extent(0), x.extent(1)});
    const auto m = cq::matmul(x, y);
    const auto s = cq::sum_to(x * x, cq::shape{1, x.extent(1)});
    return cq::sum(t * t) + cq::sum(r * r * r) + cq::sum(b * b * x) + cq::sum(m * m) +
           cq::sum(s * s) +
           cq::sum(cq::matmul(cq::transpose(y), cq::transpose(x)) * cq::transpose(m));
  };
  check_slopes<0, 1, 2, 3>(f, matrix(2, 3, -2, 2, 1), matrix(3, 4, -2, 2, 2),
                           matrix(1, 3, -2, 2, 3), matrix(3, 2, -2, 2, 4));
  check_slopes<0, 1, 2, 3>(f, matrix(1, 1, -2, 2, 1), matrix(1, 1, -2, 2, 2),
                           matrix(1, 1, -2, 2, 3), matrix(1, 1, -2, 2, 4));
}

TEST_CASE("derivatives of nothing have no elements, and an empty axis sums to zero slopes (C032)") {
  const auto g =
      cq::grad([](auto x, auto y) { return cq::sum(x * y) + cq::sum(y); }, cq::wrt<0, 1>)(
          cq::zeros<double>(cq::shape{0, 3}), cq::array<double, 1>{1, 2, 3});
  CHECK(std::get<0>(g).shape() == cq::shape{0, 3});
  CHECK(std::get<1>(g).to_vector() == std::vector<double>{1, 1, 1});
}

TEST_CASE("the softmax cross entropy's derivative is the closed form to 1e-5 (B8)") {
  constexpr auto loss = [](auto logits, auto labels) {
    return -cq::mean(cq::sum(cq::one_hot<float>(labels, 10) * cq::log_softmax(logits, cq::axis<1>),
                             cq::axis<1>));
  };
  const auto logits = drawn<float>(cq::shape{25, 10}, draws<float>(3));
  const auto labels =
      drawn<std::int32_t>(cq::shape{25}, [i = 0]() mutable { return i++ * 7 % 10; });
  const auto g = cq::grad(loss)(logits, labels);
  bool near = true;
  for (std::int64_t i = 0; i < 25; ++i) {
    double total = 0;
    for (std::int64_t j = 0; j < 10; ++j) total += std::exp(static_cast<double>(logits(i, j)));
    for (std::int64_t j = 0; j < 10; ++j) {
      const double p = std::exp(static_cast<double>(logits(i, j))) / total;
      near = near && std::fabs(g(i, j) - (p - (labels(i) == j)) / 25) < 1e-5 / 25;
    }
  }
  CHECK(near);
}

TEST_CASE("derivatives of derivatives are right: x^3 gives 6x and 6 (grad of grad)") {
  static constexpr auto second = [](auto x) { return cq::sum(cq::grad(cube)(x)); };
  static constexpr auto third = [](auto x) { return cq::sum(cq::grad(second)(x)); };
  const cq::array<double, 1> x{1, -2, 0.5};
  CHECK(cq::grad(second)(x).to_vector() == std::vector<double>{6, -12, 3});
  CHECK(cq::grad(third)(x).to_vector() == std::vector<double>{6, 6, 6});
  check_slopes<0, 1>(
      [](auto v, auto w) {
        return cq::sum(
            cq::grad([](auto a, auto b) { return cq::sum(cq::exp(a * b) / (1 + a * a)); })(v, w) *
            w);
      },
      matrix(2, 2, -1, 1, 1), matrix(2, 2, -1, 1, 2));
}

TEST_CASE("a guarded slope of zero still has a derivative of its own") {
  // where's derivative is masked; at x = 0 the inner derivative of u^2 is 0, its own derivative is
  // not
  static constexpr auto second = [](auto x) {
    return cq::sum(cq::grad([](auto v) {
      const auto u = 2 * v;
      return cq::sum(cq::where(v > -5, u * u, cq::sqrt(v)));
    })(x));
  };
  const cq::array<double, 1> x{0, 1, -9};
  const auto slopes = cq::grad(second)(x);
  CHECK(slopes(0) == 8);
  CHECK(slopes(1) == 8);
}

TEST_CASE("several arguments give a tuple in the order of wrt; an unused one gives zeros") {
  constexpr auto f = [](auto x, auto, auto y, auto k) { return cq::sum(x * k) + 0 * cq::sum(y); };
  const cq::array<double, 1> x{1, 2};
  const cq::array<float, 2> unused{{1, 2, 3}};
  const cq::array<double, 1> k{5, 7};
  const auto g = cq::grad(f, cq::wrt<3, 1, 0>)(x, unused, x, k);
  static_assert(
      std::is_same_v<decltype(g), const std::tuple<cq::array<double, 1>, cq::array<float, 2>,
                                                   cq::array<double, 1>>>);
  CHECK(std::get<0>(g).to_vector() == std::vector<double>{1, 2});
  CHECK(std::get<1>(g).shape() == cq::shape{1, 3});
  CHECK(std::get<1>(g).to_vector() == std::vector<float>{0, 0, 0});
  CHECK(std::get<2>(g).to_vector() == std::vector<double>{5, 7});
}

TEST_CASE("one array for two parameters is two values: each has its own derivative") {
  constexpr auto f = [](auto x, auto y) { return cq::sum(x * x * y); };
  const cq::array<double, 1> x{1, 3};
  CHECK(cq::grad(f)(x, x).to_vector() == std::vector<double>{2, 18});
  CHECK(cq::grad(f, cq::wrt<1>)(x, x).to_vector() == std::vector<double>{1, 9});
  constexpr auto inside = cq::trace([](auto v) {
    constexpr auto product = [](auto a, auto b) { return cq::sum(a * a * b); };
    const auto g = cq::grad(product, cq::wrt<0, 1>)(v, v);
    return std::tuple{std::get<0>(g), std::get<1>(g)};
  });
  const auto [first, second] = inside(x);
  CHECK(first.to_vector() == std::vector<double>{2, 18});
  CHECK(second.to_vector() == std::vector<double>{1, 9});
}

TEST_CASE("nothing flows through stop_gradient, comparisons, argmax and casts to integers") {
  const cq::array<double, 1> x{1, 3, 2};
  CHECK(cq::grad([](auto v) { return cq::sum(cq::stop_gradient(v * v) * v); })(x).to_vector() ==
        std::vector<double>{1, 9, 4});
  CHECK(cq::grad([](auto v) { return cq::sum(v * cq::astype<double>(cq::argmax(v))); })(x)
            .to_vector() == std::vector<double>{1, 1, 1});
  CHECK(cq::grad([](auto v) { return cq::sum(cq::stop_gradient(v)); })(x).to_vector() ==
        std::vector<double>{0, 0, 0});
}

TEST_CASE("a loss that is a constant or the argument itself has the obvious derivative") {
  const cq::array<double, 0> x = 3.0;
  CHECK(cq::grad([](auto v) { return v + 0; })(x).item() == 1);
  CHECK(cq::grad([](auto v) { return v; })(x).item() == 1);
  const auto r =
      cq::value_and_grad([](auto v) { return cq::sum(cq::zeros<double>(cq::shape{2}, v)); })(x);
  CHECK(r.value.item() == 0);
  CHECK(r.grad.item() == 0);
  // a C++ number is an argument like any other
  CHECK(cq::grad([](auto v, auto s) { return cq::sum(v * s * s); }, cq::wrt<1>)(
            cq::array<double, 1>{1, 2}, 3.0)
            .item() == 18);
}

TEST_CASE("a value used many times gathers all contributions") {
  const cq::array<double, 1> x{0.5, 2};
  check_slopes<0>(
      [](auto v) {
        auto y = v;
        for (int i = 0; i < 10; ++i) y = y * v + v / (y + 1) - y;
        return cq::sum(y * y);
      },
      x);
}

TEST_CASE("derivatives have the structure of a model of arrays or variables (B8)") {
  constexpr auto loss = [](auto m, auto x) {
    const auto h = cq::tanh(cq::matmul(x, m.first.w) + m.first.b);
    const auto y = cq::matmul(h, m.second.w) + m.second.b;
    return cq::mean(y * y);
  };
  const net<cq::array> m{{matrix(3, 4, -1, 1, 1), drawn<double>(cq::shape{4}, between(-1, 1, 2))},
                         {matrix(4, 2, -1, 1, 3), drawn<double>(cq::shape{2}, between(-1, 1, 4))}};
  const auto x = matrix(5, 3, -1, 1, 5);
  const auto r = cq::value_and_grad(loss)(m, x);
  static_assert(std::is_same_v<decltype(r.grad), net<cq::array>>);
  const auto check = [&](const auto& got, auto member) {
    net<cq::array> at{{m.first.w.clone(), m.first.b.clone()},
                      {m.second.w.clone(), m.second.b.clone()}};
    calque::test::detail::compare_slopes(
        got, member(at), [&] { return static_cast<double>(cq::value_and_grad(loss)(at, x).value); },
        2e-7, 0);
  };
  check(r.grad.first.w, [](auto& n) -> auto& { return n.first.w; });
  check(r.grad.first.b, [](auto& n) -> auto& { return n.first.b; });
  check(r.grad.second.w, [](auto& n) -> auto& { return n.second.w; });
  check(r.grad.second.b, [](auto& n) -> auto& { return n.second.b; });

  const net<cq::variable> v{{{m.first.w, "w1"}, {m.first.b, "b1"}},
                            {{m.second.w, "w2"}, {m.second.b, "b2"}}};
  const auto s = cq::value_and_grad(loss)(v, x);
  static_assert(std::is_same_v<decltype(s.grad), net<cq::array>>);
  CHECK(same_bits(s.grad.first.w, r.grad.first.w));
  CHECK(same_bits(s.grad.second.b, r.grad.second.b));
  CHECK(same_bits(v.first.w.value(), m.first.w));
}

TEST_CASE("a derivative is taken at the variable's value at that point; effects happen once (B6)") {
  constexpr auto f = cq::trace([](auto v, auto x) {
    v.assign(v * 2);
    auto r = cq::value_and_grad([](auto u, auto y) {
      const auto loss = cq::sum(u * u * y);
      u += 1;
      return loss + cq::sum(u);
    })(v, x);
    const auto after = v + 0;
    v -= r.grad;
    return std::tuple{r.value, r.grad, after};
  });
  const cq::variable<double, 1> v{cq::array<double, 1>{1, 2}, "v"};
  const auto [value, slope, after] = f(v, cq::array<double, 1>{3, 5});
  CHECK(value.item() == 4 * 3 + 16 * 5 + 3 + 5);
  CHECK(slope.to_vector() == std::vector<double>{2 * 2 * 3 + 1, 2 * 4 * 5 + 1});
  CHECK(after.to_vector() == std::vector<double>{3, 5});
  CHECK(v.value().to_vector() == std::vector<double>{3 - 13, 5 - 41});
}

TEST_CASE("the pass leaves graphs without derivatives alone and expands all others") {
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>([](auto x) { return x * x; });
  constexpr auto with =
      cq::trace<cq::options{.pass_level = 0}>([](auto x) { return cq::grad(cube)(x); });
  constexpr cq::graph_view a = cq::graph_of<plain, cq::array<double, 1>>();
  constexpr cq::graph_view b = cq::graph_of<with, cq::array<double, 1>>();
  static_assert(!cq::has_gradients(a) && !cq::has_gradients(b));
  static_assert(cq::verify(b) == nullptr);
  const cq::graph again = cq::gradient(b);
  CHECK(again.nodes.size() == b.node_count);
}
