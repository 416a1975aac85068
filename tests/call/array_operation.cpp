// Operators and functions on arrays outside traces: types as on symbols, copy-on-write updates.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "allocation_counter/allocation_counter.hpp"

namespace cq = calque;

namespace {

using vector = cq::array<float, 1>;
using integers = cq::array<int, 1>;

// a struct with operators of its own keeps them (C127)
struct foreign {
  int v;
  template <class T>
  friend foreign operator+(const foreign& a, const T&) {
    return {a.v + 1};
  }
};
template <class A, class B>
concept can_add = requires(A a, B b) { a + b; };
template <class A, class B>
concept can_update = requires(A& a, const B& b) { a += b; };
static_assert(can_add<vector, int> && can_add<float, vector> && can_add<foreign, int>);
static_assert(!can_add<vector, foreign> && !can_add<vector, std::string>);
static_assert(!can_add<std::vector<float>, int> && !can_add<vector, std::vector<float>>);
static_assert(can_update<vector, int> && !can_update<vector, std::string>);
static_assert(!can_update<const vector, int>);

}  // namespace

TEST_CASE("operators on arrays follow the promotion table in both orders (C037, C038)") {
  const integers i{7, 6};
  CHECK((i * 2.5).to_vector() == std::vector<double>{17.5, 15});
  CHECK((2.5 * i).to_vector() == std::vector<double>{17.5, 15});
  CHECK((i / 0.5).to_vector() == std::vector<double>{14, 12});
  CHECK((i / 4).to_vector() == std::vector<int>{1, 1});
  const vector x{1e30f, 3};
  CHECK((x * 0.1).to_vector() == (0.1 * x).to_vector());
  CHECK((x * 0.1)(1) == 3 * 0.1f);
  CHECK((i > 6).to_vector() == std::vector<bool>{true, false});
  CHECK((6 < i).to_vector() == std::vector<bool>{true, false});
  CHECK((-i)(0) == -7);
  CHECK((foreign{1} + vector{1}).v == 2);
}

TEST_CASE("warm operators allocate their result, compound ones nothing") {
  vector x = cq::arange<float>(64);
  const vector y = cq::arange<float>(64);
  (void)(x + y);
  x += y;
  allocation_counter c;
  { const auto z = x + y; }
  if (counting_available) CHECK(c.count() == 1);
  x += y;
  x *= 0.5f;
  x *= 2.f;
  const auto warm = c.count();
  x *= 0.5f;
  x += y;
  CHECK(c.count() == warm);
}

TEST_CASE("functions take arrays, numbers and views alike") {
  const cq::array<float, 2> m{{1, -4}, {9, 16}};
  CHECK(cq::sqrt(cq::abs(m)).to_vector() == std::vector<float>{1, 2, 3, 4});
  CHECK(cq::sum(cq::transpose(m), cq::axis<0>).to_vector() == std::vector<float>{-3, 25});
  CHECK(cq::maximum(cq::slice(m, cq::range{0, 1}), 0).to_vector() == std::vector<float>{1, 0});
  CHECK(cq::where(m > 0, m, -1).to_vector() == std::vector<float>{1, -1, 9, 16});
  CHECK(cq::matmul(m, cq::transpose(m)).to_vector() == std::vector<float>{17, -55, -55, 337});
  CHECK(cq::argmax(cq::broadcast_to(vector{1, 3, 3}, cq::shape{2, 3}), cq::axis<1>).to_vector() ==
        std::vector<std::int64_t>{1, 1});  // C016
  CHECK(cq::mean(cq::array<bool, 1>{true, false}).item() == 0.5);
}

TEST_CASE("an integer that the array's type does not hold is refused, as a literal in a trace is") {
  integers i{5, 6};
  const cq::array<std::uint8_t, 1> u{0, 200, 255};
  const std::int64_t wide = 3000000000;
  CHECK_THROWS_WITH_AS((void)(i < wide), doctest::Contains("less: 3000000000 does not fit i32[2]"),
                       cq::dtype_error);
  CHECK_THROWS_AS((void)(wide > i), cq::dtype_error);
  CHECK_THROWS_AS((void)(i + wide), cq::dtype_error);
  CHECK_THROWS_AS((void)(u > -1), cq::dtype_error);
  CHECK_THROWS_WITH_AS((void)(u == 456), doctest::Contains("equal: 456 does not fit u8[3]"),
                       cq::dtype_error);
  CHECK_THROWS_AS((void)(cq::array<std::int64_t, 1>{1} * ~std::uint64_t{0}), cq::dtype_error);
  CHECK_THROWS_AS((void)cq::maximum(i, -wide), cq::dtype_error);
  CHECK_THROWS_WITH_AS((void)cq::where(i > 5, i, wide),
                       doctest::Contains("where: 3000000000 does not fit i32[2]"), cq::dtype_error);
  CHECK_THROWS_WITH_AS(i += wide, doctest::Contains("add: 3000000000 does not fit i32[2]"),
                       cq::dtype_error);
  CHECK(i.to_vector() == std::vector<int>{5, 6});
}

TEST_CASE("numbers that fit, and those beside bool and floating arrays, are taken as they are") {
  integers i{5, 6};
  const cq::array<std::uint8_t, 1> u{0, 200, 255};
  CHECK((u + 255).to_vector() == std::vector<std::uint8_t>{255, 199, 254});  // sums still wrap
  CHECK((u >= std::int64_t{200}).to_vector() == std::vector<bool>{false, true, true});
  CHECK((i * true).to_vector() == std::vector<int>{5, 6});
  i += std::int64_t{-7};
  CHECK(i.to_vector() == std::vector<int>{-2, -1});
  CHECK((vector{1} + std::int64_t{3000000000}).to_vector() == std::vector<float>{3000000000.f});
  CHECK((cq::array<bool, 1>{true} + 300).to_vector() == std::vector<int>{301});
  CHECK((u * 2.5)(2) == 637.5);
  CHECK(cq::where(i < -1, std::int64_t{1} << 40, 2).to_vector() ==
        std::vector<std::int64_t>{std::int64_t{1} << 40, 2});
}

TEST_CASE("softmax of integers of any width is that of the numbers, not of wrapped differences") {
  const auto expect = [](const auto& labels, const std::vector<double>& p) {
    const auto s = cq::softmax(labels, cq::axis<0>), l = cq::log_softmax(labels, cq::axis<0>);
    for (std::size_t k = 0; k < p.size(); ++k) {
      CHECK(s(k) == doctest::Approx(p[k]).epsilon(1e-7));
      if (p[k] != 0) CHECK(l(k) == doctest::Approx(std::log(p[k])).epsilon(1e-7));
    }
  };
  const std::vector<double> three{0.090030573, 0.244728471, 0.665240956};
  expect(cq::array<std::uint8_t, 1>{1, 2, 3}, three);
  expect(cq::array<std::uint64_t, 1>{1, 2, 3}, three);
  expect(cq::array<int, 1>{1, 2, 3, std::numeric_limits<int>::min()},
         {three[0], three[1], three[2], 0});
  expect(cq::array<std::int8_t, 1>{-128, 0, 127}, {std::exp(-255.), std::exp(-127.), 1});
  expect(cq::array<bool, 1>{true, false}, {0.731058579, 0.268941421});
}

TEST_CASE("a one_hot of too many classes is refused by its own name") {
  CHECK_THROWS_WITH_AS((void)cq::one_hot<float>(integers{1, 2}, std::int64_t{1} << 62),
                       doctest::Contains("one_hot: f32[2, 4611686018427387904]"), cq::shape_error);
}
