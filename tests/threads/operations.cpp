// The kernels of single operations that threads share: the same bits for 1, 2 and 8 threads.
#include "tests/threads/spawned.hpp"

#include <stdexcept>

#include "calque/ops/sort.hpp"

namespace cq = calque;
using spawned::same_bits, spawned::waves;

// The later of two that are not 0, with its sign turned by an earlier negative one: associative,
// and its operands must not be swapped.
struct last_signed {
  static constexpr char name[] = "last_signed";
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
  template <class T>
  constexpr T operator()(T a, T b) const {
    return b == 0 ? a : a < 0 ? -b : b;
  }
};
CALQUE_REGISTER(last_signed);

// Not everything can be combined.
struct sum_to_nine {
  static constexpr char name[] = "sum_to_nine";
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
  template <class T>
  T operator()(T a, T b) const {
    if (a + b > 9) throw std::range_error("above nine");
    return a + b;
  }
};
CALQUE_REGISTER(sum_to_nine);

namespace {

constexpr auto product = cq::trace([](auto a, auto b) { return cq::matmul(a, b); });
constexpr auto dense =
    cq::trace([](auto x, auto w, auto b) { return cq::tanh(0.001f * cq::matmul(x, w) + b); });
constexpr auto running = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<0>); });
constexpr auto running_rows = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<1>); });
constexpr auto running_columns = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<0>); });
constexpr auto sorted = cq::trace([](auto x) { return cq::sort(x, cq::axis<1>); });
constexpr auto places = cq::trace([](auto x) { return cq::argsort(x, cq::axis<1>); });
constexpr auto best = cq::trace([](auto x) { return cq::argmax(x, cq::axis<1>); });
constexpr auto copied = cq::trace([](auto x) { return cq::transpose(x); });
constexpr auto taken = cq::trace([](auto x, auto i) { return cq::take(x, i, cq::axis<0>); });

}  // namespace

TEST_CASE("matrix products give the same bits for 1, 2 and 8 threads, and k is never cut (C008)") {
  const std::int64_t sizes[][3] = {{128, 128, 257}, {1, 4099, 1100}, {4099, 1, 1100},
                                   {7, 2001, 400},  {2001, 7, 400},  {300, 13, 3000},
                                   {13, 300, 3000}, {200, 201, 2500}};
  for (const auto& s : sizes) {
    const std::int64_t m = s[0], n = s[1], k = s[2];
    INFO(m << " x " << n << " x " << k);
    const auto a = waves(m, k), b = waves(k, n), at = waves(k, m), bt = waves(n, k);
    same_bits("straight", true, [&] { return product(a, b); });
    same_bits("transposed a", true, [&] { return product(cq::transpose(at), b); });
    same_bits("transposed b", true, [&] { return product(a, cq::transpose(bt)); });
    same_bits("both", true, [&] { return product(cq::transpose(at), cq::transpose(bt)); });
  }
  const auto a = cq::reshape(waves(33 * 64, 65), cq::shape{33, 64, 65}).clone();
  const auto b = cq::reshape(waves(33 * 65, 66), cq::shape{33, 65, 66}).clone();
  same_bits("a batch", true, [&] { return product(a, b); });
  const auto few = cq::reshape(waves(3 * 164, 165), cq::shape{3, 164, 165}).clone();
  same_bits("few products", true, [&] { return product(few, cq::transpose<0, 2, 1>(few)); });
}

TEST_CASE("products with an elementwise end give the same bits for 1, 2 and 8 threads (C008)") {
  const std::int64_t sizes[][3] = {
      {128, 512, 300}, {3001, 40, 70}, {1000, 1001, 50}, {2, 9000, 400}};
  for (const auto& s : sizes) {
    INFO(s[0] << " x " << s[1] << " x " << s[2]);
    const auto x = waves(s[0], s[2]), w = waves(s[2], s[1]), b = waves(1, s[1]);
    const auto t = waves(s[1], s[2]);
    same_bits("straight", true, [&] { return dense(x, w, b); });
    same_bits("transposed", true, [&] { return dense(x, cq::transpose(t), b); });
  }
}

TEST_CASE("running sums give the same bits for 1, 2 and 8 threads (C008, C025)") {
  for (const std::int64_t n : {65536, 69632, 69633, 147457, 1000003}) {
    INFO(n);
    const auto x = waves(n);
    same_bits("along", true, [&] { return running(x); });
    same_bits("backwards", true, [&] { return running(cq::flip(x, cq::axis<0>)); });
  }
  const std::int64_t shapes[][2] = {{3, 200001}, {200001, 3}, {700, 701}, {11, 70001}, {70001, 11}};
  for (const auto& s : shapes) {
    INFO(s[0] << " x " << s[1]);
    const auto x = waves(s[0], s[1]), t = waves(s[1], s[0]);
    same_bits("rows", true, [&] { return running_rows(x); });
    same_bits("columns", s[1] != 11, [&] { return running_columns(x); });
    same_bits("rows of a transposed view", true, [&] { return running_rows(cq::transpose(t)); });
  }
}

TEST_CASE(
    "threads join what lies before a block in order, for a monoid that does not commute (C026)") {
  std::vector<float> v(300007);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = i % 5 == 0 ? 0.f : static_cast<float>(static_cast<int>(i % 13) - 6);
  const cq::array<float, 1> x(v);
  float sum = 0;
  for (float& e : v) e = sum = last_signed{}(sum, e);
  const spawned::in_use threads;
  const cq::device_guard on{cq::cpu(0).with_threads(8)};
  const auto y = cq::trace([](auto a) { return cq::accumulate<last_signed>(a, cq::axis<0>); })(x);
  CHECK(y.to_vector() == v);
  CHECK(spawned::most_workers == 8);
}

TEST_CASE("a monoid may throw while other threads wait for what lies before them (C088)") {
  auto x = cq::zeros<float>(cq::shape{500000});
  constexpr auto f = cq::trace([](auto a) { return cq::accumulate<sum_to_nine>(a, cq::axis<0>); });
  const spawned::in_use threads;
  const cq::device_guard on{cq::cpu(0).with_threads(8)};
  for (const std::int64_t bad : {1, 40000, 250000, 499999}) {
    x(bad - 1) = 5, x(bad) = 6;
    for (int i = 0; i < 10; ++i) CHECK_THROWS_AS((void)f(x), std::range_error);
    x(bad - 1) = x(bad) = 0;
  }
  x(0) = 9;
  CHECK(f(x)(499999) == 9);
  CHECK(spawned::uses == 41);
}

TEST_CASE("scans of fewer elements than threads are as serial ones (C025)") {
  const spawned::in_use threads;
  const cq::device_guard on{cq::cpu(0).with_threads(8)};
  for (std::int64_t n = 0; n <= 16; ++n) {
    const cq::array<float, 1> y = running(cq::ones<float>(cq::shape{n}));
    REQUIRE(y.size() == n);
    for (std::int64_t i = 0; i < n; ++i) CHECK(y(i) == static_cast<float>(i + 1));
  }
  CHECK(spawned::uses == 0);
}

TEST_CASE(
    "sorts, indices of maxima, gathers and copies are the same for 1, 2 and 8 threads (C016)") {
  const auto x = waves(257, 1023);
  same_bits("sort", true, [&] { return sorted(x); });
  same_bits("argsort", true, [&] { return places(cq::transpose(x)); });
  same_bits("argmax", true, [&] { return best(x); });
  const auto m = waves(1025, 1027);
  same_bits("copy", true, [&] { return copied(m); });
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < 2000; ++i) rows.push_back(i * 37 % 257);
  const cq::array<std::int64_t, 1> at(rows);
  same_bits("take", true, [&] { return taken(x, at); });
}

TEST_CASE("random numbers are the same for 1, 2 and 8 threads") {
  same_bits("normal", true, [&] {
    cq::rng state(7);
    return cq::trace([](auto s) { return cq::random::normal<float>(s, cq::shape{300, 1001}); })(
        state);
  });
}
