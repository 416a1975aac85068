// conv2d and max_pool2d against plain loops: sizes, strides, padding, layouts; NaN, ties;
// derivatives; what does not fit.
#include "calque/calque.hpp"

#include "support/reference.hpp"
#include "support/slopes.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

struct setting {
  std::int64_t stride[2], padding[2];
};

template <class V>
class image {
 public:
  explicit image(const dense<V>& d) : d_(d) {}
  [[nodiscard]] bool inside(std::int64_t h, std::int64_t w) const {
    return h >= 0 && w >= 0 && h < d_.shape[2] && w < d_.shape[3];
  }
  [[nodiscard]] V at(std::int64_t a, std::int64_t b, std::int64_t h, std::int64_t w) const {
    return d_.data[static_cast<std::size_t>(
        ((a * d_.shape[1] + b) * d_.shape[2] + h) * d_.shape[3] + w)];
  }

 private:
  const dense<V>& d_;
};

template <class V>
dense<V> convolved(const dense<V>& x, const dense<V>& f, const setting& s) {
  const auto& e = x.shape;
  const auto& k = f.shape;
  dense<V> r{{e[0], k[0], (e[2] + 2 * s.padding[0] - k[2]) / s.stride[0] + 1,
              (e[3] + 2 * s.padding[1] - k[3]) / s.stride[1] + 1},
             {}};
  const image<V> in(x), filter(f);
  for (std::int64_t n = 0; n < r.shape[0]; ++n)
    for (std::int64_t o = 0; o < r.shape[1]; ++o)
      for (std::int64_t h = 0; h < r.shape[2]; ++h)
        for (std::int64_t w = 0; w < r.shape[3]; ++w) {
          V sum = 0;
          for (std::int64_t c = 0; c < k[1]; ++c)
            for (std::int64_t i = 0; i < k[2]; ++i)
              for (std::int64_t j = 0; j < k[3]; ++j) {
                const std::int64_t y = h * s.stride[0] + i - s.padding[0],
                                   z = w * s.stride[1] + j - s.padding[1];
                if (in.inside(y, z)) sum += in.at(n, c, y, z) * filter.at(o, c, i, j);
              }
          r.data.push_back(sum);
        }
  return r;
}
template <class V>
dense<V> pooled(const dense<V>& x, const std::int64_t (&k)[2], const setting& s, V least) {
  const auto& e = x.shape;
  dense<V> r{{e[0], e[1], (e[2] + 2 * s.padding[0] - k[0]) / s.stride[0] + 1,
              (e[3] + 2 * s.padding[1] - k[1]) / s.stride[1] + 1},
             {}};
  const image<V> in(x);
  for (std::int64_t n = 0; n < r.shape[0]; ++n)
    for (std::int64_t c = 0; c < r.shape[1]; ++c)
      for (std::int64_t h = 0; h < r.shape[2]; ++h)
        for (std::int64_t w = 0; w < r.shape[3]; ++w) {
          V best = least;
          for (std::int64_t i = 0; i < k[0]; ++i)
            for (std::int64_t j = 0; j < k[1]; ++j) {
              const std::int64_t y = h * s.stride[0] + i - s.padding[0],
                                 z = w * s.stride[1] + j - s.padding[1];
              if (!in.inside(y, z) || best != best) continue;
              const V v = in.at(n, c, y, z);
              if (v > best || v != v) best = v;
            }
          r.data.push_back(best);
        }
  return r;
}

constexpr std::int64_t images[][4] = {
    {2, 3, 5, 6}, {1, 1, 3, 3}, {0, 2, 4, 4}, {3, 1, 1, 8}, {1, 2, 7, 3}};

}  // namespace

TEST_CASE("conv2d equals plain loops for sizes, layouts and types (B9)") {
  constexpr auto plain = cq::trace([](auto x, auto w) { return cq::conv2d(x, w); });
  constexpr auto strided =
      cq::trace([](auto x, auto w) { return cq::conv2d(x, w, {2, 1}, {1, 2}); });
  std::uint64_t seed = 0;
  for (const auto& e : images)
    for (layout how : layouts) {
      const cq::shape<4> s{e[0], e[1], e[2], e[3]};
      const auto x = laid_out<std::int32_t>(s, how, draws<std::int32_t>(++seed));
      const auto w =
          laid_out<std::int32_t>(cq::shape{2, s[1], 1 + (s[2] > 1), 3}, layouts[(seed + 1) % 5],
                                 draws<std::int32_t>(seed + 50));
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto a = dense_of(x), f = dense_of(w);
      for (int replay = 0; replay < 2; ++replay) {
        CALQUE_CHECK_MATCHES(plain(x, w), convolved(a, f, {{1, 1}, {0, 0}}), 0);
        CALQUE_CHECK_MATCHES(strided(x, w), convolved(a, f, {{2, 1}, {1, 2}}), 0);
      }
      CALQUE_CHECK_MATCHES(cq::conv2d(x, w, 1, 1), convolved(a, f, {{1, 1}, {1, 1}}), 0);
      if (how == layout::reversed)
        CALQUE_CHECK_MATCHES(cq::eager(strided)(x, w), convolved(a, f, {{2, 1}, {1, 2}}), 0);
    }
  const auto x = drawn<double>(cq::shape{2, 3, 9, 8}, draws<double>(1));
  const auto w = drawn<double>(cq::shape{4, 3, 3, 3}, draws<double>(2));
  const auto want = convolved(dense_of(x), dense_of(w), {{1, 1}, {0, 0}});
  const auto got = dense_of(plain(x, w));
  for (std::size_t i = 0; i < want.data.size(); ++i)
    CHECK(std::fabs(got.data[i] - want.data[i]) < 1e-12);
}

TEST_CASE("max_pool2d equals plain loops; NaN wins, padding does not (B9, C010)") {
  constexpr auto two = cq::trace([](auto x) { return cq::max_pool2d(x, {1, 2}); });
  constexpr auto framed = cq::trace([](auto x) { return cq::max_pool2d(x, 3, {2, 1}, 1) + 0; });
  std::uint64_t seed = 0;
  for (const auto& e : images)
    for (layout how : layouts) {
      const cq::shape<4> s{e[0], e[1], e[2], e[3]};
      const auto x = laid_out<float>(s, how, draws<float>(++seed, 0.05));
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      constexpr long double least = -std::numeric_limits<long double>::infinity();
      const auto a = dense_of(x);
      for (int replay = 0; replay < 2; ++replay) {
        CALQUE_CHECK_MATCHES(two(x), pooled(a, {1, 2}, {{1, 2}, {0, 0}}, least), 0);
        CALQUE_CHECK_MATCHES(framed(x), pooled(a, {3, 3}, {{2, 1}, {1, 1}}, least), 0);
      }
      CALQUE_CHECK_MATCHES(cq::max_pool2d(x, 1, 2), pooled(a, {1, 1}, {{2, 2}, {0, 0}}, least), 0);
      if (how == layout::reversed)
        CALQUE_CHECK_MATCHES(cq::eager(framed)(x), pooled(a, {3, 3}, {{2, 1}, {1, 1}}, least), 0);
    }
  const cq::array<std::int8_t, 2> low{{-128, -5}, {-7, -128}};
  CHECK(cq::max_pool2d(low, 2, 1, 1).to_vector() ==
        std::vector<std::int8_t>{-128, -5, -5, -7, -5, -5, -7, -7, -128});
}

TEST_CASE("windows that do not fit are refused, naming the operation and its operands") {
  constexpr auto f = cq::trace([](auto x, auto w) { return cq::conv2d(x, w, 1, 1); });
  constexpr auto g = cq::trace([](auto x) { return cq::max_pool2d(x, {2, 5}, 1); });
  constexpr auto still = cq::trace([](auto x) { return cq::max_pool2d(x, 2, 0); });
  const auto z = [](auto... e) { return cq::zeros<float>(cq::shape{e...}); };
  CHECK_THROWS_WITH_AS((void)f(z(1, 2, 2, 3), z(1, 2, 5, 3)),
                       doctest::Contains("conv2d: a is f32[1,2,4,5], b is f32[1,2,5,3]: the "
                                         "window's extent 5 is larger than extent 4 of axis 2"),
                       cq::shape_error);
  CHECK_THROWS_WITH_AS((void)f(z(1, 2, 4, 4), z(1, 3, 2, 2)),
                       doctest::Contains("extents 2 and 3 of axis 1 (the channels) differ"),
                       cq::shape_error);
  CHECK_THROWS_WITH_AS((void)g(z(1, 2, 3, 4)),
                       doctest::Contains("max_pool2d: a is f32[1,2,3,4]: the window's extent 5"),
                       cq::shape_error);
  CHECK_THROWS_AS((void)still(z(1, 1, 3, 3)), cq::shape_error);
  CHECK_THROWS_AS((void)cq::conv2d(z(1, 1, 2, 2), z(1, 1, 3, 3)), cq::shape_error);
}

TEST_CASE("an image is read in place by a 1 x 1 filter and by pooling (A5)") {
  constexpr auto point = cq::trace([](auto x, auto w) { return cq::conv2d(x, w); });
  constexpr auto pool = cq::trace([](auto x) { return cq::max_pool2d(x, 2); });
  const auto x = drawn<float>(cq::shape{2, 3, 4, 4}, draws<float>(1));
  const auto w = drawn<float>(cq::shape{5, 3, 1, 1}, draws<float>(2));
  CHECK(point.plan(x, w).dump().find(" 1 kernels, arena 0 B") != std::string::npos);
  CHECK(pool.plan(x).dump().find(" 1 kernels") != std::string::npos);
}

TEST_CASE("derivatives of conv2d and max_pool2d; that of a tie goes to the first (B9)") {
  between draw(-1, 1);
  const auto fill = [&](auto s) { return drawn<double>(s, [&] { return draw(); }); };
  constexpr auto f = [](auto x, auto w) {
    const auto y = cq::conv2d(x, w, {2, 1}, {1, 0});
    return cq::sum(y * y * y) + cq::sum(cq::conv2d(x, w));
  };
  check_slopes<0, 1>(f, fill(cq::shape{2, 2, 4, 3}), fill(cq::shape{2, 2, 2, 2}));
  constexpr auto g = [](auto x) {
    const auto y = cq::max_pool2d(x, 2, 1, 1);
    return cq::sum(y * y) + cq::sum(cq::exp(cq::max_pool2d(x, {2, 1})));
  };
  check_slopes<0>(g, fill(cq::shape{1, 2, 4, 3}));
  constexpr auto step = cq::trace([](auto w, auto x) {  // filters that are a variable
    const auto r = cq::value_and_grad(
        [](auto v, auto u) { return cq::sum(cq::max_pool2d(cq::conv2d(u, v, 1, 1), 2)); },
        cq::wrt<0>)(w, x);
    w -= r.grad;
    return r.value;
  });
  const cq::variable<float, 4> w{cq::ones<float>(cq::shape{1, 1, 3, 3}), "w"};
  CHECK(step(w, cq::ones<float>(cq::shape{1, 1, 2, 2})).item() == 4);
  CHECK(w.value().to_vector() == std::vector<float>{1, 1, 1, 1, 0, 0, 1, 0, 0});
  const auto ties = cq::grad([](auto x) { return cq::sum(cq::max_pool2d(x, 2)); })(
      cq::ones<float>(cq::shape{1, 1, 2, 4}));
  CHECK(ties.to_vector() == std::vector<float>{1, 0, 1, 0, 0, 0, 0, 0});
}
