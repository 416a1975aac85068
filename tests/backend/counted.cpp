// Numbers counted from addresses: every element type, and every kind of kernel at each instruction
// set.
#include "calque/core/counted.hpp"

#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;
using cq::detail::counted_at;
using cq::detail::counted_memory;
using cq::detail::is_counted;

template <class T, int W>
void check_count() {
  // as far as T holds them, and where floats begin to round
  std::vector<std::int64_t> firsts{0, 1, 5};
  if (sizeof(T) >= 4 && !std::is_same_v<T, bool>) {
    firsts.insert(firsts.end(), {(1 << 24) - 3, (1 << 30) - 3});
    if (std::is_floating_point_v<T> || sizeof(T) == 8)
      firsts.insert(firsts.end(), {std::int64_t{1} << 31, (std::int64_t{1} << 40) + 1});
  }
  for (std::int64_t first : firsts) {
    cq::lane<T, W> v;
    cq::lanes::count<T, W>(v, first);
    T got[W];
    cq::lanes::store<T, W>(got, v);
    for (int k = 0; k < W; ++k) CHECK(got[k] == static_cast<T>(first + k));
  }
}
template <class... T>
void check_types() {
  (check_count<T, 4>(), ...);
  (check_count<T, 8>(), ...);
}

template <class T>
constexpr auto ramp = cq::trace([](auto x) { return x + cq::arange<T>(x.extent(1), x) * 3; });
template <class T>
constexpr auto totals = cq::trace([](auto x) {
  const auto y = x * cq::arange<T>(x.extent(1), x);
  return std::tuple{cq::sum(y, cq::axis<1>), cq::sum(y, cq::axis<0>)};
});
template <class T>
constexpr auto centred = cq::trace([](auto x) {
  const auto y = x + cq::arange<T>(x.extent(1), x);
  return y - cq::max(y, cq::axis<1>, cq::keepdims);
});

template <class T>
void check_kernels() {
  for (const auto& s : {cq::shape{3, 5}, cq::shape{7, 64}, cq::shape{5, 1001}, cq::shape{200, 9}}) {
    INFO("extents ", cq::to_string(s));
    const auto x =
        laid_out<T>(s, layout::plain, [k = 0]() mutable { return static_cast<T>(k++ % 4); });
    auto ramped = dense_of(x), down = dense_of(x), rows = dense_of(x);
    rows.shape = {s[0]}, rows.data.assign(static_cast<std::size_t>(s[0]), 0);
    auto columns = rows;
    columns.shape = {s[1]}, columns.data.assign(static_cast<std::size_t>(s[1]), 0);
    for (std::int64_t i = 0; i < s[0]; ++i) {
      wide<T> most = 0;
      for (std::int64_t j = 0; j < s[1]; ++j) {
        const auto at = static_cast<std::size_t>(i * s[1] + j);
        const wide<T> v = down.data[at];
        ramped.data[at] = v + 3 * j;
        rows.data[static_cast<std::size_t>(i)] += v * j;
        columns.data[static_cast<std::size_t>(j)] += v * j;
        down.data[at] = v + j;
        most = std::max(most, v + j);
      }
      for (std::int64_t j = 0; j < s[1]; ++j)
        down.data[static_cast<std::size_t>(i * s[1] + j)] -= most;
    }
    at_each_isa(
        [&] {
          CALQUE_CHECK_MATCHES(ramp<T>(x), ramped, 0);
          CALQUE_CHECK_MATCHES(std::get<0>(totals<T>(x)), rows, 0);
          CALQUE_CHECK_MATCHES(std::get<1>(totals<T>(x)), columns, 0);
          CALQUE_CHECK_MATCHES(centred<T>(x), down, 0);
        },
        ramp<T>, totals<T>, centred<T>);
  }
}

}  // namespace

TEST_CASE("addresses of counted memory stand for numbers, others do not") {
  const double on_stack = 1;
  CHECK(!is_counted(&on_stack));
  CHECK(!is_counted(nullptr));
  CHECK(is_counted(counted_memory()));
  CHECK(counted_at(static_cast<float*>(counted_memory()) + 7, sizeof(float)) == 7);
  CHECK(counted_at(static_cast<char*>(counted_memory()) + 7, 1) == 7);
}
TEST_CASE("lanes count in every element type, rounded once") {
  check_types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
              std::uint16_t, std::uint32_t, std::uint64_t, float, double>();
}
TEST_CASE("kernels of every kind count at each instruction set (B9)") {
  check_kernels<float>();
  check_kernels<double>();
  check_kernels<std::int32_t>();
  check_kernels<std::int64_t>();
}
