// Sorting against the standard library's stable sort: types, layouts, ties, zeros, NaN,
// derivatives.
#include "calque/ops/sort.hpp"

#include <algorithm>
#include <numeric>

#include "support/slopes.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

const float nan_f = std::numeric_limits<float>::quiet_NaN();
const float inf = std::numeric_limits<float>::infinity();

/// The places of a line's elements in order.
template <class T>
std::vector<std::int64_t> ordered(const std::vector<T>& line, bool down) {
  std::vector<std::int64_t> places(line.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t i, std::int64_t k) {
    const T a = line[static_cast<std::size_t>(i)], b = line[static_cast<std::size_t>(k)];
    if (a != a || b != b) return a == a && b != b;
    return down ? b < a : a < b;
  });
  return places;
}

template <class T, int R, int A, class Draw>
void check_sort(Draw draw, std::int64_t length = 700) {
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{cq::sort(x, cq::axis<A>), cq::argsort(x, cq::axis<A>),
                      cq::sort(x, cq::axis<A>, cq::descending),
                      cq::argsort(x, cq::axis<A>, cq::descending)};
  });
  constexpr std::size_t axis = static_cast<std::size_t>((A + R) % R);
  auto shapes = shapes_of<R>();
  std::array<std::int64_t, R> large{};
  for (std::size_t i = 0; i < R; ++i) large[i] = i == axis ? length : 3;
  shapes.push_back(cq::shape<R>(large));
  for (const auto& s : shapes)
    for (layout how : layouts) {
      const auto x = laid_out<T>(s, how, draw);
      INFO("extents ", cq::to_string(s), ", layout ", static_cast<int>(how));
      const auto [up, up_places, down, down_places] = f(x);
      const auto [up2, up_places2, down2, down_places2] = f(x);
      CHECK(same_bits(up, up2));
      CHECK(same_bits(down, down2));
      CHECK(same_bits(cq::argsort(x, cq::axis<A>), up_places2));
      CHECK(same_bits(cq::argsort(x, cq::axis<A>, cq::descending), down_places2));
      const auto all = x.to_vector();
      const auto sorted = std::array{up.to_vector(), down.to_vector()};
      const auto places = std::array{up_places.to_vector(), down_places.to_vector()};
      std::int64_t step = 1;
      for (std::size_t i = axis + 1; i < R; ++i) step *= s[static_cast<int>(i)];
      const std::int64_t n = s[static_cast<int>(axis)];
      bool right = true;
      for (std::int64_t first = 0, size = static_cast<std::int64_t>(all.size()); first < size;
           ++first) {
        if (first / step % n != 0) continue;
        std::vector<T> line;
        for (std::int64_t i = 0; i < n; ++i)
          line.push_back(all[static_cast<std::size_t>(first + i * step)]);
        for (std::size_t d = 0; d < 2; ++d) {
          const auto want = ordered(line, d == 1);
          for (std::int64_t i = 0; i < n; ++i) {
            const auto at = static_cast<std::size_t>(first + i * step),
                       k = static_cast<std::size_t>(i);
            const T value = line[static_cast<std::size_t>(want[k])], got = sorted[d][at];
            right = right && places[d][at] == want[k] && std::memcmp(&value, &got, sizeof(T)) == 0;
          }
        }
      }
      CHECK(right);
    }
}

template <class T>
auto mixed() {
  return [random = std::mt19937_64(9)]() mutable {
    const auto r = random();
    if constexpr (std::is_floating_point_v<T>) {
      switch (r % 16) {
        case 0: return T(0);
        case 1: return -T(0);
        case 2: return std::numeric_limits<T>::quiet_NaN();
        case 3: return -std::numeric_limits<T>::quiet_NaN();
        case 4: return std::numeric_limits<T>::infinity();
        case 5: return -std::numeric_limits<T>::infinity();
        case 6: return std::numeric_limits<T>::denorm_min();
        case 7: return T(1);
        default: return static_cast<T>(static_cast<double>(r >> 40) - 8e6) * T(1e-3);
      }
    } else {
      return static_cast<T>(r % 3 == 0 ? r >> 60 : r >> 8);
    }
  };
}

}  // namespace

TEST_CASE(
    "sorting is stable, keeps zeros in their order, and puts NaN last both ways (C019, C020)") {
  check_sort<float, 1, 0>(mixed<float>(), 5000);
  check_sort<float, 3, 1>(mixed<float>());
  check_sort<double, 2, 0>(mixed<double>());
  check_sort<std::int32_t, 2, -1>(mixed<std::int32_t>());
  check_sort<std::int8_t, 1, 0>(mixed<std::int8_t>());
  check_sort<std::uint64_t, 1, 0>(mixed<std::uint64_t>());
  check_sort<bool, 1, 0>(mixed<bool>());
}

TEST_CASE("the reported cases of sorting (C019, C020, C043)") {
  const cq::array<float, 1> zeros{0.f, -0.f, 0.f};
  CHECK(cq::argsort(zeros).to_vector() == std::vector<std::int64_t>{0, 1, 2});
  CHECK(std::signbit(cq::sort(zeros)(1)));
  const auto text = [](const cq::array<float, 1>& a) {
    std::string s;
    for (float v : a.to_vector()) s += v != v ? "n " : std::to_string(static_cast<int>(v)) + " ";
    return s;
  };
  CHECK(text(cq::sort(cq::array<float, 1>{3, nan_f, 1, 2, nan_f, 0})) == "0 1 2 3 n n ");
  CHECK(text(cq::sort(cq::array<float, 1>{3, -nan_f, 1, nan_f, -1})) == "-1 1 3 n n ");
  CHECK(text(cq::sort(cq::array<float, 1>{3, -nan_f, 1, nan_f, -1}, cq::axis<0>, cq::descending)) ==
        "3 1 -1 n n ");
  CHECK(cq::sort(cq::array<float, 1>{inf, 0, -inf})(0) == -inf);
  CHECK(cq::sort(cq::zeros<int>(cq::shape{3, 0}), cq::axis<1>).shape() == cq::shape{3, 0});
  CHECK(cq::sort(cq::zeros<int>(cq::shape{0, 3}), cq::axis<0>).shape() == cq::shape{0, 3});
}

TEST_CASE("a sort may be written over its input, and eager agrees") {
  const auto x = drawn<float>(cq::shape{300, 2}, mixed<float>());
  constexpr auto f = cq::trace([](auto v) { return cq::sort(v * 2, cq::axis<0>, cq::descending); });
  const auto want = f(x);
  CHECK(same_bits(cq::eager(f)(x), want));
  auto y = x.clone();
  f.into(y, y);
  CHECK(same_bits(y, want));
}

TEST_CASE("the derivative of a sort goes back to where each element came from (B8)") {
  const cq::array<float, 1> x{3, 1, 2}, w{10, 20, 30};
  constexpr auto f = [](auto v, auto u) { return cq::sum(cq::sort(v, cq::axis<0>) * u); };
  CHECK(cq::grad(f)(x, w).to_vector() == std::vector<float>{30, 10, 20});
  check_slopes<0>(
      [](auto v, auto u) {
        const auto s = cq::sort(v * v, cq::axis<1>, cq::descending);
        const auto slope =
            cq::grad([](auto a) { return cq::sum(cq::sort(a, cq::axis<0>) * a * a); })(v);
        return cq::sum(s * s * u) + cq::sum(cq::sort(v, cq::axis<0>) * u) + cq::sum(slope * u);
      },
      drawn<double>(cq::shape{4, 5}, between(0.2, 3, 5)),
      drawn<double>(cq::shape{4, 5}, between(-1, 1, 6)));
}
