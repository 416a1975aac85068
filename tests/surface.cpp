// The signature sheet: how the public names are spelled, as a compile test. Each later part of the
// library adds its own.
#include <doctest/doctest.h>
#include <calque/calque.hpp>
#include <calque/ops/sort.hpp>

#include <cstdint>
#include <sstream>
#include <type_traits>
#include <vector>

namespace cq = calque;

namespace {

template <template <class, int> class A>
struct layer {
  A<float, 2> w;
  A<float, 1> b;
};
template <template <class, int> class A>
struct net {
  layer<A> first, second;
};
template <class W, class B>
struct affine {
  W w;
  B b;
};

struct maxabs {
  static constexpr char name[] = "surface.maxabs";
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

}  // namespace

CALQUE_REGISTER(maxabs);

namespace {

constexpr auto axpy = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
constexpr auto unfused = cq::trace<cq::options{.pass_level = 0}>([](auto x) { return x * x + x; });
constexpr auto pair = cq::trace([](auto x) { return std::tuple{x + 1, cq::sum(x)}; });

constexpr auto loss = [](auto m, auto x, auto t) {
  auto e = cq::matmul(x, m.w) + m.b - t;
  return cq::mean(e * e);
};
constexpr auto step = cq::trace([](auto m, auto x, auto t, auto lr) {
  auto r = cq::value_and_grad(loss, cq::wrt<0>)(m, x, t);
  m.w -= lr * r.grad.w;
  m.b.assign(m.b - lr * r.grad.b);
  auto now = m.b + 0;
  return std::tuple{r.value, now};
});

constexpr auto moved = cq::trace([](auto a, auto k) {
  return std::tuple{
      cq::slice(a, cq::range{0, a.extent(0) / 2}, cq::range{}),
      cq::flip(a, cq::axis<0>),
      cq::concatenate<0>(a, a, a),
      cq::stack<0>(a, a),
      cq::pad(a, {{1, 0}, {0, 1}}, 2),
      cq::take(a, k, cq::axis<0>),
      cq::scatter_add(a, k, a, cq::axis<0>),
      cq::dot(k, k),
      cq::outer(k, k),
      cq::max_pool2d(
          cq::conv2d(cq::stack<0>(cq::stack<0>(a)), cq::stack<0>(cq::stack<0>(a)), 1, {1, 1}), 2)};
});

template <class T, int R, class X>
constexpr bool is(const X&) {
  return std::is_same_v<X, cq::array<T, R>>;
}

struct softsign {
  static constexpr char name[] = "softsign";
  template <class T>
  constexpr T operator()(T x) const {
    return x / (1 + (x < 0 ? -x : x));
  }
  static constexpr auto gradient(auto x, auto dy) { return dy / cq::square(1 + cq::abs(x)); }
};

}  // namespace

CALQUE_REGISTER(softsign);

static_assert(cq::graph_of<axpy, cq::array<float, 1>, cq::array<float, 1>, float>().kernels() == 1);
static_assert(std::is_empty_v<decltype(axpy)>);

TEST_CASE("arrays are spelled as on the signature sheet (G: arrays, shapes, scalars)") {
  const cq::array<float, 2> a{{1, 2}, {3, 4}};
  const std::size_t n = 2;
  const cq::array<float, 2> b = cq::zeros<float>(cq::shape{n, 3});
  const auto c = cq::full(cq::shape{2, 2}, 1.5f);
  CHECK(is<float, 2>(c));
  CHECK(is<float, 1>(cq::linspace(0.f, 1.f, 1000)));
  CHECK(is<int, 1>(cq::arange<int>(10)));
  CHECK(is<float, 2>(cq::eye<float>(3)));
  std::vector<float> v{1, 2, 3, 4};
  const cq::array<float, 1> d{std::span<const float>(v)};
  const cq::array<float, 2> d2{std::span<const float>(v), cq::shape{2, 2}};
  auto e = cq::borrow(v.data(), cq::shape{2, 2});
  CHECK(a.shape() == cq::shape{2, 2});
  CHECK(a.extent(1) == 2);
  CHECK(a.size() == 4);
  CHECK(a.bytes() == 16);
  CHECK(a.rank() == 2);
  CHECK(a.device() == cq::cpu());
  CHECK(a(1, 0) == 3);
  CHECK(e.data() == v.data());
  e.copy_to(std::span<float>(v));
  CHECK(a.to(cq::cpu()).to_vector() == std::vector<float>{1, 2, 3, 4});
  CHECK(b.size() == 6);
  CHECK(d2.clone()(1, 1) == 4);
  CHECK(d.size() == 4);
  std::ostringstream out;
  out << a;
  CHECK(out.str() == "[[1. 2.]\n [3. 4.]]");
  CHECK(cq::slice(a, cq::range{0, 1}, cq::range{}).shape() == cq::shape{1, 2});
  CHECK(cq::transpose(a)(0, 1) == 3);
  CHECK(cq::reshape(a, cq::shape{4})(3) == 4);
  CHECK(cq::broadcast_to(a, cq::shape{3, 2, 2}).shape() == cq::shape{3, 2, 2});
}

TEST_CASE("operators and functions work on arrays outside a trace") {
  const cq::array<float, 2> a{{1, 2}, {3, 4}};
  const cq::array<int, 1> k{1, 2};
  CHECK(is<float, 2>(a + k));
  CHECK(is<float, 2>(2.0 * a));
  CHECK(is<double, 1>(k * 2.5));
  CHECK(is<float, 1>(k * 2.5f));
  CHECK(is<bool, 2>(a > 2));
  CHECK(is<float, 2>(-a));
  CHECK(is<float, 0>(cq::sum(a)));
  CHECK(is<float, 1>(cq::sum(a, cq::axis<1>)));
  CHECK(is<float, 2>(cq::sum(a, cq::axis<0, -1>, cq::keepdims)));
  CHECK(is<double, 0>(cq::mean(k)));
  CHECK(is<std::int64_t, 0>(cq::sum(k)));
  CHECK(is<std::int64_t, 1>(cq::argmax(a, cq::axis<1>)));
  CHECK(is<float, 2>(cq::one_hot<float>(k, 10)));
  CHECK(is<double, 2>(cq::astype<double>(a)));
  CHECK(is<float, 2>(cq::where(a > 2, a, 0)));
  CHECK(is<float, 2>(cq::matmul(a, a)));
  CHECK(is<float, 2>(cq::softmax(a, cq::axis<1>)));
  CHECK(is<float, 2>(cq::log_softmax(a, cq::axis<-1>)));
  CHECK(is<float, 2>(cq::maximum(cq::exp(cq::log(cq::sqrt(cq::tanh(cq::abs(a))))), 0)));
  CHECK(is<float, 2>(cq::erf(cq::sin(cq::cos(cq::tan(cq::expm1(cq::log1p(a))))))));
  CHECK(is<float, 2>(cq::sigmoid(cq::rsqrt(cq::square(cq::reciprocal(cq::sign(a)))))));
  CHECK(is<float, 2>(cq::floor(cq::ceil(cq::round(cq::relu(cq::silu(cq::gelu(a))))))));
  CHECK(is<float, 2>(cq::pow(a, k)));
  CHECK(is<double, 1>(cq::pow(k, k)));
  CHECK(is<float, 2>(cq::atan2(cq::fmod(a, 2.f), 1)));
  CHECK(is<float, 2>(cq::clip(a, 0, k)));
  CHECK(is<double, 1>(cq::true_divide(k, 2)));
  CHECK(is<bool, 2>((cq::isnan(a) | cq::isinf(a)) ^ (~cq::isfinite(a) & (a > 0))));
  CHECK(is<bool, 2>(cq::logical_and(a, k)));
  CHECK(is<bool, 1>(cq::logical_or(cq::logical_xor(k, 0), cq::logical_not(k))));
  CHECK(is<int, 1>((k & 1) | (k ^ 3) | ~k | (k << 1) | (k >> 1) | k % 2));
  CHECK(is<int, 1>(cq::bitwise_and(cq::bitwise_or(k, 1), cq::bitwise_xor(k, cq::bitwise_not(k)))));
  CHECK(is<int, 1>(cq::bitwise_right_shift(cq::bitwise_left_shift(k, 1), k)));
  CHECK(is<float, 2>(cq::apply<softsign>(a)));
  CHECK((a + k)(1, 1) == 6);
  cq::array<float, 2> c = a;
  c += a;
  c -= 1;
  c *= 2;
  c /= 2.0;
  CHECK(c(0, 0) == 1);
  CHECK(a(0, 0) == 1);
}

TEST_CASE("reductions, scans, monoids, sorting and randomness are spelled as on the sheet") {
  const cq::array<float, 2> a{{1, 2}, {3, 4}};
  const cq::array<int, 1> k{1, 0};
  CHECK(is<float, 0>(cq::prod(a)));
  CHECK(is<std::int64_t, 0>(cq::prod(k)));
  CHECK(is<bool, 1>(cq::any(a, cq::axis<0>)));
  CHECK(is<bool, 2>(cq::all(a, cq::axis<0>, cq::keepdims)));
  CHECK(is<float, 1>(cq::var(a, cq::axis<0>)));
  CHECK(is<double, 0>(cq::std(k)));
  CHECK(is<float, 2>(cq::std(a, cq::axis<0>, cq::keepdims, cq::ddof<1>)));
  CHECK(is<float, 0>(cq::vector_norm(a)));
  CHECK(is<float, 1>(cq::vector_norm(a, cq::axis<1>)));
  CHECK(is<float, 1>(cq::logsumexp(a, cq::axis<1>)));
  CHECK(is<float, 2>(cq::cumsum(a, cq::axis<0>)));
  CHECK(is<std::int64_t, 1>(cq::cumprod(k)));
  CHECK(is<float, 1>(cq::reduce<maxabs>(a, cq::axis<1>)));
  CHECK(is<float, 2>(cq::accumulate<maxabs>(a, cq::axis<0>)));
  CHECK(is<float, 2>(cq::sort(a, cq::axis<0>)));
  CHECK(is<float, 2>(cq::sort(a, cq::axis<0>, cq::descending)));
  CHECK(is<std::int64_t, 2>(cq::argsort(a, cq::axis<-1>, cq::descending)));
  CHECK(is<float, 0>(cq::cross_entropy(a, k)));
  CHECK(is<float, 1>(cq::cross_entropy(a, k, cq::no_reduction)));
  const auto gamma = cq::ones<float>(cq::shape{2}), beta = cq::zeros<float>(cq::shape{2});
  CHECK(is<float, 2>(cq::layer_norm(a, gamma, beta)));
  CHECK(is<float, 2>(cq::layer_norm(a, gamma, beta, cq::axis<-1>, 1e-5)));
  cq::rng state{7};
  CHECK(is<float, 2>(cq::random::uniform<float>(state, cq::shape{2, 3})));
  CHECK(is<double, 1>(cq::random::uniform<double>(state, cq::shape{3}, -1, 1)));
  CHECK(is<float, 1>(cq::random::normal<float>(state, cq::shape{3})));
  CHECK(is<bool, 1>(cq::random::bernoulli(state, cq::shape{3}, 0.5)));
  CHECK(is<float, 2>(cq::dropout(state, a, 0.5)));
}

TEST_CASE("calls, into, outs, plan and stats are spelled as on the sheet") {
  const auto x = cq::ones<float>(cq::shape{5}), y = cq::ones<float>(cq::shape{5});
  CHECK(is<float, 1>(axpy(x, y, 2.f)));
  cq::array<float, 1> out, p;
  cq::array<float, 0> q;
  axpy.into(out, x, y, 2.f);
  CHECK(out(4) == 3);
  pair.into(cq::outs(p, q), x);
  CHECK(q.item() == 5);
  auto [first, second] = pair(x);
  CHECK(first(0) == 2);
  CHECK(static_cast<float>(second) == 5);
  const auto plan = axpy.plan(x, y, 2.f);
  CHECK(!plan.dump().empty());
  CHECK(!plan.dot().empty());
  CHECK(!plan.json().empty());
  CHECK(!plan.explain().empty());
  CHECK(plan.peak_bytes().count() >= 20);
  const cq::cache_stats s = axpy.stats();
  CHECK(s.plans + s.hits + s.misses + s.evictions + s.launches + s.allocations + s.peak_bytes > 0);
  CHECK(!axpy.last_miss().empty());
  axpy.plan_limit(8, cq::bytes{1 << 20});
  axpy.clear();
  CHECK(unfused(x)(0) == 2);
}

TEST_CASE("variables, gradients, control flow and names are spelled as on the sheet") {
  const layer<cq::variable> m{{cq::zeros<float>(cq::shape{3, 2}), "w"},
                              {cq::zeros<float>(cq::shape{2}), "b"}};
  const auto x = cq::ones<float>(cq::shape{4, 3});
  const auto t = cq::ones<float>(cq::shape{4, 2});
  auto [value, b] = step(m, x, t, 0.1);
  CHECK(is<float, 0>(value));
  CHECK(is<float, 1>(b));
  CHECK(m.w.value().shape() == cq::shape{3, 2});
  CHECK(m.w.name() == "w");
  m.b.assign(cq::zeros<float>(cq::shape{2}));
  const cq::variable<float, 2> unset{cq::shape{7, 1}, "unset"};
  CHECK_THROWS_AS((void)unset.value(), cq::value_error);

  const layer<cq::array> n{cq::zeros<float>(cq::shape{3, 2}), cq::zeros<float>(cq::shape{2})};
  const auto r = cq::value_and_grad(loss, cq::wrt<0>)(n, x, t);
  CHECK(is<float, 2>(r.grad.w));
  CHECK(is<float, 0>(r.value));
  CHECK(is<float, 2>(std::get<1>(cq::grad(loss, cq::wrt<0, 1>)(n, x, t))));

  constexpr auto flow = cq::trace([](auto a, auto steps, auto p) {
    cq::scope s{"flow", a};
    auto c = cq::cond(p, [&] { return a; }, [&] { return -a; });
    auto d = cq::for_loop(steps, c, [&](auto i, auto v) { return v + i; });
    auto e = cq::for_loop(cq::static_<2>, std::tuple{d, a},
                          [&](auto, auto v) { return std::tuple{std::get<1>(v), std::get<0>(v)}; });
    return cq::named(std::get<0>(e), "out");
  });
  CHECK(flow(cq::ones<float>(cq::shape{2}), 3, true)(1) == 4);
  constexpr auto rows =
      cq::trace([](auto a, auto k) { return cq::reshape(a, cq::shape{a.extent(0) * k.value, 2}); });
  CHECK(rows(cq::ones<float>(cq::shape{2, 4}), cq::static_<2>).shape() == cq::shape{4, 2});
  const net<cq::variable> deep{};
  (void)deep;
  constexpr auto aff = cq::trace([](auto a, auto v) { return a.w * v + a.b; });
  CHECK(aff(affine<cq::array<float, 1>, float>{cq::ones<float>(cq::shape{2}), 1.f},
            cq::ones<float>(cq::shape{2}))(0) == 2);
}

TEST_CASE("what moves data is spelled as on the sheet") {
  const cq::array<float, 2> a{{1, 2}, {3, 4}};
  const auto [s, f, c, t, p, k, u, d, o, m] = moved(a, cq::array<int, 1>{1, 0});
  CHECK((is<float, 2>(s) && is<float, 2>(f) && is<float, 2>(c) && is<float, 3>(t)));
  CHECK((is<float, 2>(p) && is<float, 2>(k) && is<float, 2>(u) && is<int, 0>(d)));
  CHECK((is<int, 2>(o) && is<float, 4>(m)));
  CHECK(k(0, 0) == 3);
  CHECK(u(0, 0) == 4);
  CHECK(m(0, 0, 0, 0) == 30);
}
