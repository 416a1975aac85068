// slice, flip, concatenate, stack and pad of symbols against plain loops: alone, as operands of
// others, of each other, as results in given memory, in loops; derivatives.
#include "calque/ops/parts.hpp"

#include <sys/mman.h>

#include "support/reference.hpp"
#include "support/slopes.hpp"

namespace cq = calque;
using cq::range;

namespace {

using namespace calque::test;

/// What ranges keep, by the rule for arrays.
template <class V>
dense<V> kept(const dense<V>& x, std::vector<range> ranges) {
  ranges.resize(x.shape.size());
  dense<V> r;
  std::vector<cq::detail::resolved_range> each;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    each.push_back(cq::detail::resolve(ranges[i], x.shape[i]));
    r.shape.push_back(each.back().count);
  }
  for (std::int64_t at = 0, n = r.size(); at < n; ++at) {
    std::int64_t from = 0, step = 1, rest = at;
    for (std::size_t i = ranges.size(); i-- > 0;) {
      from += (each[i].first + rest % r.shape[i] * each[i].step) * step;
      rest /= r.shape[i];
      step *= x.shape[i];
    }
    r.data.push_back(x.data[static_cast<std::size_t>(from)]);
  }
  return r;
}
template <class V>
dense<V> joined(const std::vector<dense<V>>& parts, std::size_t axis) {
  dense<V> r;
  r.shape = parts[0].shape;
  r.shape[axis] = 0;
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= r.shape[i];
  for (const auto& p : parts) r.shape[axis] += p.shape[axis];
  for (std::int64_t i = 0; i < outer; ++i)
    for (const auto& p : parts) {
      std::int64_t n = 1;
      for (std::size_t k = axis; k < p.shape.size(); ++k) n *= p.shape[k];
      r.data.insert(r.data.end(), p.data.begin() + i * n, p.data.begin() + (i + 1) * n);
    }
  return r;
}
template <class V>
dense<V> padded(const dense<V>& x, const std::vector<std::int64_t>& before,
                const std::vector<std::int64_t>& after, V value) {
  dense<V> r;
  for (std::size_t i = 0; i < x.shape.size(); ++i)
    r.shape.push_back(before[i] + x.shape[i] + after[i]);
  for (std::int64_t at = 0, n = r.size(); at < n; ++at) {
    std::int64_t from = 0, step = 1, rest = at;
    bool inside = true;
    for (std::size_t i = x.shape.size(); i-- > 0;) {
      const std::int64_t k = rest % r.shape[i] - before[i];
      rest /= r.shape[i];
      inside = inside && k >= 0 && k < x.shape[i];
      from += k * step;
      step *= x.shape[i];
    }
    r.data.push_back(inside ? x.data[static_cast<std::size_t>(from)] : value);
  }
  return r;
}

/// The number of launches that a plan's text states.
template <class Plan>
int kernels(const Plan& p) {
  const std::string text = p.dump();
  const std::size_t end = text.find(" kernels"), begin = text.rfind(' ', end - 1);
  return std::stoi(text.substr(begin));
}

constexpr range rows[] = {{1, range::open}, {-3, -1}, {range::open, range::open, -1},
                          {5, 0, -2},       {7, 2},   {0, 100, 3}};
constexpr auto doubled = [](auto v) { return v + v; };

}  // namespace

TEST_CASE("a slice of a symbol keeps what a slice of an array keeps, any layout (B9)") {
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{cq::slice(x, rows[0]),
                      cq::slice(x, rows[1], rows[2]),
                      cq::slice(x, range{}, rows[3]) + 1,
                      cq::sum(cq::slice(x, rows[4], rows[5]), cq::axis<1>),
                      cq::exp(cq::slice(x, rows[2], rows[2])),
                      cq::slice(x, rows[5], rows[1]) * cq::slice(x, rows[5], rows[1])};
  });
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<2>())
    for (layout how : layouts) {
      const auto x = laid_out<double>(s, how, draws<double>(++seed));
      const auto d = dense_of(x);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      for (int replay = 0; replay < 2; ++replay) {
        const auto [a, b, c, e, g, h] = f(x);
        CALQUE_CHECK_MATCHES(a, kept(d, {rows[0]}), 0);
        CALQUE_CHECK_MATCHES(b, kept(d, {rows[1], rows[2]}), 0);
        CALQUE_CHECK_MATCHES(c, zip([](auto v) { return v + 1; }, kept(d, {range{}, rows[3]})), 0);
        CALQUE_CHECK_MATCHES(e,
                             reduce(kept(d, {rows[4], rows[5]}), 2u, false,
                                    [](const auto& v) {
                                      long double t = 0;
                                      for (auto w : v) t += w;
                                      return t;
                                    }),
                             64);
        CALQUE_CHECK_MATCHES(
            g, zip([](auto v) { return std::exp(v); }, kept(d, {rows[2], rows[2]})), 2);
        CALQUE_CHECK_MATCHES(h, zip([](auto v) { return v * v; }, kept(d, {rows[5], rows[1]})), 1);
      }
      const auto [a, b, c, e, g, h] = cq::eager(f)(x);
      CHECK(same_bits(a, std::get<0>(f(x))));
      CHECK(same_bits(b, std::get<1>(f(x))));
      CHECK(same_bits(c, std::get<2>(f(x))));
      CHECK(same_bits(h, std::get<5>(f(x))));
    }
}

TEST_CASE("bounds may be made of extents; flip reverses axes (B9)") {
  constexpr auto f = cq::trace([](auto x) {
    const auto half = x.extent(0) / 2;
    return std::tuple{cq::slice(x, range{0, half}), cq::slice(x, range{half, range::open}),
                      cq::slice(x, range{range::open, x.extent(0) - 1}) + 0,
                      cq::flip(x, cq::axis<0>), cq::flip(x, cq::axis<>)};
  });
  for (std::int64_t n : {0, 1, 2, 5, 8}) {
    const auto x = drawn<std::int32_t>(cq::shape{n, 3}, draws<std::int32_t>(7));
    const auto d = dense_of(x);
    const auto [a, b, c, r, all] = f(x);
    CALQUE_CHECK_MATCHES(a, kept(d, {range{0, n / 2}}), 0);
    CALQUE_CHECK_MATCHES(b, kept(d, {range{n / 2, n}}), 0);
    CALQUE_CHECK_MATCHES(c, kept(d, {range{range::open, n - 1}}), 0);
    const range back{range::open, range::open, -1};
    CALQUE_CHECK_MATCHES(r, kept(d, {back}), 0);
    CALQUE_CHECK_MATCHES(all, kept(d, {back, back}), 0);
    CALQUE_CHECK_MATCHES(cq::flip(x, cq::axis<-1>), kept(d, {range{}, back}), 0);
  }
}

// g++ 12 mistakes elements of an array of ranges that a constant expression changes in part: from
// the second evaluation on
TEST_CASE("each axis of four is flipped, in every function that does it (B9)") {
  constexpr auto once = cq::trace([](auto x) {
    return std::tuple{cq::flip(x, cq::axis<0>), cq::flip(x, cq::axis<1>), cq::flip(x, cq::axis<2>),
                      cq::flip(x, cq::axis<3>), cq::flip(x, cq::axis<1, -1>)};
  });
  constexpr auto again = cq::trace([](auto x) {
    return std::tuple{cq::flip(x, cq::axis<0>) + 0, cq::flip(x, cq::axis<1>) + 0,
                      cq::flip(x, cq::axis<2>) + 0, cq::flip(x, cq::axis<3>) + 0,
                      cq::flip(x, cq::axis<1, -1>) + 0};
  });
  const auto x = drawn<std::int32_t>(cq::shape{2, 3, 4, 5}, draws<std::int32_t>(9));
  const auto d = dense_of(x);
  const range back{range::open, range::open, -1};
  const auto check = [&](const auto& results) {
    CALQUE_CHECK_MATCHES(std::get<0>(results), kept(d, {back}), 0);
    CALQUE_CHECK_MATCHES(std::get<1>(results), kept(d, {{}, back}), 0);
    CALQUE_CHECK_MATCHES(std::get<2>(results), kept(d, {{}, {}, back}), 0);
    CALQUE_CHECK_MATCHES(std::get<3>(results), kept(d, {{}, {}, {}, back}), 0);
    CALQUE_CHECK_MATCHES(std::get<4>(results), kept(d, {{}, back, {}, back}), 0);
  };
  check(once(x));
  check(again(x));
  check(std::tuple{cq::flip(x, cq::axis<0>), cq::flip(x, cq::axis<1>), cq::flip(x, cq::axis<2>),
                   cq::flip(x, cq::axis<3>), cq::flip(x, cq::axis<1, -1>)});
}

TEST_CASE("views of views read one block in place: no copy is planned (A5)") {
  constexpr auto f = cq::trace([](auto x) {
    const auto a = cq::slice(cq::transpose(cq::slice(x, range{1, range::open, 2})), range{},
                             range{range::open, range::open, -1});
    return cq::sum(cq::reshape(cq::slice(a, range{1, 3}), cq::shape{2, a.extent(1)}) * 2,
                   cq::axis<1>);
  });
  const auto x = drawn<float>(cq::shape{7, 5}, draws<float>(3));
  CHECK(kernels(f.plan(x)) == 1);
  const auto a = cq::slice(cq::transpose(cq::slice(x, range{1, range::open, 2})), range{1, 3},
                           range{range::open, range::open, -1});
  CHECK(same_bits(f(x), cq::sum(a * 2, cq::axis<1>)));
  constexpr auto product = cq::trace([](auto u, auto v) {
    return cq::matmul(
        cq::slice(u, range{1, 4}, range{0, 6, 2}),
        cq::transpose(cq::slice(v, range{range::open, range::open, -1}, range{2, 5})));
  });
  const auto u = drawn<float>(cq::shape{5, 6}, draws<float>(4));
  const auto v = drawn<float>(cq::shape{4, 7}, draws<float>(5));
  CHECK(kernels(product.plan(u, v)) == 1);
  CHECK(same_bits(
      product(u, v),
      cq::matmul(cq::slice(u, range{1, 4}, range{0, 6, 2}),
                 cq::transpose(cq::slice(v, range{range::open, range::open, -1}, range{2, 5})))));
}

TEST_CASE("concatenate puts parts one after the other along any axis, stack along a new one (B9)") {
  constexpr auto f = cq::trace([](auto x, auto y) {
    return std::tuple{cq::concatenate<0>(x, x * 2, x),
                      cq::concatenate<1>(y, x, y + 1),
                      cq::concatenate<-1>(cq::exp(x), y) + 1,
                      cq::stack<0>(x, x + 1),
                      cq::stack<1>(x, -x),
                      cq::stack<-1>(x, x, x)};
  });
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<2>())
    for (layout how : layouts) {
      const auto x = laid_out<double>(s, how, draws<double>(++seed));
      const auto y = laid_out<double>(cq::shape{s[0], 4}, how, draws<double>(++seed));
      const auto a = dense_of(x), b = dense_of(y);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto plus = [](auto v) { return v + 1; };
      auto row = a, column = a, last = a;
      row.shape.insert(row.shape.begin(), 1);
      column.shape.insert(column.shape.begin() + 1, 1);
      last.shape.push_back(1);
      const auto minus = zip([](auto v) { return -v; }, column);
      for (int replay = 0; replay < 2; ++replay) {
        const auto [p, q, r, t, u, w] = f(x, y);
        CALQUE_CHECK_MATCHES(p, joined<long double>({a, zip(doubled, a), a}, 0), 0);
        CALQUE_CHECK_MATCHES(q, joined<long double>({b, a, zip(plus, b)}, 1), 0);
        CALQUE_CHECK_MATCHES(
            r, zip(plus, joined<long double>({zip([](auto v) { return std::exp(v); }, a), b}, 1)),
            2);
        CALQUE_CHECK_MATCHES(t, joined<long double>({row, zip(plus, row)}, 0), 0);
        CALQUE_CHECK_MATCHES(u, joined<long double>({column, minus}, 1), 0);
        CALQUE_CHECK_MATCHES(w, joined<long double>({last, last, last}, 2), 0);
      }
      CHECK(same_bits(std::get<1>(cq::eager(f)(x, y)), std::get<1>(f(x, y))));
      CHECK(same_bits(cq::concatenate<1>(y, x, y + 1), std::get<1>(f(x, y))));
      CHECK(same_bits(cq::stack<1>(x, -x), std::get<4>(f(x, y))));
    }
  CHECK(cq::stack<0>(cq::array<float, 0>(1.f), cq::array<float, 0>(2.f)).to_vector() ==
        std::vector<float>{1, 2});
}

TEST_CASE("concatenate promotes types and refuses other extents that differ (B9)") {
  const cq::array<std::int32_t, 1> i{1, 2};
  const cq::array<float, 1> x{0.5f};
  const auto both = cq::concatenate<0>(i, x);
  static_assert(std::is_same_v<decltype(both), const cq::array<float, 1>>);
  CHECK(both.to_vector() == std::vector<float>{1, 2, 0.5f});
  static_assert(
      std::is_same_v<decltype(cq::stack<0>(cq::array<bool, 1>{true}, cq::array<bool, 1>{false})),
                     cq::array<bool, 2>>);
  constexpr auto f = cq::trace([](auto a, auto b) { return cq::concatenate<0>(a, b); });
  CHECK_THROWS_WITH_AS(
      (void)f(cq::zeros<float>(cq::shape{2, 3}), cq::zeros<float>(cq::shape{2, 4})),
      doctest::Contains("concatenate: a is f32[2,3], b is f32[2,4]: extents 3 and 4 of axis 1"),
      cq::shape_error);
}

TEST_CASE("pad puts a value around, with widths that may be symbols (B9)") {
  constexpr auto f = cq::trace([](auto x, auto v) {
    return std::tuple{cq::pad(x, {{1, 2}, {0, 3}}), cq::pad(x * 2, {{0, 0}, {2, 0}}, v),
                      cq::pad(x, {{x.extent(1), 0}, {0, x.extent(0)}}, 7) + 1};
  });
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<2>())
    for (layout how : layouts) {
      const auto x = laid_out<std::int64_t>(s, how, draws<std::int64_t>(++seed));
      const auto d = dense_of(x);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      for (int replay = 0; replay < 2; ++replay) {
        const auto [a, b, c] = f(x, 5);
        CALQUE_CHECK_MATCHES(a, padded<__int128>(d, {1, 0}, {2, 3}, 0), 0);
        CALQUE_CHECK_MATCHES(b, padded<__int128>(zip(doubled, d), {0, 2}, {0, 0}, 5), 0);
        CALQUE_CHECK_MATCHES(
            c, zip([](auto v) { return v + 1; }, padded<__int128>(d, {s[1], 0}, {0, s[0]}, 7)), 0);
      }
      CHECK(same_bits(cq::pad(x, {{1, 2}, {0, 3}}), std::get<0>(f(x, 5))));
      CHECK(same_bits(std::get<2>(cq::eager(f)(x, 5)), std::get<2>(f(x, 5))));
    }
  const auto six = cq::pad(cq::ones<float>(cq::shape{1, 1, 1, 1, 1, 1}),
                           {{0, 1}, {1, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 1}}, 2);
  CHECK(six.shape() == cq::shape{2, 2, 1, 1, 1, 2});
  CHECK(cq::sum(six).item() == 15);
}

TEST_CASE("what producers compute is written into its part directly (A5)") {
  constexpr auto f = cq::trace([](auto x, auto y) {
    return cq::concatenate<1>(cq::exp(x), cq::matmul(x, y), cq::sum(y, cq::axis<1>, cq::keepdims));
  });
  const auto x = drawn<float>(cq::shape{4, 4}, draws<float>(1));
  const auto y = drawn<float>(cq::shape{4, 4}, draws<float>(2));
  const auto plan = f.plan(x, y);
  CHECK(kernels(plan) == 3);
  CHECK(plan.dump().find("arena+") == std::string::npos);
  CHECK(same_bits(f(x, y), cq::concatenate<1>(cq::exp(x), cq::matmul(x, y),
                                              cq::sum(y, cq::axis<1>, cq::keepdims))));
}

TEST_CASE("parts in given memory: results that overlap operands read them first (C059)") {
  constexpr auto twice = cq::trace([](auto x) { return cq::concatenate<0>(x, x); });
  constexpr auto back = cq::trace([](auto x) { return cq::flip(x, cq::axis<0>); });
  constexpr auto turned = cq::trace([](auto x) {
    return cq::concatenate<0>(cq::slice(x, range{3, range::open}), cq::slice(x, range{0, 3}));
  });
  std::vector<float> memory{1, 2, 3, 4, 5, 6, 7, 8};
  const auto whole = cq::borrow(memory.data(), cq::shape{8});
  const auto half = cq::borrow(memory.data() + 2, cq::shape{4});
  auto target = whole;
  twice.into(target, half);
  CHECK(memory == std::vector<float>{3, 4, 5, 6, 3, 4, 5, 6});
  for (float& v : memory) v = static_cast<float>(&v - memory.data());
  for (int i = 0; i < 2; ++i) back.into(target, whole);
  CHECK(memory == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  turned.into(target, whole);
  CHECK(memory == std::vector<float>{3, 4, 5, 6, 7, 0, 1, 2});
  // into every other element of a block
  std::vector<float> wide(16, -1);
  auto odd = cq::borrow(wide.data() + 1, cq::shape{8}, {2});
  turned.into(odd, whole);
  CHECK(wide[1] == 6);
  CHECK(wide[15] == 5);
  CHECK(wide[0] == -1);
}

TEST_CASE("slices of variables are read before the variable changes; assembled values are stored") {
  constexpr auto shift = cq::trace([](auto w, auto x) {
    const auto old = cq::slice(w, range{1, range::open});
    w.assign(cq::concatenate<0>(old, x));
    return cq::sum(old) + cq::sum(w + 0);
  });
  const cq::variable<float, 1> w{cq::array<float, 1>{1, 2, 3}, "w"};
  CHECK(shift(w, cq::array<float, 1>{4}).item() == 5 + 9);
  CHECK(w.value().to_vector() == std::vector<float>{2, 3, 4});
  CHECK(shift(w, cq::array<float, 1>{5}).item() == 7 + 12);
  CHECK(w.value().to_vector() == std::vector<float>{3, 4, 5});
}

TEST_CASE("parts work inside loops and branches") {
  constexpr auto f = cq::trace([](auto x, auto n, auto p) {
    const auto turned = cq::for_loop(n, x, [](auto, auto s) {
      return cq::concatenate<0>(cq::slice(s, range{1, range::open}), cq::slice(s, range{0, 1}));
    });
    return cq::cond(
        p, [&] { return cq::pad(cq::slice(turned, range{1, range::open}), {{1, 0}}, 9); },
        [&] { return cq::flip(turned, cq::axis<0>); });
  });
  const cq::array<int, 1> x{1, 2, 3, 4};
  CHECK(f(x, 2, true).to_vector() == std::vector<int>{9, 4, 1, 2});
  CHECK(f(x, 3, false).to_vector() == std::vector<int>{3, 2, 1, 4});
  CHECK(cq::eager(f)(x, 3, false).to_vector() == std::vector<int>{3, 2, 1, 4});
}

TEST_CASE("derivatives go back through slices, concatenate, stack and pad") {
  between draw(-2, 2);
  const auto x = drawn<double>(cq::shape{3, 4}, [&] { return draw(); });
  const auto y = drawn<double>(cq::shape{2, 4}, [&] { return draw(); });
  constexpr auto f = [](auto u, auto v) {
    const auto c = cq::concatenate<0>(u, v, cq::slice(u, range{range::open, range::open, -2}));
    const auto p = cq::pad(c, {{1, 2}, {0, 1}}, 0.5);
    const auto s = cq::stack<1>(cq::slice(u, range{0, 2}), v);
    return cq::sum(p * p * p) +
           cq::sum(cq::exp(cq::slice(p, range{1, 4}, range{-3, range::open}))) + cq::sum(s * s) +
           cq::sum(cq::flip(u, cq::axis<1>) * u);
  };
  check_slopes<0, 1>(f, x, y);
  constexpr auto looped = [](auto u) {
    const auto s = cq::for_loop(cq::static_<3>, u, [](auto, auto v) {
      return cq::concatenate<0>(cq::slice(v, range{1, range::open}),
                                cq::slice(v, range{0, 1}) * cq::slice(v, range{1, 2}));
    });
    return cq::sum(s * s);
  };
  check_slopes<0>(looped, x);
}

TEST_CASE("offsets past 2^31 elements are 64-bit in slices, flips and takes (C029)") {
  constexpr std::size_t bytes = std::size_t{5} << 30;  // untouched pages cost nothing
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  auto* const base = static_cast<std::uint8_t*>(pages);
  constexpr std::int64_t step = (std::int64_t{1} << 31) + 3;
  const auto x = cq::borrow(base, cq::shape{2, 16}, {step, 1});
  for (std::int64_t j = 0; j < 16; ++j) base[step + j] = static_cast<std::uint8_t>(j + 1);
  base[step - 1] = 99;
  constexpr auto f = cq::trace([](auto v, auto i) {
    return std::tuple{cq::slice(v, range{1, 2}, range{0, 16, 5}) + 1, cq::flip(v, cq::axis<0>),
                      cq::sum(cq::slice(v, range{-1, range::open})), cq::take(v, i, cq::axis<0>),
                      cq::concatenate<0>(v, v)};
  });
  const auto [a, b, c, t, d] = f(x, cq::array<std::int64_t, 1>{1});
  CHECK(a.to_vector() == std::vector<std::uint8_t>{2, 7, 12, 17});
  CHECK(b(0, 15) == 16);
  CHECK(c.item() == 136);
  CHECK(t(0, 15) == 16);
  CHECK(d(3, 0) == 1);
  // one axis of more than 2^31 elements, in place
  const auto line = cq::borrow(base, cq::shape{(std::int64_t{1} << 32) + 5});
  constexpr auto g = cq::trace([](auto v) {
    return cq::slice(v, range{(std::int64_t{1} << 31) + 2, (std::int64_t{1} << 31) + 5}) * 1;
  });
  CHECK(g(line).to_vector() == std::vector<std::uint8_t>{99, 1, 2});
  CHECK(cq::take(line, (std::int64_t{1} << 31) + 4, cq::axis<0>).item() == 2);
  munmap(pages, bytes);
}
