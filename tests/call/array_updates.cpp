// Compound assignment on arrays: in place, copy-on-write, of one type.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace cq = calque;

namespace {

using vector = cq::array<float, 1>;
using integers = cq::array<int, 1>;

}  // namespace

TEST_CASE("compound assignment writes in place and detaches what is shared (design: arrays)") {
  vector x{1, 2, 3};
  const float* const at = std::as_const(x).data();
  x += 1;
  x -= vector{1, 1, 1};
  x *= x;
  x /= 2.0;
  CHECK(x.to_vector() == std::vector<float>{0.5f, 2, 4.5f});
  CHECK(std::as_const(x).data() == at);
  const vector y = x;
  const auto view = cq::slice(x, cq::range{1, 3});
  x += y;
  CHECK(x.to_vector() == std::vector<float>{1, 4, 9});
  CHECK(y.to_vector() == std::vector<float>{0.5f, 2, 4.5f});
  CHECK(view.to_vector() == std::vector<float>{2, 4.5f});
}

TEST_CASE("compound assignment keeps the type and broadcasts the right side only") {
  integers i{1, 2};
  i += std::int64_t{1} << 2;
  i += true;
  i *= cq::array<std::int8_t, 1>{2};
  CHECK(i.to_vector() == std::vector<int>{12, 14});
  cq::array<float, 2> m{{1, 2}, {3, 4}};
  m += vector{10, 20};
  m -= cq::array<float, 2>{{1}, {2}};
  CHECK(m.to_vector() == std::vector<float>{10, 21, 11, 22});
  vector x{1};
  CHECK_THROWS_AS((x += vector{1, 2}), cq::shape_error);
  CHECK(x.to_vector() == std::vector<float>{1});
  cq::array<float, 0> s{1.f};
  s += 2;
  CHECK(s.item() == 3);
}

TEST_CASE("compound assignment writes through borrowed memory, strided too") {
  std::vector<float> room{1, 2, 3, 4, 5};
  auto odd = cq::borrow(room.data(), cq::shape{3}, {2});
  odd += 10;
  odd *= cq::borrow(std::as_const(room).data() + 1, cq::shape{3});
  CHECK(room == std::vector<float>{22, 2, 169, 4, 60});
}
