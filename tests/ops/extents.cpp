// Symbolic extents in shapes and as values, constants made in a body, one_hot.
#include "calque/ops/extents.hpp"

#include "support/reference.hpp"

namespace cq = calque;

using namespace calque::test;

TEST_CASE("extents are int64 values that follow the real sizes (A7)") {
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{x.extent(0) + 0, x.extent(-1) * 2, x.size() - 1, x * x.extent(1),
                      x.extent(0) / x.extent(1)};
  });
  for (const auto& s : shapes_of<2>()) {
    const auto x = cq::ones<float>(s);
    const auto [rows, twice, rest, scaled, ratio] = f(x);
    static_assert(std::is_same_v<decltype(rows), const cq::array<std::int64_t, 0>>);
    static_assert(std::is_same_v<decltype(scaled), const cq::array<float, 2>>);
    CHECK(rows.item() == s[0]);
    CHECK(twice.item() == 2 * s[1]);
    CHECK(rest.item() == s.size() - 1);
    CHECK(scaled.to_vector() ==
          std::vector<float>(static_cast<std::size_t>(s.size()), static_cast<float>(s[1])));
    CHECK(ratio.item() == (s[1] == 0 ? 0 : s[0] / s[1]));
  }
  CHECK(f.graphs() == 1);
}

TEST_CASE("arithmetic on extents makes shapes; a negative one is refused (A7)") {
  constexpr auto f = cq::trace([](auto x, auto k) {
    const auto n = x.extent(0);
    return std::tuple{cq::zeros<float>(cq::shape{n + 1, n - 1}, x),
                      cq::ones<int>(cq::shape{n * 2}, x),
                      cq::full(cq::shape{n / 2, k.value}, 2.5, x), cq::zeros_like(x)};
  });
  for (std::int64_t n : {1, 2, 5}) {
    const auto [a, b, c, d] = f(cq::ones<std::uint8_t>(cq::shape{n}), cq::static_<3>);
    CHECK(a.shape() == cq::shape{n + 1, n - 1});
    CHECK(b.to_vector() == std::vector<int>(static_cast<std::size_t>(2 * n), 1));
    CHECK(c.shape() == cq::shape{n / 2, 3});
    static_assert(std::is_same_v<decltype(c), const cq::array<double, 2>>);
    static_assert(std::is_same_v<decltype(d), const cq::array<std::uint8_t, 1>>);
    CHECK(d(n - 1) == 0);
  }
  CHECK_THROWS_AS((void)f(cq::ones<std::uint8_t>(cq::shape{0}), cq::static_<3>), cq::shape_error);
}

TEST_CASE("an extent cast to a narrower or a floating type is refused, not taken as uncast") {
  constexpr auto narrow = [](auto x) {
    return cq::zeros<float>(cq::shape{cq::astype<std::uint8_t>(x.extent(0))}, x);
  };
  constexpr auto back = [](auto x) {
    return cq::zeros<float>(cq::shape{cq::astype<std::int64_t>(cq::astype<int>(x.extent(0))) + 1},
                            x);
  };
  constexpr auto half = [](auto x) {
    return cq::zeros<float>(cq::shape{cq::astype<std::int64_t>(x.extent(0) * 0.5)}, x);
  };
  constexpr auto kept = [](auto x) {
    const auto n = x.extent(0) * std::uint64_t{2};
    return cq::zeros<float>(cq::shape{n, cq::astype<std::int64_t>(n) + 1}, x);
  };
  using vector = cq::array<float, 1>;
  using cq::detail::trace_source;
  static_assert(trace_source<decltype(narrow), vector>::find_fault() == cq::trace_fault::extent);
  static_assert(trace_source<decltype(back), vector>::find_fault() == cq::trace_fault::extent);
  static_assert(trace_source<decltype(half), vector>::find_fault() == cq::trace_fault::extent);
  CHECK_THROWS_AS((void)cq::eager(narrow)(vector{1}), cq::shape_error);
  CHECK(cq::trace(kept)(vector{1, 2}).shape() == cq::shape{4, 5});
}

TEST_CASE("a shape may be an argument; what it makes has extents to compute with (A8)") {
  constexpr auto f = cq::trace([](auto x, auto s) {
    const auto y = cq::broadcast_to(x, s);
    return y + y.extent(0);
  });
  const auto r = f(cq::array<float, 1>{1, 2}, cq::shape{3, 2});
  CHECK(r.to_vector() == std::vector<float>{4, 5, 4, 5, 4, 5});
  CHECK(f(cq::array<float, 1>{1, 2}, cq::shape{0, 2}).shape() == cq::shape{0, 2});
  CHECK(f.graphs() == 1);
}

TEST_CASE("arange counts along its axis in every type, also inside clusters") {
  constexpr auto f = cq::trace([](auto x) {
    const auto n = x.extent(0);
    return std::tuple{cq::arange<int>(n, x), cq::arange<float>(n, x) * 0.5f + 1,
                      cq::arange<std::uint8_t>(4, x), cq::sum(cq::arange<double>(n + 1, x))};
  });
  for (std::int64_t n : {0, 1, 5, 1000}) {
    const auto [whole, half, four, total] = f(cq::zeros<float>(cq::shape{n}));
    for (std::int64_t i = 0; i < n; ++i)
      if (whole(i) != i || half(i) != 0.5f * static_cast<float>(i) + 1) FAIL_CHECK("element ", i);
    CHECK(whole.extent(0) == n);
    CHECK(four.to_vector() == std::vector<std::uint8_t>{0, 1, 2, 3});
    CHECK(total.item() == static_cast<double>(n * (n + 1) / 2));
  }
}

TEST_CASE("one_hot has a 1 at each label and zeros for labels outside (B9)") {
  constexpr auto f = cq::trace([](auto k) { return cq::one_hot<float>(k, 3); });
  CHECK(f(cq::array<std::int32_t, 1>{0, 2, 3, -1}).to_vector() ==
        std::vector<float>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(f(cq::array<std::uint8_t, 1>{255, 1})(1, 1) == 1);
  CHECK(cq::sum(f(cq::array<std::uint8_t, 1>{255})).item() == 0);
  CHECK(f(cq::zeros<std::int64_t>(cq::shape{0})).shape() == cq::shape{0, 3});
  CHECK(f(cq::array<std::int64_t, 1>{std::numeric_limits<std::int64_t>::min(),
                                     (std::int64_t{1} << 32) + 1})
            .to_vector() == std::vector<float>(6, 0.f));
  const auto square = cq::one_hot<int>(cq::array<std::int16_t, 2>{{1, 0}, {2, 5}}, 2);
  CHECK(square.shape() == cq::shape{2, 2, 2});
  CHECK(square.to_vector() == std::vector<int>{0, 1, 1, 0, 0, 0, 0, 0});
  constexpr auto symbolic =
      cq::trace([](auto k, auto x) { return cq::one_hot<bool>(k, x.extent(1)); });
  CHECK(symbolic(cq::array<int, 1>{1}, cq::zeros<float>(cq::shape{1, 4})).to_vector() ==
        std::vector<bool>{false, true, false, false});
  for (std::int64_t n : lengths) {
    const auto k = cq::arange<std::int32_t>(n);
    const auto hot = f(cq::slice(k, cq::range{cq::range::open, cq::range::open, -1}));
    CHECK(cq::sum(hot).item() == static_cast<float>(n < 3 ? n : 3));
  }
}

TEST_CASE("a one_hot of more classes than a narrow label type counts keeps each class once") {
  const auto hot = cq::one_hot<int>(cq::array<std::uint8_t, 1>{3, 255}, 300);
  CHECK(cq::sum(hot).item() == 2);
  CHECK(hot(0, 3) == 1);
  CHECK(hot(1, 255) == 1);
  const auto negative = cq::one_hot<int>(cq::array<std::int8_t, 1>{-1, 127, 5}, 300);
  CHECK(cq::sum(negative).item() == 2);
  CHECK(negative(1, 127) == 1);
  CHECK(cq::sum(cq::one_hot<int>(cq::array<std::int8_t, 1>{-1}, 256)).item() == 0);
}
