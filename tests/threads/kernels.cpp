// Every kernel that threads share: the same bits for 1, 2 and 8 threads, at sizes around the ends
// of blocks and layouts that are gathered.
#include "tests/threads/spawned.hpp"

namespace cq = calque;
using spawned::same_bits, spawned::waves;

namespace {

constexpr auto chain = cq::trace([](auto x, auto a) { return cq::tanh(cq::exp(x * 0.001f) * a); });
constexpr auto two = cq::trace([](auto x) { return std::tuple(x * x + 1, cq::sqrt(cq::abs(x))); });
constexpr auto total = cq::trace([](auto x) { return cq::sum(x); });
constexpr auto norm = cq::trace([](auto x, auto y) {
  auto z = 1.5f * x + y;
  return cq::sqrt(cq::sum(z * z));
});
constexpr auto row_sums = cq::trace([](auto x) { return cq::sum(x * x, cq::axis<1>) * 2; });
constexpr auto column_sums = cq::trace([](auto x) { return cq::sum(x * x, cq::axis<0>) + 1; });
constexpr auto row_max = cq::trace([](auto x) { return cq::max(x, cq::axis<1>); });
constexpr auto soft = cq::trace([](auto x) {
  auto e = cq::exp(x - cq::max(x, cq::axis<1>, cq::keepdims));
  return e / cq::sum(e, cq::axis<1>, cq::keepdims);
});
constexpr auto soft_columns = cq::trace([](auto x) {
  auto e = cq::exp(x - cq::max(x, cq::axis<0>, cq::keepdims));
  return e / cq::sum(e, cq::axis<0>, cq::keepdims);
});
constexpr auto places = cq::trace([](auto x) { return cq::argmax(x, cq::axis<1>); });
constexpr auto column_places = cq::trace([](auto x) { return cq::argmax(x, cq::axis<0>); });
constexpr auto column_spread = cq::trace([](auto x) { return cq::var(x, cq::axis<0>); });
constexpr auto extremes = cq::trace([](auto x) {
  auto d = x - cq::max(x);
  return std::tuple(cq::sum(d * d), cq::min(d), cq::exp(d));
});

}  // namespace

TEST_CASE("elementwise kernels give the same bits for 1, 2 and 8 threads (C008)") {
  for (const std::int64_t n : {131072, 262143, 500003}) {
    const auto x = waves(n);
    same_bits("chain", true, [&] { return chain(x, 0.5f); });
    same_bits("two results", true, [&] { return two(x); });
    same_bits("reversed", true, [&] { return two(cq::flip(x, cq::axis<0>)); });
  }
  const auto m = waves(513, 1031);
  same_bits("transposed", true, [&] { return chain(cq::transpose(m), 0.5f); });
  const auto large = waves(6000011);  // past the caches
  same_bits("streamed", true, [&] { return chain(large, 0.5f); });
}

TEST_CASE("sums give the same bits for 1, 2 and 8 threads (C008)") {
  for (const std::int64_t n : {100003, 262144, 262145, 500003}) {
    const auto x = waves(n);
    same_bits("total", n > 200000, [&] { return total(x); });
    same_bits("norm", true, [&] { return norm(x, cq::flip(x, cq::axis<0>)); });
    same_bits("extremes", true, [&] { return extremes(x); });
  }
}

TEST_CASE("reductions of rows and columns give the same bits for 1, 2 and 8 threads (C008)") {
  const std::int64_t shapes[][2] = {
      {1000, 700}, {3, 250001}, {250001, 3}, {17, 40001}, {40001, 17}};
  for (const auto& s : shapes) {
    INFO(s[0] << " x " << s[1]);
    const auto x = waves(s[0], s[1]);
    const auto t = waves(s[1], s[0]);
    same_bits("rows", true, [&] { return row_sums(x); });
    same_bits("columns", true, [&] { return column_sums(x); });
    same_bits("rows of a transposed view", true, [&] { return row_sums(cq::transpose(t)); });
    same_bits("columns of a transposed view", true, [&] { return column_sums(cq::transpose(t)); });
    same_bits("maxima", true, [&] { return row_max(x); });
  }
}

TEST_CASE("row kernels give the same bits for 1, 2 and 8 threads (C008)") {
  const std::int64_t shapes[][2] = {{1000, 300}, {3, 100001}, {100001, 3}, {17, 30001}};
  for (const auto& s : shapes) {
    INFO(s[0] << " x " << s[1]);
    const auto x = waves(s[0], s[1]);
    const auto t = waves(s[1], s[0]);
    same_bits("softmax", true, [&] { return soft(x); });
    same_bits("softmax of columns", true, [&] { return soft_columns(x); });
    same_bits("softmax of a transposed view", true, [&] { return soft(cq::transpose(t)); });
  }
  const auto high = waves(5000, 130);  // longer columns than a tile of whole ones takes
  same_bits("spread of long columns", true, [&] { return column_spread(high); });
  const auto large = waves(3, 2000003);
  same_bits("streamed", true, [&] { return soft(large); });
}

TEST_CASE("places of extremes are the same for 1, 2 and 8 threads (C008)") {
  const auto x = waves(1000, 700);
  same_bits("of rows", true, [&] { return places(x); });
  same_bits("of columns", true, [&] { return column_places(x); });
}
