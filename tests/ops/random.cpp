// Random numbers: the published vectors of the generator, what elements depend on, order of draws
// in bodies, branches and loops, moments, and dropout with its derivative.
#include "calque/ops/random.hpp"

#include <algorithm>
#include <cmath>

#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

constexpr auto noise =
    cq::trace([](auto x, auto state) { return x + cq::random::uniform<float>(state, x.shape()); });

template <class T>
struct moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0;
  explicit moments(const std::vector<T>& v) {
    const auto n = static_cast<double>(v.size());
    for (T x : v) mean += static_cast<double>(x) / n;
    for (T x : v) {
      const double d = static_cast<double>(x) - mean;
      variance += d * d / n, skew += d * d * d / n, kurtosis += d * d * d * d / n;
    }
    skew /= std::pow(variance, 1.5), kurtosis /= variance * variance;
  }
};

}  // namespace

TEST_CASE("the generator gives the published vectors of Philox4x32-10") {
  struct row {
    std::uint32_t counter[4];
    std::uint64_t key;
    std::uint32_t want[4];
  };
  const row table[] = {// Random123's kat_vectors
                       {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                       {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                        0xffffffffffffffff,
                        {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                       {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                        0x299f31d0a4093822,
                        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (const row& r : table) {
    const auto got =
        cq::detail::philox4x32({{r.counter[0], r.counter[1], r.counter[2], r.counter[3]}}, r.key);
    CHECK(std::equal(got.word, got.word + 4, r.want));
  }
  cq::detail::philox_lanes p;  // blocks side by side are the same blocks
  p.make(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a80);
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t word = p.word[k][8];
    CHECK(word == table[2].want[k]);
  }
}

TEST_CASE("an element is a function of seed, draw and index: extents and layout do not matter") {
  const cq::rng a{7}, b{7}, c{7}, d{8};
  const auto x = cq::random::uniform<float>(a, cq::shape{1000});
  const auto y = cq::random::uniform<float>(b, cq::shape{10, 77});
  const auto z = cq::random::uniform<float>(c, cq::shape{5, 1, 2});
  bool same = true;
  for (std::int64_t i = 0; i < 770; ++i) same = same && x(i) == y(i / 77, i % 77);
  for (std::int64_t i = 0; i < 10; ++i) same = same && x(i) == z(i / 2, 0, i % 2);
  CHECK(same);
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto [block, part] = cq::detail::philox_place_of(i, 4);
    same = same && x(i) == cq::detail::unit_float(cq::detail::philox_at(7, 0, block).word[part]);
  }
  CHECK(same);
  CHECK_FALSE(same_bits(cq::random::uniform<float>(d, cq::shape{1000}), x));
  CHECK_FALSE(same_bits(cq::random::uniform<float>(a, cq::shape{1000}), x));
  const auto wide = cq::random::uniform<double>(cq::rng{7}, cq::shape{500});
  for (std::int64_t i = 0; i < 500; ++i) {
    const auto [block, part] = cq::detail::philox_place_of(i, 8);
    const auto w = cq::detail::philox_at(7, 0, block);
    same = same && wide(i) == cq::detail::unit_double(w.word[2 * part], w.word[2 * part + 1]);
  }
  CHECK(same);
  CHECK(cq::random::uniform<float>(a, cq::shape{0, 3}).size() == 0);
  auto target = cq::zeros<float>(cq::shape{20, 6});  // results that are not contiguous
  std::vector<float> memory(20 * 12);
  auto strided = cq::borrow(memory.data(), cq::shape{20, 6}, std::array<std::int64_t, 2>{12, 2});
  constexpr auto f =
      cq::trace([](auto state) { return cq::random::uniform<float>(state, cq::shape{20, 6}); });
  f.into(target, cq::rng{3});
  f.into(strided, cq::rng{3});
  CHECK(strided.to_vector() == target.to_vector());
}

TEST_CASE("each replay draws afresh; the same seed gives the same sequence again (C097)") {
  const cq::rng state{42};
  const auto x = cq::zeros<float>(cq::shape{64});
  std::vector<std::vector<float>> draws;
  for (int call = 0; call < 4; ++call) draws.push_back(noise(x, state).to_vector());
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < i; ++k) CHECK(draws[i] != draws[k]);
  state.seed(42);
  CHECK(noise(x, state).to_vector() == draws[0]);
  CHECK(noise(x, state).to_vector() == draws[1]);
  const cq::rng other{42};
  for (std::size_t call = 0; call < 4; ++call) {  // operation by operation, in both ways
    if (call % 2 == 0) CHECK(cq::eager(noise)(x, other).to_vector() == draws[call]);
    else CHECK(cq::random::uniform<float>(other, cq::shape{64}).to_vector() == draws[call]);
  }
}

TEST_CASE("draws keep the program's order, also those that nothing needs, in branches and loops") {
  constexpr auto two = cq::trace([](auto state) {
    const auto first = cq::random::uniform<float>(state, cq::shape{8});
    (void)cq::random::normal<double>(state, cq::shape{3});
    return std::tuple{cq::random::uniform<float>(state, cq::shape{8}), first};
  });
  const cq::rng a{1}, b{1};
  const auto [third, first] = two(a);
  CHECK(cq::random::uniform<float>(b, cq::shape{8}).to_vector() == first.to_vector());
  (void)cq::random::bernoulli(b, cq::shape{1}, 0.5);
  CHECK(cq::random::uniform<float>(b, cq::shape{8}).to_vector() == third.to_vector());
  CHECK(a.value().to_vector() == std::vector<std::uint64_t>{1, 3});

  constexpr auto flow = cq::trace([](auto state, auto n, auto p) {
    auto y = cq::for_loop(n, cq::zeros<float>(cq::shape{4}, n), [&](auto, auto s) {
      return s * 0 + cq::random::uniform<float>(state, cq::shape{4});
    });
    auto z = cq::cond(
        p, [&] { return cq::random::uniform<float>(state, cq::shape{4}); }, [&] { return y * 0; });
    return std::tuple{y, z, cq::random::uniform<float>(state, cq::shape{4})};
  });
  for (bool p : {true, false}) {
    const cq::rng s{5}, t{5};
    const auto [y, z, last] = flow(s, 3, p);
    std::vector<float> drawn;
    for (int i = 0; i < 3; ++i) drawn = cq::random::uniform<float>(t, cq::shape{4}).to_vector();
    CHECK(y.to_vector() == drawn);
    if (p) CHECK(z.to_vector() == cq::random::uniform<float>(t, cq::shape{4}).to_vector());
    CHECK(last.to_vector() == cq::random::uniform<float>(t, cq::shape{4}).to_vector());
    const cq::rng e{5};
    const auto [ye, ze, le] = cq::eager(flow)(e, 3, p);
    CHECK(ye.to_vector() == y.to_vector());
    CHECK(ze.to_vector() == z.to_vector());
    CHECK(le.to_vector() == last.to_vector());
    CHECK(e.value().to_vector() == s.value().to_vector());
  }
}

TEST_CASE("numbers have the moments of their distribution and stay inside its bounds") {
  const cq::rng state{2024};
  const std::int64_t n = 200000;
  const auto check = [&]<class T>(T) {
    const auto u = cq::random::uniform<T>(state, cq::shape{n}).to_vector();
    const moments<T> m(u);
    CHECK(std::fabs(m.mean - 0.5) < 0.003);
    CHECK(std::fabs(m.variance - 1.0 / 12) < 0.001);
    CHECK(*std::min_element(u.begin(), u.end()) >= 0);
    CHECK(*std::max_element(u.begin(), u.end()) < 1);
    const auto b = cq::random::uniform<T>(state, cq::shape{n}, -3, 5).to_vector();
    CHECK(*std::min_element(b.begin(), b.end()) >= -3);
    CHECK(*std::max_element(b.begin(), b.end()) < 5);
    CHECK(std::fabs(moments<T>(b).mean - 1) < 0.02);
    const auto g = cq::random::normal<T>(state, cq::shape{n}).to_vector();
    const moments<T> k(g);
    CHECK(std::fabs(k.mean) < 0.01);
    CHECK(std::fabs(k.variance - 1) < 0.015);
    CHECK(std::fabs(k.skew) < 0.03);
    CHECK(std::fabs(k.kurtosis - 3) < 0.06);
    double neighbours = 0;  // the two numbers of one transform are independent
    for (std::size_t i = 16; i < g.size(); ++i)
      neighbours += static_cast<double>(g[i]) * static_cast<double>(g[i - 16]);
    CHECK(std::fabs(neighbours / static_cast<double>(n)) < 0.01);
    const auto shifted = cq::random::normal<T>(state, cq::shape{n}, 10.0, 2.0).to_vector();
    CHECK(std::fabs(moments<T>(shifted).mean - 10) < 0.03);
    CHECK(std::fabs(moments<T>(shifted).variance - 4) < 0.06);
  };
  check(float{});
  check(double{});
  const auto coin = cq::random::bernoulli(state, cq::shape{n}, 0.25);
  CHECK(std::fabs(static_cast<double>(cq::sum(coin).item()) / static_cast<double>(n) - 0.25) <
        0.005);
  CHECK_FALSE(cq::any(cq::random::bernoulli(state, cq::shape{n}, 0)).item());
  CHECK(cq::all(cq::random::bernoulli(state, cq::shape{n}, 1)).item());
  // a bound so near that most numbers would round up to it
  const float lo = 1e8f, hi = std::nextafter(lo, 2e8f);
  const auto tight = cq::random::uniform<float>(state, cq::shape{1000}, lo, hi).to_vector();
  CHECK(std::count(tight.begin(), tight.end(), lo) == 1000);
}

TEST_CASE("normal numbers of the kernels are those of the formula, at each instruction set") {
  constexpr auto f = cq::trace([](auto state) {
    return std::tuple{cq::random::normal<float>(state, cq::shape{1000}),
                      cq::random::normal<double>(state, cq::shape{1000}),
                      cq::random::uniform<float>(state, cq::shape{1000})};
  });
  const auto formula = cq::eager(f)(cq::rng{11});  // by the formula, in double
  const auto &a = std::get<0>(formula), &c = std::get<2>(formula);
  const auto& b = std::get<1>(formula);
  at_each_isa(
      [&] {
        const auto [x, y, z] = f(cq::rng{11});
        bool near = true;
        for (std::int64_t i = 0; i < 1000; ++i)
          near = near && std::fabs(x(i) - a(i)) < 2e-6f * (1 + std::fabs(a(i))) &&
                 std::fabs(y(i) - b(i)) < 4e-15 * (1 + std::fabs(b(i)));
        CHECK(near);
        CHECK(same_bits(z, c));
      },
      f);
}

TEST_CASE("dropout drops with probability p, scales what stays, and derivatives follow it") {
  const auto x = cq::full(cq::shape{100000}, 3.f);
  const auto y = cq::dropout(cq::rng{9}, x, 0.25f).to_vector();
  const auto dropped = std::count(y.begin(), y.end(), 0.f);
  CHECK(std::fabs(static_cast<double>(dropped) / 1e5 - 0.25) < 0.01);
  CHECK(std::count(y.begin(), y.end(), 4.f) + dropped == 100000);
  CHECK(cq::dropout(cq::rng{9}, x, 0).to_vector() == x.to_vector());
  CHECK(cq::sum(cq::dropout(cq::rng{9}, x, 1)).item() == 0);
  constexpr auto loss = [](auto v, auto state, auto train) {
    return cq::sum(
        cq::cond(train, [&] { return cq::dropout(state, v * v, 0.5f); }, [&] { return v * v; }));
  };
  const auto v = cq::full(cq::shape{1000}, 2.f);
  const auto r = cq::value_and_grad(loss)(v, cq::rng{4}, true);
  const auto kept = cq::dropout(cq::rng{4}, v * v, 0.5f).to_vector();
  bool follows = true;
  for (std::size_t i = 0; i < kept.size(); ++i)
    follows = follows && r.grad(static_cast<std::int64_t>(i)) == (kept[i] != 0 ? 8.f : 0.f);
  CHECK(follows);
  CHECK(cq::value_and_grad(loss)(v, cq::rng{4}, false).grad(0) == 4);

  // through a loop the same masks come back: the result is linear in v
  constexpr auto deep = [](auto u, auto state) {
    return cq::sum(cq::for_loop(cq::static_<3>, u, [&](auto, auto y) {
      return cq::dropout(state, y, 0.2f) + cq::dropout(state, y * 0.5f, 0.2f);
    }));
  };
  const auto q = cq::value_and_grad(deep)(v, cq::rng{6});
  CHECK(static_cast<double>(cq::sum(q.grad * v).item()) ==
        doctest::Approx(static_cast<double>(q.value.item())).epsilon(1e-5));
  CHECK(cq::max(q.grad).item() > cq::min(q.grad).item());
}
