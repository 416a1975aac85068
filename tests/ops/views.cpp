// transpose, reshape, broadcast_to and sum_to of symbols against plain loops, alone and between
// elementwise operations; derivatives.
#include "calque/ops/views.hpp"

#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

template <int... P>
void check_transpose() {
  constexpr int R = sizeof...(P);
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{cq::transpose<P...>(x), cq::transpose<P...>(x) + cq::transpose<P...>(x * 2)};
  });
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<R>())
    for (layout how : layouts) {
      const auto x = laid_out<float>(s, how, draws<float>(++seed));
      const auto want = permuted(dense_of(x), {P...});
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto [view, sum] = f(x);
      CALQUE_CHECK_MATCHES(view, want, 0);
      CALQUE_CHECK_MATCHES(sum, zip([](auto v) { return 3 * v; }, want), 1);
    }
}

template <class T>
dense<T> reshaped(dense<T> d, const std::vector<std::int64_t>& shape) {
  d.shape = shape;
  return d;
}

}  // namespace

TEST_CASE("transpose permutes axes of any layout, alone and inside clusters (B9)") {
  check_transpose<0>();
  check_transpose<1, 0>();
  check_transpose<0, 1>();
  check_transpose<2, 0, 1>();
  check_transpose<3, 1, 0, 2>();
  const auto x = drawn<std::int64_t>(cq::shape{2, 3, 4}, draws<std::int64_t>(1));
  constexpr auto f = cq::trace([](auto v) { return cq::transpose(v) + 0; });
  CALQUE_CHECK_MATCHES(f(x), permuted(dense_of(x), {2, 1, 0}), 0);
}

TEST_CASE("reshape keeps row-major order whatever the layout, and refuses other counts (B9)") {
  constexpr auto flat = cq::trace([](auto x) {
    return cq::reshape(x, cq::shape{x.extent(0) * x.extent(1) * x.extent(2)}) * 2;
  });
  constexpr auto split = cq::trace([](auto x) {
    return std::tuple{
        cq::reshape(x, cq::shape{1, x.extent(0), x.extent(1) * x.extent(2)}),
        cq::reshape(cq::transpose(x), cq::shape{x.extent(1), x.size() / x.extent(1)}) + 1};
  });
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<3>())
    for (layout how : layouts) {
      const auto x = laid_out<double>(s, how, draws<double>(++seed));
      const auto a = dense_of(x);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      CALQUE_CHECK_MATCHES(flat(x), zip([](auto v) { return 2 * v; }, reshaped(a, {a.size()})), 0);
      if (s[1] == 0) {
        CHECK(std::get<1>(split(x)).shape() == cq::shape{0, 0});
        continue;
      }
      const auto [three, two] = split(x);
      CALQUE_CHECK_MATCHES(three, reshaped(a, {1, s[0], s[1] * s[2]}), 0);
      CALQUE_CHECK_MATCHES(two,
                           zip([](auto v) { return v + 1; },
                               reshaped(permuted(a, {2, 1, 0}), {s[1], a.size() / s[1]})),
                           1);
    }
  constexpr auto fixed = cq::trace([](auto x) { return cq::reshape(x, cq::shape{2, 3}); });
  CHECK(fixed(cq::arange<float>(6))(1, 0) == 3);
  CHECK_THROWS_AS((void)fixed(cq::arange<float>(5)), cq::shape_error);
  constexpr auto scalar = cq::trace([](auto x) {
    return std::tuple{cq::reshape(x, cq::shape{1, 1}),
                      cq::reshape(cq::reshape(x, cq::shape{1}), cq::shape<0>())};
  });
  const auto [wide, back] = scalar(cq::array<float, 0>(7.f));
  CHECK(wide(0, 0) == 7);
  CHECK(back.item() == 7);
}

TEST_CASE(
    "broadcast_to repeats along new and size-1 axes and refuses what does not fit (B9, C031)") {
  constexpr auto f = cq::trace([](auto x, auto like) { return cq::broadcast_to(x, like.shape()); });
  constexpr auto g = cq::trace([](auto x, auto s) { return cq::broadcast_to(x, s) * 2 + 1; });
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<3>())
    for (unsigned ones = 0; ones < 4; ++ones) {
      const cq::shape<2> from{(ones & 1u) ? 1 : s[1], (ones & 2u) ? 1 : s[2]};
      const auto x = laid_out<std::int32_t>(from, layouts[ones], draws<std::int32_t>(++seed));
      const auto want =
          zip([](auto v, auto) { return v; }, dense_of(x), dense_of(cq::zeros<float>(s)));
      INFO("extents ", cq::to_string(from), " to ", cq::to_string(s));
      CALQUE_CHECK_MATCHES(f(x, cq::zeros<bool>(s)), want, 0);
      CALQUE_CHECK_MATCHES(g(x, s), zip([](auto v) { return 2 * v + 1; }, want), 0);
    }
  CHECK_THROWS_AS((void)g(cq::zeros<float>(cq::shape{2, 3}), cq::shape{2, 2}), cq::shape_error);
  CHECK_THROWS_AS((void)g(cq::zeros<float>(cq::shape{3}), cq::shape{0}), cq::shape_error);
  CHECK(g(cq::zeros<float>(cq::shape{1}), cq::shape{0}).shape() == cq::shape{0});
}

TEST_CASE("sum_to adds up what broadcasting to its operand would repeat (C056)") {
  constexpr auto two = cq::trace([](auto x, auto s) { return cq::sum_to(x, s); });
  constexpr auto mapped = cq::trace([](auto x, auto s) { return cq::sum_to(x * 2 + 1, s) / 2; });
  std::uint64_t seed = 0;
  const auto check = [&]<int R>(const cq::shape<3>& s, const cq::shape<R>& to) {
    for (layout how : layouts) {
      const auto x = laid_out<std::int64_t>(s, how, draws<std::int64_t>(++seed));
      auto a = dense_of(x);
      const auto fold = [&](auto d) {
        for (int i = 0; i < R; ++i)
          if (to[i] == 1 && s[3 - R + i] != 1)
            d = reduce(d, 1u << (3 - R + i), true, [](const auto& g) {
              __int128 t = 0;
              for (auto v : g) t += v;
              return t;
            });
        return reduce(d, (1u << (3 - R)) - 1u, false, [](const auto& g) {
          __int128 t = 0;
          for (auto v : g) t += v;
          return t;
        });
      };
      INFO("extents ", cq::to_string(s), " to ", cq::to_string(to), ", layout ",
           static_cast<int>(how));
      CALQUE_CHECK_MATCHES(two(x, to), fold(a), 0);
      CALQUE_CHECK_MATCHES(
          mapped(x, to),
          zip([](auto v) { return v / 2; }, fold(zip([](auto v) { return 2 * v + 1; }, a))), 0);
    }
  };
  for (const auto& s : shapes_of<3>()) {
    for (unsigned ones = 0; ones < 8; ++ones)
      check(s,
            cq::shape<3>{(ones & 1u) ? 1 : s[0], (ones & 2u) ? 1 : s[1], (ones & 4u) ? 1 : s[2]});
    for (unsigned ones = 0; ones < 2; ++ones) check(s, cq::shape<1>{ones ? 1 : s[2]});
    check(s, cq::shape<0>());
  }
  CHECK_THROWS_AS((void)two(cq::zeros<float>(cq::shape{2, 3, 4}), cq::shape{2, 4}),
                  cq::shape_error);
  const auto counts = two(cq::ones<bool>(cq::shape{300}), cq::shape{1});  // as cq::sum (C002)
  static_assert(std::is_same_v<decltype(counts), const cq::array<std::int64_t, 1>>);
  CHECK(counts(0) == 300);
  CHECK(two(cq::full(cq::shape{2, 300}, std::uint8_t{255}), cq::shape{2, 1})(1, 0) == 76500);
}

TEST_CASE("every operation accepts operands of stride 0 (C068)") {
  const auto x = cq::broadcast_to(cq::array<float, 1>{2.5f}, cq::shape{4});
  CHECK(cq::sum(x).item() == 10);
  CHECK(cq::max(x).item() == 2.5f);
  CHECK(cq::argmax(x).item() == 0);
  CHECK((x + x).to_vector() == std::vector<float>(4, 5.f));
  CHECK(cq::exp(x)(3) == cq::exp(cq::array<float, 1>{2.5f})(0));
  const auto m = cq::broadcast_to(x, cq::shape{3, 4});
  CHECK(cq::matmul(m, cq::transpose(m))(2, 2) == 25);
  CHECK(cq::softmax(m, cq::axis<0>)(1, 1) == doctest::Approx(1.0 / 3));
  CHECK(cq::reshape(m, cq::shape{12})(11) == 2.5f);
  constexpr auto f =
      cq::trace([](auto v) { return cq::reshape(cq::transpose(v), cq::shape{v.size()}) + 1; });
  CHECK(f(m).to_vector() == std::vector<float>(12, 3.5f));
}

TEST_CASE("derivatives go back through views to the extents of their operand") {
  const auto x = drawn<double>(cq::shape{2, 3}, draws<double>(1));
  const auto w = drawn<double>(cq::shape{3, 2}, draws<double>(2));
  constexpr auto f = [](auto v, auto u) {
    const auto t = cq::transpose(v) * u;
    const auto r = cq::reshape(v, cq::shape{v.size()});
    const auto b = cq::broadcast_to(v, cq::shape{4, v.extent(0), v.extent(1)});
    return cq::sum(t * t) + cq::sum(r * r * r) + cq::sum(b);
  };
  const auto g = cq::grad(f)(x, w);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const double v = x(i, j), u = w(j, i);
      CHECK(g(i, j) == doctest::Approx(2 * v * u * u + 3 * v * v + 4));
    }
}
