// Running reductions against serial loops: axes, layouts, block borders, types, monoids that do not
// commute; and their derivatives.
#include "calque/ops/accumulate.hpp"

#include <numeric>

#include "support/slopes.hpp"

namespace cq = calque;

/// The larger magnitude.
struct maxabs {
  static constexpr char name[] = "maxabs";
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
  template <class T>
  constexpr T operator()(T a, T b) const {
    const T x = a < 0 ? static_cast<T>(-a) : a, y = b < 0 ? static_cast<T>(-b) : b;
    return x < y ? y : x;
  }
};
CALQUE_REGISTER(maxabs);

/// Maps x -> a x + b modulo 2^16, in one number: the left one first.
struct affine {
  static constexpr char name[] = "affine";
  template <class T>
  static constexpr T identity() {
    return T{-1};  // no map: to be seen if it were combined
  }
  constexpr std::int64_t operator()(std::int64_t f, std::int64_t g) const {
    const std::int64_t a = (g >> 16) * (f >> 16) & 0xffff;
    const std::int64_t b = ((g >> 16) * (f & 0xffff) + g) & 0xffff;
    return a << 16 | b;
  }
};
CALQUE_REGISTER(affine);

/// The later one: associative, and as far from commutative as can be; it knows lanes.
struct later {
  static constexpr char name[] = "later";
  template <class T>
  static constexpr T identity() {
    return T{-1};
  }
  template <class T>
  constexpr T operator()(T, T b) const {
    return b;
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(cq::lane<T, W>& r, const cq::lane<T, W>&,
                                  const cq::lane<T, W>& b) {
    r = b;
  }
};
CALQUE_REGISTER(later);
struct earlier {
  static constexpr char name[] = "earlier";
  template <class T>
  static constexpr T identity() {
    return T{-1};
  }
  template <class T>
  constexpr T operator()(T a, T) const {
    return a;
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(cq::lane<T, W>& r, const cq::lane<T, W>& a,
                                  const cq::lane<T, W>&) {
    r = a;
  }
};
CALQUE_REGISTER(earlier);

/// C026: adds where the left one is smaller.
struct rising {
  static constexpr char name[] = "rising";
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
  constexpr int operator()(int a, int b) const { return a < b ? a + b : -10000; }
};
CALQUE_REGISTER(rising);

namespace {

using namespace calque::test;

/// `f(so far, element)` along an axis; the first element as it is.
template <class V, class F>
dense<V> running(const dense<V>& x, std::size_t axis, F f) {
  dense<V> r = x;
  std::int64_t step = 1;
  for (std::size_t i = axis + 1; i < x.shape.size(); ++i) step *= x.shape[i];
  for (std::int64_t i = 0, n = x.size(); i < n; ++i)
    if (i / step % x.shape[axis] != 0) {
      const auto at = static_cast<std::size_t>(i);
      r.data[at] = f(r.data[at - static_cast<std::size_t>(step)], x.data[at]);
    }
  return r;
}

struct by_sum {
  template <int A, class X>
  static constexpr auto of(const X& x) {
    return cq::cumsum(x, cq::axis<A>);
  }
  template <class V>
  static V serial(V a, V b) {
    return a + b;
  }
};
struct by_product {
  template <int A, class X>
  static constexpr auto of(const X& x) {
    return cq::cumprod(x, cq::axis<A>);
  }
  template <class V>
  static V serial(V a, V b) {
    return a * b;
  }
};
template <class M>
struct by_monoid {
  template <int A, class X>
  static constexpr auto of(const X& x) {
    return cq::accumulate<M>(x, cq::axis<A>);
  }
  template <class V>
  static V serial(V a, V b) {
    return M{}(a, b);
  }
};

/// Eagerly, traced and replayed: the same bits; and near a serial loop in a wide type.
template <class T, int R, int A, class By, class Draw>
void check_running(Draw draw, double tolerance) {
  using V = wide<T>;
  constexpr auto f = cq::trace([](auto x) { return By::template of<A>(x); });
  constexpr std::size_t axis = static_cast<std::size_t>((A + R) % R);
  auto shapes = shapes_of<R>();
  std::array<std::int64_t, R> large{};
  for (std::size_t i = 0; i < R; ++i) large[i] = i == axis ? 8200 : R == 1 ? 1 : 19;
  shapes.push_back(cq::shape<R>(large));
  for (const auto& s : shapes)
    for (layout how : layouts) {
      const auto x = laid_out<T>(s, how, draw);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how), ", axis ", axis);
      const auto want =
          running(dense_of(x), axis, [](V a, V b) { return By::template serial<V>(a, b); });
      const auto got = f(x), again = f(x), eager = By::template of<A>(x);
      CHECK(same_bits(got, again));
      CHECK(same_bits(got, eager));
      const auto data = got.to_vector();
      REQUIRE(data.size() == want.data.size());
      bool near = true;
      for (std::size_t i = 0; near && i < data.size(); ++i) {
        const auto error = static_cast<V>(data[i]) - want.data[i];
        const auto size = static_cast<long double>(want.data[i] < 0 ? -want.data[i] : want.data[i]);
        near = static_cast<long double>(error < 0 ? -error : error) <= tolerance * (1 + size);
      }
      CHECK(near);
    }
}

template <class T>
auto whole_numbers(int low, int high) {
  return [random = std::mt19937(7), low, high]() mutable {
    return static_cast<T>(low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)));
  };
}

}  // namespace

TEST_CASE("running sums and products equal serial loops on every axis and layout (B9, C022)") {
  check_running<float, 1, 0, by_sum>(whole_numbers<float>(-9, 9), 0);
  check_running<float, 2, 1, by_sum>(whole_numbers<float>(-9, 9), 0);
  check_running<float, 2, 0, by_sum>(whole_numbers<float>(-9, 9), 0);
  check_running<double, 3, 1, by_sum>(whole_numbers<double>(-9, 9), 0);
  check_running<std::int32_t, 3, -1, by_sum>(whole_numbers<std::int32_t>(-9, 9), 0);
  check_running<std::uint8_t, 2, 0, by_sum>(whole_numbers<std::uint8_t>(0, 255), 0);
  check_running<bool, 1, 0, by_sum>(whole_numbers<bool>(0, 1), 0);
  check_running<float, 2, 1, by_product>([k = 0]() mutable { return ++k % 3 == 0 ? -1.f : 1.f; },
                                         0);
  check_running<std::int64_t, 2, 0, by_product>([k = 0]() mutable { return ++k % 5 == 0 ? -1 : 1; },
                                                0);
}

TEST_CASE("running sums of any floats stay near serial loops in a wide type") {
  const auto small = [d = between(-1, 1)]() mutable { return static_cast<float>(d()); };
  check_running<float, 1, 0, by_sum>(small, 2e-4);
  check_running<float, 2, 0, by_sum>(small, 2e-4);
  check_running<double, 2, 1, by_sum>(between(-1, 1), 1e-12);
}

TEST_CASE("monoids of the user combine neighbours in order (C026)") {
  check_running<float, 2, 1, by_monoid<maxabs>>(whole_numbers<float>(-9, 9), 0);
  check_running<float, 2, 0, by_monoid<later>>(whole_numbers<float>(-9, 9), 0);
  check_running<std::int32_t, 2, 1, by_monoid<later>>(whole_numbers<std::int32_t>(0, 999), 0);
  check_running<float, 1, 0, by_monoid<earlier>>(whole_numbers<float>(0, 999), 0);
  check_running<float, 2, 0, by_monoid<earlier>>(whole_numbers<float>(0, 999), 0);
  CHECK(cq::accumulate<rising>(cq::array<int, 1>{1, 10, 100, 1000}, cq::axis<0>).to_vector() ==
        std::vector<int>{1, 11, 111, 1111});
  std::mt19937 random(3);
  const auto map = [&] {
    return static_cast<std::int64_t>((random() | 1u) & 0xffffu) << 16 |
           static_cast<std::int64_t>(random() & 0xffffu);
  };
  for (std::int64_t n : {1, 2, 7, 4095, 4096, 4097, 100003}) {
    std::vector<std::int64_t> maps;
    for (std::int64_t i = 0; i < n; ++i) maps.push_back(map());
    auto want = maps;
    for (std::size_t i = 1; i < want.size(); ++i) want[i] = affine{}(want[i - 1], maps[i]);
    const cq::array<std::int64_t, 1> x(maps);
    CHECK(cq::accumulate<affine>(x, cq::axis<0>).to_vector() == want);
    CHECK(cq::reduce<affine>(x).item() == want.back());
    const auto tall = cq::broadcast_to(cq::reshape(x, cq::shape{n, 1}), cq::shape{n, 9});
    CHECK(cq::reduce<affine>(tall, cq::axis<0>).to_vector() ==
          std::vector<std::int64_t>(9, want.back()));
  }
}

TEST_CASE("reductions with a user's monoid equal wide loops; of nothing they are the identity") {
  for (const auto& s : shapes_of<3>())
    for (layout how : layouts) {
      const auto x = laid_out<float>(s, how, whole_numbers<float>(-9, 9));
      const auto a = dense_of(x);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      constexpr auto f = cq::trace([](auto v) {
        return std::tuple{cq::reduce<maxabs>(v), cq::reduce<later>(v, cq::axis<1>),
                          cq::reduce<earlier>(v, cq::axis<0>, cq::keepdims),
                          cq::reduce<later>(v, cq::axis<0, 2>)};
      });
      const auto [all, last, first, corner] = f(x);
      const auto largest = [](const auto& g) {
        long double m = g.empty() ? 0 : g[0];  // one element is combined with nothing
        for (std::size_t i = 1; i < g.size(); ++i) m = maxabs{}(m, g[i]);
        return m;
      };
      const auto back = [](const auto& g) { return g.empty() ? -1.0L : g.back(); };
      const auto front = [](const auto& g) { return g.empty() ? -1.0L : g.front(); };
      CALQUE_CHECK_MATCHES(all, reduce(a, 7, false, largest), 0);
      CALQUE_CHECK_MATCHES(last, reduce(a, 2, false, back), 0);
      CALQUE_CHECK_MATCHES(first, reduce(a, 1, true, front), 0);
      CALQUE_CHECK_MATCHES(corner, reduce(a, 5, false, back), 0);
      CHECK(same_bits(cq::reduce<later>(x, cq::axis<1>), last));
    }
}

TEST_CASE("a monoid on lanes combines long lines in order, at each instruction set (C026)") {
  constexpr auto f = cq::trace([](auto v) {
    return std::tuple{cq::reduce<later>(v), cq::reduce<earlier>(v, cq::axis<1>),
                      cq::reduce<later>(v, cq::axis<0>), cq::accumulate<earlier>(v, cq::axis<1>)};
  });
  for (std::int64_t n : {1, 2, 15, 31, 33, 64, 1023, 1025, 5001}) {
    const auto x = cq::reshape(cq::arange<float>(3 * n), cq::shape{3, n});
    at_each_isa(
        [&] {
          const auto [last, firsts, lows, so_far] = f(x);
          CHECK(last.item() == static_cast<float>(3 * n - 1));
          CHECK(firsts.to_vector() ==
                std::vector<float>{0, static_cast<float>(n), static_cast<float>(2 * n)});
          CHECK(lows(n - 1) == static_cast<float>(3 * n - 1));
          CHECK(so_far(1, n - 1) == static_cast<float>(n));
        },
        f);
  }
}

TEST_CASE("a running sum has as many elements as its input, around every border (C023, C025)") {
  for (std::int64_t n :
       {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 4095, 4096, 4097, 8191, 8193, 100003}) {
    const auto ones = cq::ones<float>(cq::shape{n});
    const auto sums = cq::cumsum(ones).to_vector();
    REQUIRE(static_cast<std::int64_t>(sums.size()) == n);
    bool counts = true;
    for (std::size_t i = 0; i < sums.size(); ++i)
      counts = counts && sums[i] == static_cast<float>(i + 1);
    CHECK(counts);
  }
  const auto sums = cq::cumsum(cq::full(cq::shape{200}, std::int8_t{1})).to_vector();  // C022
  CHECK(sums.back() == 200);
  CHECK(cq::cumsum(cq::ones<bool>(cq::shape{300})).to_vector().back() == 300);
  static_assert(std::is_same_v<decltype(cq::cumsum(cq::ones<std::uint8_t>(cq::shape{1}))),
                               cq::array<std::uint64_t, 1>>);
  CHECK(cq::cumsum(cq::array<float, 1>{-0.f}).to_vector()[0] == 0);
  CHECK(std::signbit(cq::cumsum(cq::array<float, 1>{-0.f}).to_vector()[0]));
}

TEST_CASE("a running sum has the same bits at every call, at each instruction set") {
  const auto x = drawn<float>(cq::shape{100003}, draws<float>(11));
  const auto m = drawn<float>(cq::shape{4321, 21}, draws<float>(12));
  constexpr auto f = cq::trace([](auto u, auto v) {
    return std::tuple{cq::cumsum(u, cq::axis<0>), cq::cumsum(v, cq::axis<0>),
                      cq::cumsum(v, cq::axis<1>), cq::cumprod(u + 1, cq::axis<0>)};
  });
  at_each_isa(
      [&] {
        const auto [a, b, c, d] = f(x, m);
        const auto [p, q, r, s] = f(x, m);
        CHECK(same_bits(a, p));
        CHECK(same_bits(b, q));
        CHECK(same_bits(c, r));
        CHECK(same_bits(d, s));
        CHECK(a(100002) == doctest::Approx(cq::sum(x).item()).epsilon(1e-4));
      },
      f);
}

TEST_CASE("a NaN or infinity reaches the sums after it alone") {
  auto x = cq::ones<float>(cq::shape{100});
  x(40) = std::numeric_limits<float>::infinity();
  const auto sums = cq::cumsum(x);
  CHECK(sums(39) == 40);
  CHECK(std::isinf(sums(40)));
  CHECK(std::isinf(sums(99)));
}

TEST_CASE("a running sum may be written over its input") {
  auto x = drawn<float>(cq::shape{5000}, whole_numbers<float>(0, 9));
  const auto want = cq::cumsum(x).to_vector();
  constexpr auto f = cq::trace([](auto v) { return cq::cumsum(v); });
  for (int call = 0; call < 2; ++call) {
    auto y = x.clone();
    f.into(y, y);
    CHECK(y.to_vector() == want);
  }
}

TEST_CASE("derivatives of running sums and products equal central differences (B8)") {
  constexpr auto f = [](auto x, auto y, auto w) {
    return cq::sum(cq::cumsum(x, cq::axis<1>) * w) + cq::sum(cq::cumsum(x * x, cq::axis<0>) * w) +
           cq::sum(cq::cumprod(y, cq::axis<1>) * w) + cq::sum(cq::cumprod(y, cq::axis<0>) * w);
  };
  const auto w = drawn<double>(cq::shape{3, 5}, between(-1, 1, 9));
  check_slopes<0, 1>(f, drawn<double>(cq::shape{3, 5}, between(-2, 2, 1)),
                     drawn<double>(cq::shape{3, 5}, between(-2, 2, 2)), w);
  // zeros in the data: one, two, none on a line
  cq::array<double, 2> z{{1, 0, 2, 3, -1}, {0, 2, 0, 1, 4}, {1, 2, -1, 3, 0}};
  check_slopes<1>(f, drawn<double>(cq::shape{3, 5}, between(-2, 2, 1)), z, w);
  constexpr auto products = [](auto x) {
    return cq::sum(cq::prod(x, cq::axis<1>)) + cq::prod(x) + cq::sum(cq::prod(x, cq::axis<0, 2>)) +
           cq::sum(cq::prod(x, cq::axis<0>, cq::keepdims) * x);
  };
  check_slopes<0>(products, drawn<double>(cq::shape{2, 3, 2}, between(-2, 2, 4)));
  check_slopes<0>(products,
                  cq::array<double, 3>{{{1, 0}, {2, 3}, {1, 1}}, {{2, 1}, {0, 2}, {3, 1}}});
  check_slopes<0>(products,
                  cq::array<double, 3>{{{1, 0}, {2, 3}, {0, 1}}, {{2, 1}, {0, 2}, {3, 1}}});
  check_slopes<0>(
      [](auto x) { return cq::sum(cq::grad([](auto u) { return cq::prod(u); })(x) * x); },
      cq::array<double, 1>{1.5, 0, -2, 3});
}
