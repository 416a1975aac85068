#include "calque/array/array.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/array/borrow.hpp"
#include "calque/array/views.hpp"

namespace cq = calque;

namespace {

std::int64_t allocations() { return cq::counters(cq::cpu()).allocations; }

// Counts the members of an aggregate by initialising them, as tracing does.
struct anything {
  template <class T>
  constexpr operator T() const;
};
template <class M, class... A>
constexpr int member_count() {
  if constexpr (requires { M{A{}..., anything{}}; }) return member_count<M, A..., anything>();
  else return sizeof...(A);
}

template <template <class, int> class A>
struct affine {
  A<float, 2> weights;
  A<float, 1> bias;
};
template <template <class, int> class A>
struct net {
  affine<A> first, second;
  A<double, 0> scale;
  A<const float, 3> constants;
};

template <class A>
constexpr bool assignable_element = requires(A& a) { a(0) = 1.0f; };
template <class A>
constexpr bool has_writable_data = requires(A& a) { *a.data() = 1.0f; };
template <class A>
constexpr bool has_copy_from = requires(A& a, const A& b) { a.copy_from(b); };

}  // namespace

TEST_CASE("braces are values, for ranks 1 to 4") {
  const cq::array<float, 1> one{1, 2, 3};
  CHECK(one.shape() == cq::shape{3});
  CHECK(one.to_vector() == std::vector<float>{1, 2, 3});
  const cq::array<float, 2> two{{1, 2}, {3, 4}, {5, 6}};
  CHECK(two.shape() == cq::shape{3, 2});
  CHECK(two(2, 0) == 5);
  const cq::array<int, 3> three{{{1, 2}}, {{3, 4}}};
  CHECK(three.shape() == cq::shape{2, 1, 2});
  CHECK(three(1, 0, 1) == 4);
  const cq::array<int, 4> four{{{{1}, {2}}}, {{{3}, {4}}}};
  CHECK(four.shape() == cq::shape{2, 1, 2, 1});
  CHECK(four(1, 0, 0, 0) == 3);
  const cq::array<bool, 1> truth{true, false};
  CHECK(truth(0));
  CHECK(!truth(1));
  const cq::array<float, 2> row{{1, 2}};
  CHECK(row.shape() == cq::shape{1, 2});
  const cq::array<float, 2> nothing{{}, {}};
  CHECK(nothing.shape() == cq::shape{2, 0});
}

TEST_CASE("ragged braces throw and name the axis") {
  CHECK_THROWS_WITH_AS((cq::array<float, 2>{{1, 2}, {3}}), doctest::Contains("axis 1"),
                       cq::shape_error);
  CHECK_THROWS_AS((cq::array<int, 3>{{{1}, {2}}, {{3}}}), cq::shape_error);
  CHECK_THROWS_AS((cq::array<int, 3>{{{1}, {2, 2}}}), cq::shape_error);
}

TEST_CASE("spans and vectors are copied in row-major order") {
  std::vector<float> v{1, 2, 3, 4, 5, 6};
  const cq::array<float, 1> flat{std::span<const float>(v)};
  const cq::array<float, 1> from_vector{v};
  const cq::array<float, 2> shaped{v, cq::shape{2, 3}};
  v[0] = 9;
  CHECK(flat(0) == 1);
  CHECK(from_vector(5) == 6);
  CHECK(shaped(1, 0) == 4);
  const cq::array<bool, 1> truth{std::vector<bool>{true, false, true}};
  CHECK(truth.to_vector() == std::vector<bool>{true, false, true});
  const cq::array<float, 1> none{std::vector<float>{}};
  CHECK(none.size() == 0);
  CHECK(none.is_allocated());
}

TEST_CASE("a span of another size than the shape throws and both are named") {
  const std::vector<float> v(5);
  CHECK_THROWS_WITH_AS((cq::array<float, 2>{v, cq::shape{2, 3}}),
                       doctest::Contains("f32[2, 3] has 6 elements but the span has 5"),
                       cq::shape_error);
  const cq::array<float, 1> a{1, 2, 3};
  std::vector<float> out(2);
  CHECK_THROWS_WITH_AS(a.copy_to(out),
                       doctest::Contains("f32[3] has 3 elements but the span has 2"),
                       cq::shape_error);
}

TEST_CASE("an array tells its shape, size, bytes, rank, device and strides") {
  const cq::array<double, 3> a = cq::array<double, 3>::uninitialised(cq::shape{2, 3, 4});
  CHECK(a.shape() == cq::shape{2, 3, 4});
  CHECK(a.extent(2) == 4);
  CHECK(a.size() == 24);
  CHECK(a.bytes() == 192);
  static_assert(cq::array<double, 3>::rank() == 3);
  CHECK(a.device() == cq::cpu());
  CHECK(a.strides() == std::array<std::int64_t, 3>{12, 4, 1});
  CHECK(a.is_contiguous());
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
}

TEST_CASE("default-constructed and moved-from arrays are unallocated with extents 0") {
  cq::array<float, 2> a;
  CHECK(!a.is_allocated());
  CHECK(a.shape() == cq::shape{0, 0});
  CHECK(a.size() == 0);
  CHECK(a.to_vector().empty());
  CHECK(!a.clone().is_allocated());
  cq::array<float, 2> b{{1, 2}};
  a = std::move(b);
  CHECK(a(0, 1) == 2);
  CHECK(!b.is_allocated());
  CHECK(b.shape() == cq::shape{0, 0});
  cq::array<float, 2> c(std::move(a));
  CHECK(!a.is_allocated());
  CHECK(c(0, 0) == 1);
  a = c;
  CHECK(a(0, 0) == 1);
}

TEST_CASE("arrays without elements are allocated, and allocate nothing") {
  const auto before = allocations();
  const auto a = cq::array<float, 3>::uninitialised(cq::shape{2, 0, std::int64_t{1} << 62});
  CHECK(a.is_allocated());
  CHECK(a.size() == 0);
  CHECK(a.is_contiguous());
  CHECK(a.to_vector().empty());
  CHECK(allocations() == before);
}

TEST_CASE("one array is one allocation, and the host counters return to where they were (C112)") {
  const auto before = cq::counters(cq::cpu());
  {
    const cq::array<float, 2> a = cq::array<float, 2>::uninitialised(cq::shape{10, 10});
    const cq::array<float, 2> b = a, c = b;
    const cq::array<const float, 2> d = c;
    CHECK(allocations() == before.allocations + 1);
    CHECK(cq::counters(cq::cpu()).used >= before.used + a.bytes());
  }
  CHECK(cq::counters(cq::cpu()).used == before.used);
}

TEST_CASE(
    "byte counts past 63 bits throw shape_error; sizes that fit but do not exist, out_of_memory") {
  const std::int64_t big = std::int64_t{1} << 31;
  using doubles = cq::array<double, 2>;
  CHECK_THROWS_AS((void)doubles::uninitialised(cq::shape{big, big}), cq::shape_error);
  CHECK_THROWS_AS((void)doubles::uninitialised(cq::shape{big, big / 4 * 2}), cq::shape_error);
  const auto used = cq::counters(cq::cpu()).used;
  CHECK_THROWS_AS((void)doubles::uninitialised(cq::shape{big, big / 8}), cq::out_of_memory);
  CHECK(cq::counters(cq::cpu()).used == used);
}

TEST_CASE("a copy shares storage until one of both is written") {
  cq::array<float, 1> a{1, 2, 3};
  cq::array<float, 1> b = a;
  CHECK(a.is_shared());
  CHECK(std::as_const(a).data() == std::as_const(b).data());
  const auto before = allocations();
  b(1) = 9;
  CHECK(allocations() == before + 1);
  CHECK(a(1) == 2);
  CHECK(b(1) == 9);
  CHECK(!a.is_shared());
  b(2) = 8;  // exclusive now
  a.data()[0] = 7;
  CHECK(allocations() == before + 1);
  CHECK(a(0) == 7);
  CHECK(b(0) == 1);
}

TEST_CASE("reading through const and from temporaries detaches nothing") {
  const auto before = allocations();
  const cq::array<float, 1> a{1, 2, 3};
  const auto copy = [&] { return cq::array<float, 1>(a); };
  CHECK(a(1) == 2);
  CHECK(a.at(2) == 3);
  CHECK(copy()(0) == 1);
  CHECK(*copy().data() == 1);
  CHECK(copy().at(0) == 1);
  CHECK(allocations() == before + 1);
}

TEST_CASE("writing every way detaches a shared array and leaves the other alone") {
  const cq::array<int, 1> a{1, 2, 3};
  const auto untouched = [&] { return a.to_vector() == std::vector<int>{1, 2, 3}; };
  cq::array<int, 1> b = a;
  b.at(0) = 5;
  CHECK(untouched());
  b = a;
  b.copy_from(cq::array<int, 1>{7, 8, 9});
  CHECK(untouched());
  CHECK(b(2) == 9);
  b = a;
  b.copy_from(std::vector<int>{4, 5, 6});
  CHECK(untouched());
  CHECK(b(0) == 4);
  b = a;
  const auto before = allocations();
  b.copy_from(a);
  CHECK(b.to_vector() == a.to_vector());
  CHECK(allocations() == before + 1);
}

TEST_CASE("read-only arrays cannot be written, in any form (C071)") {
  using writable = cq::array<float, 1>;
  using read_only = cq::array<const float, 1>;
  static_assert(assignable_element<writable> && has_writable_data<writable> &&
                has_copy_from<writable>);
  static_assert(!assignable_element<const writable> && !has_writable_data<const writable> &&
                !has_copy_from<const writable>);
  static_assert(!assignable_element<read_only> && !has_writable_data<read_only> &&
                !has_copy_from<read_only>);
  static_assert(!assignable_element<const read_only> && !has_writable_data<const read_only>);
  const auto read = [](const auto& a) { return a(1) + a.at(1) + a.data()[1]; };
  writable a{1, 2};
  const read_only view = a;
  CHECK(read(a) == 6);
  CHECK(read(view) == 6);
  CHECK(read(std::as_const(a)) == 6);
}

TEST_CASE("a writable array made from a read-only one never writes into its source") {
  cq::array<float, 2> a{{1, 2}, {3, 4}};
  const cq::array<const float, 2> view = a;
  cq::array<float, 2> b = view;
  b(0, 0) = 9;
  CHECK(a(0, 0) == 1);
  const float constants[] = {1, 2};
  cq::array<float, 1> c = cq::borrow(constants, cq::shape{2});
  c(0) = 9;
  CHECK(constants[0] == 1);
  cq::array<float, 2> turned = cq::transpose(a);
  CHECK(turned.is_contiguous());
  turned(0, 1) = 9;
  CHECK(a(1, 0) == 3);
}

TEST_CASE("at throws index_error for each axis, and names index and extent") {
  cq::array<float, 2> a{{1, 2, 3}};
  CHECK(a.at(0, 2) == 3);
  CHECK_THROWS_WITH_AS((void)a.at(0, 3),
                       doctest::Contains("index 3 is outside axis 1 of f32[1, 3]"),
                       cq::index_error);
  CHECK_THROWS_AS((void)a.at(-1, 0), cq::index_error);
  CHECK_THROWS_AS((void)std::as_const(a).at(1, 0), cq::index_error);
}

TEST_CASE("rank 0 refuses an integer that its type does not hold") {
  using byte = cq::array<std::uint8_t, 0>;
  byte b = 255;
  CHECK_THROWS_WITH_AS(b = 256, doctest::Contains("array: 256 does not fit u8"), cq::dtype_error);
  CHECK_THROWS_AS((void)byte(-1), cq::dtype_error);
  CHECK_THROWS_AS((void)(cq::array<int, 0>(std::int64_t{1} << 31)), cq::dtype_error);
  CHECK(b.item() == 255);
  CHECK(cq::array<float, 0>(16777217).item() == 16777216.f);
  CHECK(cq::array<float, 0>(1e300).item() == std::numeric_limits<float>::infinity());
}

TEST_CASE("rank 0 converts to and from its number and allocates nothing") {
  const auto before = allocations();
  cq::array<float, 0> a = 2;
  const float x = a;
  CHECK(x == 2);
  CHECK(a.item() == 2);
  CHECK(a() == 2);
  CHECK(a.size() == 1);
  CHECK(a.bytes() == 4);
  CHECK(a.is_allocated());
  cq::array<float, 0> b = a;
  b() = 5;
  CHECK(a.item() == 2);
  b.copy_from(a);
  CHECK(b.item() == 2);
  const cq::array<const float, 0> c = b;
  CHECK(c.item() == 2);
  a = std::move(b);
  CHECK(a.item() == 2);
  CHECK(cq::array<float, 0>{}.item() == 0);
  CHECK(a.to_vector() == std::vector<float>{2});
  CHECK(allocations() == before);
}

TEST_CASE("a rank-0 array takes numbers of its kind only") {
  static_assert(std::is_convertible_v<int, cq::array<float, 0>>);
  static_assert(std::is_convertible_v<bool, cq::array<int, 0>>);
  static_assert(!std::is_constructible_v<cq::array<int, 0>, double>);
  static_assert(!std::is_constructible_v<cq::array<bool, 0>, int>);
  static_assert(!std::is_constructible_v<cq::array<bool, 0>, const char*>);
  static_assert(!std::is_convertible_v<cq::array<float, 1>, float>);
}

TEST_CASE("item takes exactly one element, of any rank") {
  CHECK(cq::array<int, 2>{{7}}.item() == 7);
  CHECK_THROWS_WITH_AS((void)(cq::array<int, 1>{7, 8}.item()), doctest::Contains("i32[2] has 2"),
                       cq::shape_error);
  CHECK_THROWS_AS((void)(cq::array<int, 1>{}.item()), cq::shape_error);
}

TEST_CASE("copy_to, to_vector and clone read strided arrays in row-major order") {
  const cq::array<int, 2> a{{1, 2, 3}, {4, 5, 6}};
  const auto t = cq::transpose(a);
  const std::vector<int> expected{1, 4, 2, 5, 3, 6};
  CHECK(t.to_vector() == expected);
  std::vector<int> out(6);
  t.copy_to(out);
  CHECK(out == expected);
  const auto c = t.clone();
  static_assert(std::is_same_v<decltype(c), const cq::array<int, 2>>);
  CHECK(c.is_contiguous());
  CHECK(c.to_vector() == expected);
  CHECK(!c.is_shared());
}

TEST_CASE("big transposed blocks are packed exactly") {
  auto a = cq::array<int, 3>::uninitialised(cq::shape{3, 45, 70});
  for (int i = 0; i < 3 * 45 * 70; ++i) a.data()[i] = i;
  const auto t = cq::transpose<0, 2, 1>(a).clone();
  bool same = true;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 45; ++j)
      for (int k = 0; k < 70; ++k) same = same && t(i, k, j) == (i * 45 + j) * 70 + k;
  CHECK(same);
}

TEST_CASE("copy_from takes extents into an unallocated array and refuses other ones elsewhere") {
  cq::array<int, 2> a;
  const cq::array<int, 2> b{{1, 2}};
  a.copy_from(b);
  CHECK(a(0, 1) == 2);
  CHECK(!a.is_shared());
  const cq::array<int, 2> c{{1}, {2}};
  CHECK_THROWS_WITH_AS(a.copy_from(c),
                       doctest::Contains("i32[1, 2] cannot take the elements of i32[2, 1]"),
                       cq::shape_error);
  CHECK(a(0, 1) == 2);
  CHECK_THROWS_AS(a.copy_from(std::vector<int>{1, 2, 3}), cq::shape_error);
}

TEST_CASE("the array on its own device is a handle; devices that are not there are refused by name") {
  const cq::array<int, 1> a{1, 2};
  CHECK(a.to(cq::cpu()).data() == a.data());
  CHECK_THROWS_WITH_AS((void)a.to(cq::gpu(1)), "device: there is no gpu:1; there are cpu:0",
                       cq::device_error);
}

TEST_CASE("members of aggregates of arrays can be counted by initialising them") {
  static_assert(member_count<affine<cq::array>>() == 2);
  static_assert(member_count<net<cq::array>>() == 4);
  const affine<cq::array> layer{{{1, 2}, {3, 4}}, {5, 6}};
  CHECK(layer.weights(1, 0) == 3);
  CHECK(layer.bias(1) == 6);
}

TEST_CASE("handles are copied, written and dropped from several threads at once") {
  const auto used = cq::counters(cq::cpu()).used;
  {
    const cq::array<int, 1> a{1, 2, 3, 4};
    std::vector<std::thread> threads;
    std::array<int, 4> sums{};
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) {
          cq::array<int, 1> copy = a;
          const auto view = cq::slice(copy, cq::range{1, 3});
          copy(0) = i;
          sums[t] += view(0) + copy(0);
        }
      });
    for (auto& t : threads) t.join();
    for (int s : sums) CHECK(s == 500 * 2 + 499 * 500 / 2);
    CHECK(a.to_vector() == std::vector<int>{1, 2, 3, 4});
    CHECK(!a.is_shared());
  }
  CHECK(cq::counters(cq::cpu()).used == used);
}

TEST_CASE("the last handle may go in another thread than the one that wrote") {
  for (int i = 0; i < 200; ++i) {
    cq::array<int, 1> a{1, 2};
    std::thread other([copy = a]() mutable { copy(0) = 3; });
    a(1) = 4;
    CHECK(a(0) == 1);
    other.join();
  }
}
