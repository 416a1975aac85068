// Products of matrices against wide loops: sizes around the tiles, layouts, types, empty extents;
// outputs in other memory; derivatives.
#include "calque/ops/matmul.hpp"

#include "support/reference.hpp"
#include "support/slopes.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

constexpr auto product = cq::trace([](auto a, auto b) { return cq::matmul(a, b); });

template <class V>
dense<V> expected(const dense<V>& a, const dense<V>& b, bool magnitude = false) {
  const std::int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  dense<V> r{{m, n}, std::vector<V>(static_cast<std::size_t>(m * n))};
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j) {
        const V p = a.data[static_cast<std::size_t>(i * k + l)] *
                    b.data[static_cast<std::size_t>(l * n + j)];
        r.data[static_cast<std::size_t>(i * n + j)] += magnitude && p < 0 ? -p : p;
      }
  return r;
}

template <class T, class A, class B>
void check_product(const A& a, const B& b) {
  const auto x = dense_of(a), y = dense_of(b);
  const auto want = expected(x, y), size = expected(x, y, true);
  const auto got = product(a, b);
  CHECK(got.shape() == cq::shape{a.extent(0), b.extent(1)});
  const auto data = got.to_vector();
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      const long double error = std::fabs(static_cast<long double>(data[i]) - want.data[i]);
      const long double unit = std::numeric_limits<T>::epsilon() * size.data[i];
      wrong += !(error <= 8 * unit);
    } else {
      wrong += data[i] != static_cast<T>(want.data[i]);
    }
  }
  CHECK(wrong == 0);
  CHECK(same_bits(got, product(a, b)));
}

template <class T>
void check_sizes() {
  constexpr std::int64_t sizes[][3] = {{1, 1, 1},  {2, 3, 4},    {3, 2, 3}, {1, 70, 5},
                                       {65, 1, 3}, {17, 33, 65}, {0, 3, 2}, {3, 0, 2},
                                       {2, 3, 0},  {100, 37, 10}};
  std::uint64_t seed = 0;
  for (const auto& size : sizes)
    for (layout left : layouts)
      for (layout right : layouts) {
        const std::int64_t m = size[0], k = size[1], n = size[2];
        const auto a = laid_out<T>(cq::shape{m, k}, left, draws<T>(++seed));
        const auto b = laid_out<T>(cq::shape{k, n}, right, draws<T>(seed + 100));
        INFO(m, " ", k, " ", n, ", layouts ", static_cast<int>(left), " ", static_cast<int>(right));
        check_product<T>(a, b);
      }
}

}  // namespace

TEST_CASE("f32 products equal wide loops for all layouts of both operands (B9, C070)") {
  check_sizes<float>();
}
TEST_CASE("f64 products equal wide loops for all layouts of both operands (B9, C070)") {
  check_sizes<double>();
}
TEST_CASE("integer products wrap; products over an empty axis are 0 (B9)") {
  check_sizes<std::int32_t>();
  check_sizes<std::int64_t>();
  check_sizes<std::uint8_t>();
  CHECK(product(cq::ones<float>(cq::shape{2, 0}), cq::ones<float>(cq::shape{0, 3})).to_vector() ==
        std::vector<float>(6, 0.f));
}

TEST_CASE("a transposed non-square operand keeps its own extents (C070)") {
  const cq::array<float, 2> x{{1, 2, 3}, {1, 2, 3}};
  CHECK(cq::matmul(cq::transpose(x), x).to_vector() ==
        std::vector<float>{2, 4, 6, 4, 8, 12, 6, 12, 18});
  constexpr auto gram = cq::trace([](auto v) { return cq::matmul(cq::transpose(v), v); });
  CHECK(gram(x).to_vector() == std::vector<float>{2, 4, 6, 4, 8, 12, 6, 12, 18});
  constexpr auto both =
      cq::trace([](auto a, auto b) { return cq::matmul(cq::transpose(a), cq::transpose(b)); });
  const auto a = drawn<double>(cq::shape{5, 3}, draws<double>(1)),
             b = drawn<double>(cq::shape{4, 5}, draws<double>(2));
  const auto want = expected(permuted(dense_of(a), {1, 0}), permuted(dense_of(b), {1, 0}));
  CALQUE_CHECK_MATCHES(both(a, b), want, 32);
}

TEST_CASE("the old contents of the output never reach the product (C070)") {
  const auto a = cq::ones<float>(cq::shape{5, 3}), b = cq::ones<float>(cq::shape{3, 4});
  auto out = cq::full(cq::shape{5, 4}, std::numeric_limits<float>::quiet_NaN());
  product.into(out, a, b);
  CHECK(out.to_vector() == std::vector<float>(20, 3.f));
  std::vector<float> memory(200, std::numeric_limits<float>::quiet_NaN());
  auto view = cq::borrow(memory.data(), cq::shape{5, 4}, std::array<std::int64_t, 2>{1, 20});
  product.into(view, a, b);
  CHECK(view.to_vector() == std::vector<float>(20, 3.f));
  CHECK(std::isnan(memory[5]));
}

TEST_CASE("operands promote; bool counts; inner extents must agree") {
  const cq::array<bool, 2> p{{true, true}, {false, true}};
  const cq::array<std::int8_t, 2> k{{100}, {100}};
  static_assert(std::is_same_v<decltype(product(p, p)), cq::array<std::int32_t, 2>>);
  static_assert(
      std::is_same_v<decltype(product(k, cq::ones<float>(cq::shape{1, 1}))), cq::array<float, 2>>);
  CHECK(product(p, p).to_vector() == std::vector<std::int32_t>{1, 2, 0, 1});
  CHECK(product(p, k).to_vector() == std::vector<std::int8_t>{static_cast<std::int8_t>(-56), 100});
  CHECK_THROWS_AS((void)product(k, k), cq::shape_error);
  CHECK_THROWS_AS((void)product(cq::ones<float>(cq::shape{2, 1}), cq::ones<float>(cq::shape{2, 2})),
                  cq::shape_error);
}

TEST_CASE("NaN and infinity in one row stay in that row") {
  auto a = cq::ones<float>(cq::shape{9, 20});
  a(4, 19) = std::numeric_limits<float>::quiet_NaN();
  a(7, 0) = std::numeric_limits<float>::infinity();
  const auto r = product(a, cq::ones<float>(cq::shape{20, 33}));
  bool right = true;
  for (std::int64_t i = 0; i < 9; ++i)
    for (std::int64_t j = 0; j < 33; ++j)
      right = right && (i == 4   ? std::isnan(r(i, j))
                        : i == 7 ? std::isinf(r(i, j))
                                 : r(i, j) == 20);
  CHECK(right);
}

TEST_CASE("an element of a product has the same bits wherever its row and column lie") {
  const auto a = drawn<float>(cq::shape{37, 131}, draws<float>(3)),
             b = drawn<float>(cq::shape{131, 45}, draws<float>(4));
  at_each_isa(
      [&] {
        const auto whole = product(a, b);
        for (std::int64_t skip : {1, 5, 30}) {
          const cq::range rest{skip, cq::range::open};
          CHECK(same_bits(product(cq::slice(a, rest), b), cq::slice(whole, rest)));
          CHECK(same_bits(product(a, cq::slice(b, cq::range{}, rest)),
                          cq::slice(whole, cq::range{}, rest)));
        }
      },
      product);
}

TEST_CASE("derivatives of a product are products with the other operand transposed") {
  const auto a = drawn<double>(cq::shape{3, 5}, draws<double>(5)),
             b = drawn<double>(cq::shape{5, 2}, draws<double>(6));
  const auto w = drawn<double>(cq::shape{3, 2}, draws<double>(7));
  const auto g = cq::grad([](auto x, auto y, auto u) { return cq::sum(cq::matmul(x, y) * u); },
                          cq::wrt<0, 1>)(a, b, w);
  const auto x = dense_of(a), y = dense_of(b), u = dense_of(w);
  CALQUE_CHECK_MATCHES(std::get<0>(g), expected(u, permuted(y, {1, 0})), 16);
  CALQUE_CHECK_MATCHES(std::get<1>(g), expected(permuted(x, {1, 0}), u), 16);
}

namespace {

/// NumPy's rule on any ranks of 1 or more.
template <class V>
dense<V> general(dense<V> a, dense<V> b) {
  const bool row = a.shape.size() == 1, column = b.shape.size() == 1;
  if (row) a.shape.insert(a.shape.begin(), 1);
  if (column) b.shape.push_back(1);
  dense<V> x{{a.shape.begin(), a.shape.end() - 2}, {}}, y{{b.shape.begin(), b.shape.end() - 2}, {}};
  for (std::int64_t i = 0; i < x.size(); ++i) x.data.push_back(i);
  for (std::int64_t i = 0; i < y.size(); ++i) y.data.push_back(i);
  const std::int64_t m = a.shape[a.shape.size() - 2], k = a.shape.back(), n = b.shape.back();
  const auto pairs = zip([](V i, V j) { return std::pair{i, j}; }, x, y);
  dense<V> r{pairs.shape, {}};
  for (const auto& [i, j] : pairs.data) {
    const auto part = [](const dense<V>& d, V at, std::int64_t p, std::int64_t q) {
      const auto first = d.data.begin() + static_cast<std::int64_t>(at) * p * q;
      return dense<V>{{p, q}, {first, first + p * q}};
    };
    const auto one = expected(part(a, i, m, k), part(b, j, k, n));
    r.data.insert(r.data.end(), one.data.begin(), one.data.end());
  }
  if (!row) r.shape.push_back(m);
  if (!column) r.shape.push_back(n);
  return r;
}

template <int P, int Q>
void check_batches(const cq::shape<P>& s, const cq::shape<Q>& t) {
  constexpr auto swapped = cq::trace([](auto a, auto b) {  // both transposed in place
    return cq::matmul(cq::transpose<0, 2, 1>(a), cq::transpose<0, 2, 1>(b));
  });
  std::uint64_t seed = 0;
  for (layout left : layouts)
    for (layout right : layouts) {
      const auto a = laid_out<std::int32_t>(s, left, draws<std::int32_t>(++seed));
      const auto b = laid_out<std::int32_t>(t, right, draws<std::int32_t>(seed + 100));
      INFO(cq::to_string(s), " by ", cq::to_string(t), ", layouts ", static_cast<int>(left), " ",
           static_cast<int>(right));
      const auto want = general(dense_of(a), dense_of(b));
      CALQUE_CHECK_MATCHES(product(a, b), want, 0);
      CALQUE_CHECK_MATCHES(product(a, b), want, 0);
      if (left == right) CALQUE_CHECK_MATCHES(cq::eager(product)(a, b), want, 0);
      if constexpr (P == 3 && Q == 3)
        CALQUE_CHECK_MATCHES(swapped(cq::transpose<0, 2, 1>(a), cq::transpose<0, 2, 1>(b)), want,
                             0);
    }
}

}  // namespace

TEST_CASE("batches of matrices broadcast, vectors are rows and columns (B9)") {
  check_batches(cq::shape{3, 2, 4}, cq::shape{3, 4, 5});
  check_batches(cq::shape{1, 2, 4}, cq::shape{3, 4, 5});
  check_batches(cq::shape{3, 2, 4}, cq::shape{1, 4, 1});
  check_batches(cq::shape{3, 2, 4}, cq::shape{4, 5});
  check_batches(cq::shape{2, 4}, cq::shape{3, 4, 5});
  check_batches(cq::shape{2, 1, 3, 4}, cq::shape{3, 4, 2});
  check_batches(cq::shape{0, 2, 4}, cq::shape{1, 4, 5});
  check_batches(cq::shape{3, 0, 4}, cq::shape{3, 4, 5});
  check_batches(cq::shape{3, 2, 0}, cq::shape{3, 0, 5});
  check_batches(cq::shape{4}, cq::shape{4, 3});
  check_batches(cq::shape{2, 4}, cq::shape{4});
  check_batches(cq::shape{4}, cq::shape{3, 4, 2});
  check_batches(cq::shape{3, 2, 4}, cq::shape{4});
  check_batches(cq::shape{5}, cq::shape{5});
  check_batches(cq::shape{0}, cq::shape{0});
  // more leading axes than strides can merge
  const auto a = drawn<float>(cq::shape{2, 2, 2, 2, 2, 2, 3, 2}, draws<float>(1));
  const auto b = drawn<float>(cq::shape{2, 3}, draws<float>(2));
  constexpr auto mixed = cq::trace([](auto x, auto y) {
    return cq::matmul(cq::transpose<5, 3, 1, 4, 2, 0, 6, 7>(x),
                      cq::transpose<5, 4, 3, 2, 1, 0, 7, 6>(y));
  });
  const auto u = cq::transpose<5, 3, 1, 4, 2, 0, 6, 7>(a).clone();
  const auto v = cq::transpose<5, 4, 3, 2, 1, 0, 7, 6>(a).clone();
  CHECK(same_bits(mixed(a, a), cq::matmul(u, v)));
  CHECK(cq::matmul(a, b).shape() == cq::shape{2, 2, 2, 2, 2, 2, 3, 3});
}

TEST_CASE("batches that do not fit are refused; dot and outer are of vectors (B9)") {
  const auto z = [](auto... e) { return cq::zeros<float>(cq::shape{e...}); };
  CHECK_THROWS_WITH_AS((void)product(z(2, 3, 4), z(3, 4, 5)),
                       doctest::Contains("extents 2 and 3 of the leading axes differ"),
                       cq::shape_error);
  CHECK_THROWS_WITH_AS((void)product(z(2, 3, 4), z(2, 5, 6)),
                       doctest::Contains("axis 2 of a and axis 1 of b have to be equal"),
                       cq::shape_error);
  CHECK_THROWS_AS((void)product(z(4), z(1)), cq::shape_error);
  CHECK_THROWS_AS((void)cq::dot(z(3), z(1)), cq::shape_error);
  const cq::array<float, 1> x{1, 2, 3}, y{4, 5, 6};
  CHECK(cq::dot(x, y).item() == 32);
  CHECK(cq::outer(x, cq::array<int, 1>{1, 10}).to_vector() ==
        std::vector<float>{1, 10, 2, 20, 3, 30});
  CHECK(cq::dot(z(0), z(0)).item() == 0);
  CHECK(cq::outer(z(0), x).shape() == cq::shape{0, 3});
}

TEST_CASE("derivatives of batched products are summed over the axes that broadcast (C056)") {
  between draw(-1, 1);
  const auto fill = [&](auto s) { return drawn<double>(s, [&] { return draw(); }); };
  constexpr auto f = [](auto a, auto b) {
    const auto p = cq::matmul(a, b);
    return cq::sum(p * p * p);
  };
  check_slopes<0, 1>(f, fill(cq::shape{2, 2, 3}), fill(cq::shape{2, 3, 2}));
  check_slopes<0, 1>(f, fill(cq::shape{2, 2, 3}), fill(cq::shape{3, 2}));
  check_slopes<0, 1>(f, fill(cq::shape{2, 3}), fill(cq::shape{2, 3, 2}));
  check_slopes<0, 1>(f, fill(cq::shape{1, 2, 3}), fill(cq::shape{2, 3, 2}));
  check_slopes<0, 1>(f, fill(cq::shape{3}), fill(cq::shape{2, 3, 2}));
  check_slopes<0, 1>(f, fill(cq::shape{2, 3}), fill(cq::shape{3}));
  check_slopes<0, 1>(f, fill(cq::shape{3}), fill(cq::shape{3}));
  check_slopes<0, 1>([](auto a, auto b) { return cq::sum(cq::exp(cq::outer(a, b))); },
                     fill(cq::shape{3}), fill(cq::shape{2}));
}
