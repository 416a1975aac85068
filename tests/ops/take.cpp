// take and scatter_add against plain loops, for all layouts; what an index out of range leaves
// behind; derivatives.
#include "calque/ops/take.hpp"

#include "support/reference.hpp"
#include "support/slopes.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

/// Calls `f(element of the part, element of the whole)`.
template <class V, class I, class F>
void each_index(const std::vector<std::int64_t>& whole, const dense<I>& at, std::size_t axis, F f) {
  std::int64_t outer = 1, inner = 1, part = 0;
  for (std::size_t i = 0; i < axis; ++i) outer *= whole[i];
  for (std::size_t i = axis + 1; i < whole.size(); ++i) inner *= whole[i];
  for (std::int64_t o = 0; o < outer; ++o)
    for (I k : at.data)
      for (std::int64_t e = 0; e < inner; ++e)
        f(static_cast<std::size_t>(part++),
          static_cast<std::size_t>((o * whole[axis] + static_cast<std::int64_t>(k)) * inner + e));
}
template <class V, class I>
dense<V> taken(const dense<V>& x, const dense<I>& at, std::size_t axis) {
  dense<V> r;
  r.shape.assign(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  r.shape.insert(r.shape.end(), at.shape.begin(), at.shape.end());
  r.shape.insert(r.shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
                 x.shape.end());
  each_index<V>(x.shape, at, axis, [&](auto, auto from) { r.data.push_back(x.data[from]); });
  return r;
}
template <class V, class I>
dense<V> added(dense<V> x, const dense<I>& at, const dense<V>& updates, std::size_t axis) {
  each_index<V>(x.shape, at, axis, [&](auto from, auto to) { x.data[to] += updates.data[from]; });
  return x;
}
template <class I, int R>
auto drawn_indices(const cq::shape<R>& s, layout how, std::int64_t extent, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return laid_out<I>(s, how, [&] {
    return static_cast<I>(random() % static_cast<std::uint64_t>(std::max<std::int64_t>(1, extent)));
  });
}

template <int Axis, class T, class I>
void check_taking() {
  constexpr auto take = cq::trace([](auto x, auto i) { return cq::take(x, i, cq::axis<Axis>); });
  constexpr auto fused =
      cq::trace([](auto x, auto i) { return cq::take(x + x, i, cq::axis<Axis>) + 1; });
  std::uint64_t seed = 0;
  constexpr auto axis = static_cast<std::size_t>(Axis < 0 ? Axis + 3 : Axis);
  for (const auto& s : shapes_of<3>())
    for (layout how : layouts) {
      const auto x = laid_out<T>(s, how, draws<T>(++seed));
      const auto extent = s[static_cast<int>(axis)];
      const auto i =
          drawn_indices<I>(cq::shape<2>{extent == 0 ? 0 : 2, 3}, layouts[seed % 5], extent, seed);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto want = taken(dense_of(x), dense_of(i), axis);
      for (int replay = 0; replay < 2; ++replay) {
        CALQUE_CHECK_MATCHES(take(x, i), want, 0);
        CALQUE_CHECK_MATCHES(fused(x, i), zip([](auto v) { return v + v + 1; }, want), 1);
      }
      CALQUE_CHECK_MATCHES(cq::eager(take)(x, i), want, 0);
      CALQUE_CHECK_MATCHES(cq::take(x, i, cq::axis<Axis>), want, 0);
    }
}

template <class I>
void check_adding() {
  constexpr auto f =
      cq::trace([](auto x, auto i, auto u) { return cq::scatter_add(x, i, u, cq::axis<1>); });
  constexpr auto chained = cq::trace([](auto x, auto i, auto u) {
    const auto y = x + 1;
    return std::tuple{cq::scatter_add(cq::scatter_add(y, i, u, cq::axis<1>), i, -u, cq::axis<1>),
                      y * 2};
  });
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<3>())
    for (layout how : layouts) {
      const auto x = laid_out<std::int64_t>(s, how, draws<std::int64_t>(++seed));
      const std::int64_t n = s[1] == 0 ? 0 : 5;
      const auto i = drawn_indices<I>(cq::shape<1>{n}, layouts[seed % 5], s[1], seed);
      const auto u = laid_out<std::int64_t>(cq::shape<3>{s[0], n, s[2]}, layouts[(seed + 1) % 5],
                                            draws<std::int64_t>(seed + 100));
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto want = added(dense_of(x), dense_of(i), dense_of(u), 1);
      for (int replay = 0; replay < 2; ++replay) {
        CALQUE_CHECK_MATCHES(f(x, i, u), want, 0);
        const auto [same, twice] = chained(x, i, u);
        CALQUE_CHECK_MATCHES(same, zip([](auto v) { return v + 1; }, dense_of(x)), 0);
        CALQUE_CHECK_MATCHES(twice, zip([](auto v) { return 2 * v + 2; }, dense_of(x)), 0);
      }
      CALQUE_CHECK_MATCHES(cq::eager(f)(x, i, u), want, 0);
    }
}

}  // namespace

TEST_CASE("take gathers along each axis, for layouts and index types (B9)") {
  check_taking<0, float, std::int32_t>();
  check_taking<1, std::uint8_t, std::int64_t>();
  check_taking<-1, double, std::int32_t>();
}
TEST_CASE("scatter_add adds in order, also twice at one index (B9)") {
  check_adding<std::int32_t>();
  check_adding<std::int64_t>();
  const cq::array<int, 1> labels{1, 3, 1, 1};
  CHECK(cq::scatter_add(cq::zeros<int>(cq::shape{4}), labels, 1, cq::axis<0>).to_vector() ==
        std::vector<int>{0, 3, 0, 1});
  static_assert(
      std::is_same_v<decltype(cq::scatter_add(cq::zeros<int>(cq::shape{4}), labels,
                                              cq::ones<float>(cq::shape{4}), cq::axis<0>)),
                     cq::array<float, 1>>);
}
TEST_CASE("one index takes one row; an index may be a number of the call") {
  constexpr auto row = cq::trace([](auto x, auto i) { return cq::take(x, i, cq::axis<0>) * 2; });
  const cq::array<float, 2> x{{1, 2}, {3, 4}, {5, 6}};
  CHECK(row(x, 2).to_vector() == std::vector<float>{10, 12});
  CHECK(row(x, std::int64_t{0}).to_vector() == std::vector<float>{2, 4});
  CHECK(cq::take(x, 1, cq::axis<1>).to_vector() == std::vector<float>{2, 4, 6});
}

TEST_CASE("an index out of range names itself, its axis and the operands") {
  constexpr auto f = cq::trace([](auto x, auto i) { return cq::take(x, i, cq::axis<0>); });
  const auto x = cq::zeros<float>(cq::shape{5, 3});
  for (std::int64_t bad : {5, -1, 1 << 20}) {
    const cq::array<std::int64_t, 1> i{0, 4, bad};
    const std::string text = "take: a is f32[5,3], b is i64[3]",
                      why = "index " + std::to_string(bad) +
                            " is outside axis 0 of extent 5; give indices from 0 to 4";
    CHECK_THROWS_WITH_AS((void)f(x, i), doctest::Contains(text.c_str()), cq::index_error);
    CHECK_THROWS_WITH_AS((void)f(x, i), doctest::Contains(why.c_str()), cq::index_error);
    CHECK_THROWS_WITH_AS((void)cq::eager(f)(x, i), doctest::Contains(why.c_str()), cq::index_error);
    CHECK_THROWS_AS((void)cq::take(x, i, cq::axis<0>), cq::index_error);
  }
  CHECK_THROWS_AS((void)f(cq::zeros<float>(cq::shape{0, 3}), cq::array<std::int64_t, 1>{0}),
                  cq::index_error);
  CHECK(f(cq::zeros<float>(cq::shape{0, 3}), cq::zeros<int>(cq::shape{0})).shape() ==
        cq::shape{0, 3});
  // also where there is nothing to take but an index all the same
  CHECK_THROWS_AS((void)f(cq::zeros<float>(cq::shape{2, 0}), cq::array<std::int64_t, 1>{2}),
                  cq::index_error);
  constexpr auto g =
      cq::trace([](auto a, auto i, auto u) { return cq::scatter_add(a, i, u, cq::axis<0>); });
  CHECK_THROWS_WITH_AS((void)g(x, cq::array<int, 1>{0, 1}, cq::zeros<float>(cq::shape{2, 2})),
                       doctest::Contains("extents 3 and 2 of axis 1 of the updates differ"),
                       cq::shape_error);
  CHECK_THROWS_AS((void)g(x, cq::array<int, 1>{0, 7}, 1), cq::index_error);
}

TEST_CASE("a call that throws leaves variables and outs as they were") {
  constexpr auto early = cq::trace([](auto w, auto x, auto i) {  // the check can come first
    w.assign(w * 2);
    const auto y = cq::take(x, i, cq::axis<0>);
    return std::tuple{x + 1, y};
  });
  constexpr auto late = cq::trace([](auto w, auto v, auto x, auto i) {  // indices need w's value
    v += 1;
    w.assign(w + i);
    const auto y = cq::take(x, w + 0, cq::axis<0>);
    w.assign(w - i);
    v += cq::sum(y);
    return x + 1;
  });
  const cq::array<float, 1> x{1, 2, 3};
  cq::array<float, 1> p{7, 7, 7}, q{8, 8};
  const cq::variable<std::int64_t, 1> w{cq::array<std::int64_t, 1>{0, 1}, "w"};
  const cq::variable<float, 0> v{cq::array<float, 0>(10.f), "v"};
  const auto untouched = [&](std::vector<std::int64_t> values) {
    CHECK(w.value().to_vector() == values);
    CHECK(p.to_vector() == std::vector<float>{7, 7, 7});
    CHECK(q.to_vector() == std::vector<float>{8, 8});
    CHECK(v.value().item() == 10);
  };
  for (int replay = 0; replay < 2; ++replay) {
    CHECK_THROWS_AS(early.into(cq::outs(p, q), w, x, cq::array<int, 1>{0, 3}), cq::index_error);
    untouched({0, 1});
    CHECK_THROWS_AS(late.into(p, w, v, x, cq::array<std::int64_t, 1>{0, 5}), cq::index_error);
    untouched({0, 1});
  }
  late.into(p, w, v, x, cq::array<std::int64_t, 1>{2, 0});
  CHECK(w.value().to_vector() == std::vector<std::int64_t>{0, 1});
  CHECK(v.value().item() == 10 + 1 + 3 + 2);
  CHECK(p.to_vector() == std::vector<float>{2, 3, 4});
  early.into(cq::outs(p, q), w, x, cq::array<int, 1>{0, 2});
  CHECK(w.value().to_vector() == std::vector<std::int64_t>{0, 2});
  CHECK(q.to_vector() == std::vector<float>{1, 3});
}

TEST_CASE("inside loops and branches only what runs is checked; a late throw undoes early steps") {
  constexpr auto f = cq::trace([](auto w, auto x, auto i, auto n, auto p) {
    cq::for_loop(n, cq::zeros<float>(cq::shape{1}, x), [&](auto k, auto s) {
      w += cq::take(x, i + cq::astype<int>(k), cq::axis<0>);
      return s;
    });
    return cq::cond(p, [&] { return cq::take(x, i + 1, cq::axis<0>); }, [&] { return w + 0; });
  });
  const cq::array<float, 1> x{1, 2, 4};
  const cq::variable<float, 1> w{cq::array<float, 1>{0, 0}, "w"};
  const cq::array<int, 1> i{0, 1}, far{2, 2};
  CHECK(f(w, x, i, 2, true).to_vector() == std::vector<float>{2, 4});
  CHECK(w.value().to_vector() == std::vector<float>{3, 6});
  CHECK_THROWS_AS((void)f(w, x, i, 3, true), cq::index_error);
  CHECK(w.value().to_vector() == std::vector<float>{3, 6});
  CHECK_THROWS_AS((void)f(w, x, far, 0, true), cq::index_error);
  CHECK(f(w, x, far, 0, false).to_vector() == std::vector<float>{3, 6});
  CHECK(f(w, x, far, 1, false).to_vector() == std::vector<float>{7, 10});
}

TEST_CASE("derivatives of take are sums over repeated indices, of scatter_add takes") {
  between draw(-2, 2);
  const auto x = drawn<double>(cq::shape{4, 3}, [&] { return draw(); });
  const auto u = drawn<double>(cq::shape{5, 3}, [&] { return draw(); });
  const cq::array<int, 1> i{1, 3, 1, 0, 1};
  constexpr auto f = [](auto a, auto b, auto at) {
    const auto t = cq::take(a, at, cq::axis<0>);
    const auto s = cq::scatter_add(a * a, at, b * t, cq::axis<0>);
    return cq::sum(s * s) + cq::sum(cq::exp(t) * b);
  };
  check_slopes<0, 1>(f, x, u, i);
  constexpr auto step = cq::trace([](auto w, auto at) {  // an embedding's update, in place
    const auto r = cq::value_and_grad(
        [](auto v, auto k) { return cq::sum(cq::take(v, k, cq::axis<0>)); }, cq::wrt<0>)(w, at);
    w -= 0.5f * r.grad;
    return r.value;
  });
  const cq::variable<float, 2> w{cq::ones<float>(cq::shape{4, 2}), "w"};
  CHECK(step(w, i).item() == 10);
  CHECK(w.value().to_vector() == std::vector<float>{0.5, 0.5, -0.5, -0.5, 1, 1, 0.5, 0.5});
}
