#include "calque/array/borrow.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "calque/array/views.hpp"
#include "calque/call/virtual_devices.hpp"

namespace cq = calque;

namespace {

std::int64_t allocations() { return cq::counters(cq::cpu()).allocations; }

}  // namespace

TEST_CASE("borrowed memory is seen, written through by every handle, and never copied") {
  std::vector<float> v{1, 2, 3, 4, 5, 6};
  const auto before = allocations();
  auto a = cq::borrow(v.data(), cq::shape{2, 3});
  static_assert(std::is_same_v<decltype(a), cq::array<float, 2>>);
  auto b = a;
  a(1, 2) = 60;
  b(0, 0) = 10;
  CHECK(v[5] == 60);
  CHECK(v[0] == 10);
  CHECK(a(0, 0) == 10);
  CHECK(!a.is_shared());
  CHECK(a.data() == v.data());
  b.copy_from(std::vector<float>{6, 5, 4, 3, 2, 1});
  CHECK(v[5] == 1);
  CHECK(allocations() == before);
}

TEST_CASE("a pointer to const gives a read-only array (C071)") {
  const std::vector<float> v{1, 2, 3};
  const auto a = cq::borrow(v.data(), cq::shape{3});
  static_assert(std::is_same_v<decltype(a), const cq::array<const float, 1>>);
  CHECK(a(2) == 3);
}

TEST_CASE("borrow takes strides, negative ones too") {
  std::vector<int> v{0, 1, 2, 3, 4, 5};
  auto a = cq::borrow(v.data() + 5, cq::shape{6}, {-1});
  CHECK(a.to_vector() == std::vector<int>{5, 4, 3, 2, 1, 0});
  a(0) = 50;
  CHECK(v[5] == 50);
  const auto columns = cq::borrow(v.data(), cq::shape{2, 2}, {1, 3});
  CHECK(columns.to_vector() == std::vector<int>{0, 3, 1, 4});
  CHECK(!columns.is_contiguous());
}

TEST_CASE("stride 0 is for reading only (C068)") {
  float value = 2.5f;
  const float& constant = value;
  CHECK(cq::borrow(&constant, cq::shape{4}, {0}).to_vector() == std::vector<float>(4, 2.5f));
  CHECK_THROWS_WITH_AS((void)cq::borrow(&value, cq::shape{4}, {0}),
                       doctest::Contains("borrow a pointer to const"), cq::shape_error);
  CHECK(cq::borrow(&value, cq::shape{1}, {0})(0) == 2.5f);
}

TEST_CASE("writable strides that let two elements meet throw, those that nest do not") {
  float memory[24] = {};
  const auto refused = [&](const auto& extents, const auto& strides) {
    CHECK_THROWS_WITH_AS((void)cq::borrow(memory, extents, strides),
                         doctest::Contains("share memory that could be written"), cq::shape_error);
    CHECK_NOTHROW((void)cq::borrow(static_cast<const float*>(memory), extents, strides));
  };
  using two = std::array<std::int64_t, 2>;
  using three = std::array<std::int64_t, 3>;
  refused(cq::shape{2, 3}, two{1, 1});
  refused(cq::shape{2, 3}, two{2, 1});
  refused(cq::shape{2, 3}, two{1, -1});
  refused(cq::shape{4, 3}, two{2, 4});
  refused(cq::shape{2, 2, 2}, three{6, 3, 3});
  refused(cq::shape{2, 2, 2}, three{1, 4, 5});
  CHECK(cq::borrow(memory, cq::shape{2, 3}, {1, 2}).size() == 6);
  CHECK(cq::borrow(memory, cq::shape{2, 3}, {3, 1}).size() == 6);
  CHECK(cq::borrow(memory + 5, cq::shape{2, 3}, {-3, -1}).size() == 6);
  CHECK(cq::borrow(memory, cq::shape{2, 1, 3}, {1, 1, 2}).size() == 6);  // one element: no step
  CHECK(cq::borrow(memory, cq::shape{3, 2, 4}, {8, 4, 1}).size() == 24);
  CHECK(cq::borrow(memory, cq::shape{2, 3, 0}, {1, 1, 1}).size() == 0);
}

TEST_CASE("a null pointer is legal without elements only") {
  int* const null = nullptr;
  CHECK_THROWS_WITH_AS((void)cq::borrow(null, cq::shape{2}), doctest::Contains("i32[2] is null"),
                       cq::value_error);
  const auto a = cq::borrow(null, cq::shape{3, 0});
  CHECK(a.is_allocated());
  CHECK(a.shape() == cq::shape{3, 0});
}

TEST_CASE("strides that leave the address space and sizes past 63 bits throw") {
  float x = 0;
  const std::int64_t big = std::numeric_limits<std::int64_t>::max() / 2;
  CHECK_THROWS_AS((void)cq::borrow(&x, cq::shape{4}, {big}), cq::shape_error);
  CHECK_THROWS_AS((void)cq::borrow(&x, cq::shape{2}, {big}), cq::shape_error);
  CHECK_THROWS_AS((void)cq::borrow(&x, cq::shape{2}, {-big / 2}), cq::shape_error);
  CHECK_THROWS_AS((void)cq::borrow(&x, cq::shape{std::int64_t{1} << 32, std::int64_t{1} << 31}),
                  cq::shape_error);
  CHECK_THROWS_WITH_AS((void)cq::borrow(&x, cq::shape{std::int64_t{1} << 62}),
                       doctest::Contains("borrow: f32[4611686018427387904] takes more"),
                       cq::shape_error);
  CHECK(cq::borrow(&x, cq::shape{4, 4, 0}, {big, big, 1}).size() == 0);  // no element, no reach
}

TEST_CASE("rank 0 may be borrowed and is written through") {
  float x = 3;
  auto a = cq::borrow(&x, cq::shape{});
  a() = 4;
  CHECK(x == 4);
  auto b = a;
  b.copy_from(cq::array<float, 0>(5));
  CHECK(x == 5);
  CHECK(float(a) == 5);
}

TEST_CASE("copies between overlapping borrowed blocks read all first") {
  std::vector<int> v{1, 2, 3, 4, 5};
  auto tail = cq::borrow(v.data() + 1, cq::shape{4});
  tail.copy_from(cq::borrow(v.data(), cq::shape{4}));
  CHECK(v == std::vector<int>{1, 1, 2, 3, 4});
  auto reversed = cq::borrow(v.data() + 4, cq::shape{5}, {-1});
  reversed.copy_from(std::vector<int>(v));
  CHECK(v == std::vector<int>{4, 3, 2, 1, 1});
  reversed.copy_from(cq::borrow(v.data(), cq::shape{5}));
  CHECK(v == std::vector<int>{1, 1, 2, 3, 4});
}

TEST_CASE("memory of another device is named by it, and not read on the host") {
  float x = 1;
  const auto others = cq::virtual_devices(cq::cpu(), {{.name = "a0"}});
  const cq::device& gpu = others[0];
  const auto used = cq::counters(cq::cpu()).used;
  {
    auto a = cq::borrow(&x, cq::shape{1}, gpu);
    CHECK(a.device() == gpu);
    CHECK_THROWS_WITH_AS((void)a.data(), doctest::Contains("to(cpu())"), cq::device_error);
    CHECK_THROWS_AS((void)a(0), cq::device_error);
    CHECK(a.item() == 1);  // copied
    CHECK(a.to_vector() == std::vector<float>{1});
    CHECK(cq::borrow(&x, cq::shape{}, gpu).item() == 1);
  }
  CHECK(cq::counters(cq::cpu()).used == used);
}

TEST_CASE("strided views reach past 2^31 bytes of 3 GiB (C029)") {
  const std::size_t bytes = std::size_t{3} << 30;
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  auto* const base = static_cast<std::uint8_t*>(pages);
  const std::int64_t step = (std::int64_t{1} << 30) + 1;
  for (int row = 0; row < 3; ++row)
    for (int j = 0; j < 16; ++j) base[row * step + j] = static_cast<std::uint8_t>(row * 16 + j);

  auto a = cq::borrow(base, cq::shape{3, 16}, {step, 1});
  CHECK(a(2, 5) == 37);
  a(2, 6) = 200;
  CHECK(base[2 * step + 6] == 200);
  int sum = 0;
  for (std::uint8_t x : a.to_vector()) sum += x;
  CHECK(sum == 47 * 48 / 2 - 38 + 200);

  const auto flat = cq::borrow(base, cq::shape{bytes});
  const auto rows = cq::slice(flat, cq::range{0, cq::range::open, step});
  CHECK(rows.to_vector() == std::vector<std::uint8_t>{0, 16, 32});
  CHECK(cq::slice(a, cq::range{2, 3}, cq::range{6, 7}).item() == 200);
  CHECK(cq::transpose(a)(15, 2) == 47);
  a.copy_from(std::vector<std::uint8_t>(48, 7));
  CHECK(base[2 * step + 15] == 7);
  munmap(pages, bytes);
}
