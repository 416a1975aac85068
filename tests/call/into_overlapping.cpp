// Destinations that overlap arguments: what is read is read before it is overwritten.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

namespace cq = calque;

namespace {

using vector = cq::array<float, 1>;
using matrix = cq::array<float, 2>;

constexpr auto copy = cq::trace([](auto x) { return x; });
constexpr auto symmetric = cq::trace([](auto a) { return a + cq::transpose(a); });

}  // namespace

TEST_CASE("a += transpose(a) reads all of a first (C061)") {
  matrix a{{1, 2}, {3, 4}};
  symmetric.into(a, a);
  CHECK(a.to_vector() == std::vector<float>{2, 5, 5, 8});
  const std::int64_t n = 300;
  std::vector<float> v(static_cast<std::size_t>(n * n));
  std::uint32_t seed = 1;
  for (float& e : v) e = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8);
  matrix m{v, cq::shape{n, n}};
  for (int round = 0; round < 3; ++round) symmetric.into(m, m);
  const float* const p = std::as_const(m).data();
  bool same = true;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) same = same && p[i * n + j] == p[j * n + i];
  CHECK(same);
  matrix b{{1, 2}, {3, 4}};
  b -= cq::transpose(b);
  CHECK(b.to_vector() == std::vector<float>{0, -1, 1, 0});
  b = matrix{{1, 2}, {3, 4}};
  b *= cq::transpose(b);
  CHECK(b.to_vector() == std::vector<float>{1, 6, 6, 16});
}

TEST_CASE("shifted, nested and reversed overlaps of in and out (C064, C067)") {
  std::vector<float> room(5);
  std::iota(room.begin(), room.end(), 1.f);
  auto to = cq::borrow(room.data() + 1, cq::shape{4});
  copy.into(to, cq::borrow(std::as_const(room).data(), cq::shape{4}));
  CHECK(room == std::vector<float>{1, 1, 2, 3, 4});
  std::iota(room.begin(), room.end(), 1.f);
  auto back = cq::borrow(room.data(), cq::shape{4});
  copy.into(back, cq::borrow(std::as_const(room).data() + 1, cq::shape{4}));
  CHECK(room == std::vector<float>{2, 3, 4, 5, 5});

  std::vector<float> nine(9);
  std::iota(nine.begin(), nine.end(), 1.f);
  auto corner = cq::borrow(nine.data() + 4, cq::shape{2, 2}, {3, 1});
  copy.into(corner, cq::borrow(std::as_const(nine).data(), cq::shape{2, 2}, {3, 1}));
  CHECK(nine == std::vector<float>{1, 2, 3, 4, 1, 2, 7, 4, 5});

  std::vector<float> six{0, 1, 2, 3, 4, 5};
  auto reversed = cq::borrow(six.data() + 5, cq::shape{6}, {-1});
  reversed += 2 * cq::borrow(std::as_const(six).data() + 5, cq::shape{6}, {-1});
  CHECK(six == std::vector<float>{0, 3, 6, 9, 12, 15});
  reversed += cq::borrow(std::as_const(six).data(), cq::shape{6});
  CHECK(six == std::vector<float>{15, 15, 15, 15, 15, 15});
}

TEST_CASE("out is an argument of every kind of step (C061, C065)") {
  constexpr auto squared = cq::trace([](auto a) { return cq::matmul(a, a); });
  constexpr auto rows =
      cq::trace([](auto a) { return a - cq::mean(a, cq::axis<1>, cq::keepdims); });
  constexpr auto swap = cq::trace([](auto a, auto b) { return std::tuple{b, a}; });
  constexpr auto flip = cq::trace([](auto a) { return cq::transpose(a); });
  matrix a{{1, 2}, {3, 4}};
  squared.into(a, a);
  CHECK(a.to_vector() == std::vector<float>{7, 10, 15, 22});
  rows.into(a, a);
  CHECK(a.to_vector() == std::vector<float>{-1.5f, 1.5f, -3.5f, 3.5f});
  flip.into(a, a);
  CHECK(a.to_vector() == std::vector<float>{-1.5f, -3.5f, 1.5f, 3.5f});
  vector x{1, 2}, y{3, 4};
  swap.into(cq::outs(x, y), x, y);
  CHECK(x.to_vector() == std::vector<float>{3, 4});
  CHECK(y.to_vector() == std::vector<float>{1, 2});
}
