#include "calque/array/views.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/array/borrow.hpp"
#include "calque/array/factories.hpp"

namespace cq = calque;
using cq::range;

namespace {

std::int64_t allocations() { return cq::counters(cq::cpu()).allocations; }

template <class V>
constexpr bool writes = requires(V& v) { v(0, 0) = 1; } || requires(V& v) { *v.data() = 1; };

template <class A>
constexpr bool sliceable = requires(const A& a) { cq::slice(a, range{}); };
template <class A>
constexpr bool transposable = requires(const A& a) { cq::transpose(a); };

cq::array<int, 2> counted(std::int64_t n, std::int64_t m) {
  return cq::reshape(cq::arange<int>(n * m), cq::shape{n, m});
}

// Every shape of `rank` axes with `size` elements, extents 1 included.
void shapes_of(std::int64_t size, int rank, std::vector<std::int64_t>& extents, const auto& visit) {
  if (rank == 1) {
    extents.push_back(size);
    visit(extents);
    extents.pop_back();
    return;
  }
  for (std::int64_t e = 1; e <= size; ++e)
    if (size % e == 0) {
      extents.push_back(e);
      shapes_of(size / e, rank - 1, extents, visit);
      extents.pop_back();
    }
}

template <int Rank>
cq::shape<Rank> to_shape(const std::vector<std::int64_t>& e) {
  std::array<std::int64_t, Rank> extents{};
  std::copy(e.begin(), e.end(), extents.begin());
  return cq::shape<Rank>(extents);
}

}  // namespace

TEST_CASE("slice keeps one range an axis, and everything where none is given") {
  const auto a = counted(3, 4);
  CHECK(cq::slice(a, range{1, 3}).to_vector() == std::vector<int>{4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(cq::slice(a, range{}, range{-1}).to_vector() == std::vector<int>{3, 7, 11});
  CHECK(cq::slice(a, range{range::open, range::open, -2}, range{0, 4, 3}).to_vector() ==
        std::vector<int>{8, 11, 0, 3});
  CHECK(cq::slice(a).to_vector() == a.to_vector());
  CHECK(cq::slice(a, range{2, 1}).shape() == cq::shape{0, 4});
  CHECK(cq::slice(a, range{0, 100}, range{-100, 1}).shape() == cq::shape{3, 1});
}

TEST_CASE("views copy nothing and cannot be written (C071)") {
  cq::array<int, 2> a = counted(2, 3);
  const auto before = allocations();
  const auto s = cq::slice(a, range{0, 1});
  const auto t = cq::transpose(a);
  const auto r = cq::reshape(a, cq::shape{3, 2});
  CHECK(cq::reshape(a, {3, 2u}).shape() == r.shape());
  CHECK(cq::broadcast_to(a, {4, 2, 3}).shape() == cq::shape{4, 2, 3});
  const auto b = cq::broadcast_to(a, cq::shape{4, 2, 3});
  CHECK(allocations() == before);
  CHECK(s.data() == std::as_const(a).data());
  CHECK(t.data() == s.data());
  CHECK(r.data() == s.data());
  CHECK(b.data() == s.data());
  static_assert(writes<cq::array<int, 2>>);
  static_assert(!writes<decltype(cq::slice(a))> && !writes<decltype(cq::transpose(a))>);
  static_assert(!writes<decltype(cq::slice(std::as_const(a)))>);
  static_assert(!writes<decltype(cq::transpose(cq::slice(std::as_const(a))))>);
  static_assert(!writes<decltype(cq::reshape(a, cq::shape{3, 2}))>);
  static_assert(std::is_same_v<decltype(cq::slice(cq::transpose(a))), cq::array<const int, 2>>);
}

TEST_CASE("a view keeps its values when the array is written or gone (C073, C076)") {
  auto a = std::make_unique<cq::array<int, 2>>(counted(3, 4));
  const auto v = cq::slice(cq::slice(*a, range{0, 2}), range{0, 1});
  const auto t = cq::transpose(cq::reshape(cq::transpose(*a), cq::shape{4, 3}));
  (*a)(0, 0) = 100;  // detaches
  CHECK((*a)(0, 0) == 100);
  a.reset();
  std::vector<cq::array<int, 2>> others(50, counted(3, 4));
  for (auto& o : others) o.data()[0] = -1;
  CHECK(v.to_vector() == std::vector<int>{0, 1, 2, 3});
  CHECK(t(2, 3) == 11);
}

TEST_CASE("chains of views on temporaries are safe in every binding (C073, C076)") {
  auto e = cq::transpose(cq::slice(cq::reshape(counted(2, 6), cq::shape{4, 3}), range{1, 3}));
  const auto& c = cq::broadcast_to(cq::slice(counted(2, 3), range{1, 2}), cq::shape{2, 3});
  auto&& r = cq::reshape(cq::transpose(counted(2, 3)), cq::shape{6});
  std::vector<cq::array<int, 2>> others(50, counted(2, 6));
  for (auto& o : others) o.data()[0] = -1;
  for (int twice = 0; twice < 2; ++twice) {
    CHECK(e.to_vector() == std::vector<int>{3, 6, 4, 7, 5, 8});
    CHECK(c.to_vector() == std::vector<int>{3, 4, 5, 3, 4, 5});
    CHECK(r.to_vector() == std::vector<int>{0, 3, 1, 4, 2, 5});
  }
}

TEST_CASE("helpers that build local arrays and return views of them are safe (C074)") {
  const auto corner = [](const auto& x) {
    const auto local = x.clone();
    return cq::slice(local, range{0, 2}, range{0, 2});
  };
  const auto nested = corner(cq::transpose(corner(cq::transpose(corner(counted(3, 3))))));
  std::vector<cq::array<int, 2>> others(50, counted(3, 3));
  CHECK(nested.to_vector() == std::vector<int>{0, 1, 3, 4});
}

TEST_CASE("transpose reverses the axes or takes their order, also negative") {
  const auto a = cq::reshape(cq::arange<int>(24), cq::shape{2, 3, 4});
  const auto t = cq::transpose(a);
  CHECK(t.shape() == cq::shape{4, 3, 2});
  CHECK(t(3, 2, 1) == a(1, 2, 3));
  const auto p = cq::transpose<1, 0, 2>(a);
  CHECK(p.shape() == cq::shape{3, 2, 4});
  CHECK(p(2, 1, 3) == a(1, 2, 3));
  const auto q = cq::transpose<-1, 0, 1>(a);
  CHECK(q.shape() == cq::shape{4, 2, 3});
  CHECK(q(3, 1, 2) == a(1, 2, 3));
  CHECK(cq::transpose(cq::arange<int>(3)).to_vector() == std::vector<int>{0, 1, 2});
  CHECK(cq::transpose(cq::array<int, 0>(3)).item() == 3);
}

TEST_CASE("reshape gives every shape of the same size, from dense and strided arrays") {
  const auto base = cq::reshape(cq::arange<int>(48), cq::shape{2, 3, 4, 2});
  const auto check = [](const auto& a) {
    const auto expected = a.to_vector();
    std::vector<std::int64_t> extents;
    shapes_of(a.size(), 1, extents,
              [&](auto& e) { CHECK(cq::reshape(a, to_shape<1>(e)).to_vector() == expected); });
    shapes_of(a.size(), 2, extents,
              [&](auto& e) { CHECK(cq::reshape(a, to_shape<2>(e)).to_vector() == expected); });
    shapes_of(a.size(), 4, extents,
              [&](auto& e) { CHECK(cq::reshape(a, to_shape<4>(e)).to_vector() == expected); });
  };
  check(base);
  check(cq::transpose(base));
  check(cq::transpose<0, 2, 1, 3>(base));
  check(cq::slice(base, range{}, range{}, range{0, 4, 2}, range{0, 1}));
  check(cq::slice(base, range{}, range{range::open, range::open, -1}));
  check(cq::broadcast_to(cq::arange<int>(3), cq::shape{2, 2, 3}));
}

TEST_CASE("reshape shares where strides allow and copies once where not") {
  const auto a = cq::reshape(cq::arange<int>(24), cq::shape{2, 3, 4});
  const auto before = allocations();
  CHECK(cq::reshape(cq::slice(a, range{}, range{}, range{0, 4, 2}), cq::shape{12}).size() == 12);
  CHECK(cq::reshape(cq::slice(a, range{0, 1}), cq::shape{12}).data() == a.data());
  CHECK(allocations() == before);
  const auto copied = cq::reshape(cq::transpose(a), cq::shape{24});
  CHECK(allocations() == before + 1);
  CHECK(copied(1) == 12);
}

TEST_CASE("reshape goes to and from rank 0") {
  const auto one = cq::reshape(cq::array<int, 2>{{7}}, cq::shape{});
  static_assert(std::is_same_v<decltype(one), const cq::array<const int, 0>>);
  CHECK(one.item() == 7);
  CHECK(cq::reshape(cq::array<int, 0>(8), cq::shape{1, 1})(0, 0) == 8);
  CHECK(cq::reshape(cq::array<int, 0>(8), cq::shape{}).item() == 8);
  float x = 1;
  const auto seen = cq::reshape(cq::borrow(&x, cq::shape{}), cq::shape{1});
  x = 2;
  CHECK(seen(0) == 2);
}

TEST_CASE("reshape and broadcast_to of empty arrays") {
  const auto none = cq::zeros<int>(cq::shape{0, 3});
  CHECK(cq::reshape(none, cq::shape{5, 0, 2}).shape() == cq::shape{5, 0, 2});
  CHECK(cq::broadcast_to(none, cq::shape{2, 0, 3}).size() == 0);
  CHECK(cq::broadcast_to(cq::arange<int>(1), cq::shape{0}).shape() == cq::shape{0});
  CHECK(cq::transpose(none).shape() == cq::shape{3, 0});
  CHECK(cq::slice(none, range{0, 5}).shape() == cq::shape{0, 3});
  CHECK(cq::slice(cq::array<int, 2>{}).shape() == cq::shape{0, 0});
}

TEST_CASE("a reshape to another size throws and names both") {
  CHECK_THROWS_WITH_AS((void)cq::reshape(counted(2, 3), cq::shape{4}),
                       doctest::Contains("i32[2, 3] has 6 elements but [4] has 4"),
                       cq::shape_error);
}

TEST_CASE("broadcast_to repeats extent 1 and new leading axes") {
  const cq::array<int, 2> column{{1}, {2}};
  CHECK(cq::broadcast_to(column, cq::shape{2, 3}).to_vector() ==
        std::vector<int>{1, 1, 1, 2, 2, 2});
  CHECK(cq::broadcast_to(cq::array<int, 1>{1, 2}, cq::shape{2, 2}).to_vector() ==
        std::vector<int>{1, 2, 1, 2});
  CHECK(cq::broadcast_to(cq::array<int, 0>(5), cq::shape{2, 2}).to_vector() ==
        std::vector<int>(4, 5));
  CHECK(cq::broadcast_to(cq::array<int, 0>(5), cq::shape{}).item() == 5);
}

TEST_CASE("broadcast_to throws on a mismatch, 1 against 0 gives 0 (C031), huge sizes are refused") {
  CHECK_THROWS_WITH_AS((void)cq::broadcast_to(cq::array<int, 1>{1, 2}, cq::shape{2, 3}),
                       doctest::Contains("i32[2] does not broadcast to [2, 3]"), cq::shape_error);
  CHECK_THROWS_AS((void)cq::broadcast_to(cq::zeros<int>(cq::shape{0}), cq::shape{1}),
                  cq::shape_error);
  CHECK_THROWS_AS((void)cq::broadcast_to(cq::array<int, 1>{1, 2}, cq::shape{1}), cq::shape_error);
  CHECK(cq::broadcast_to(cq::zeros<int>(cq::shape{1, 1}), cq::shape{2, 0}).size() == 0);
  const std::int64_t big = std::int64_t{1} << 40;
  CHECK_THROWS_AS((void)cq::broadcast_to(cq::array<int, 0>(5), cq::shape{big, big}),
                  cq::shape_error);
}

TEST_CASE("views of borrowed memory see later writes, read-only") {
  std::vector<int> v{1, 2, 3, 4};
  const auto a = cq::borrow(v.data(), cq::shape{2, 2});
  const auto t = cq::transpose(a);
  v[1] = 20;
  CHECK(t(1, 0) == 20);
}

TEST_CASE("the names take arrays only, so that symbols can have overloads of their own") {
  static_assert(sliceable<cq::array<int, 1>> && sliceable<cq::array<const int, 2>>);
  static_assert(!sliceable<int> && !sliceable<std::vector<int>> && !transposable<std::vector<int>>);
}
