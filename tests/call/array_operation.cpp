// Operators and functions on arrays outside traces: types as on symbols, copy-on-write updates.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

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
