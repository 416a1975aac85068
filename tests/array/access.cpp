#include "calque/array/access.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "calque/array/borrow.hpp"
#include "calque/array/views.hpp"

namespace cq = calque;
namespace detail = calque::detail;
using raw = detail::array_access;

namespace {

std::int64_t allocations() { return cq::counters(cq::cpu()).allocations; }

template <class A>
constexpr bool can_prepare = requires(A& a) { detail::prepare_write(a); };

}  // namespace

TEST_CASE("prepare_write detaches shared storage once, with or without its contents") {
  const cq::array<float, 1> a{1, 2, 3};
  cq::array<float, 1> b = a, c = a;
  const auto before = allocations();
  CHECK(detail::prepare_write(b)[1] == 2);
  CHECK(raw::identity(b) != raw::identity(a));
  CHECK(detail::prepare_write(c, detail::contents::discard) != raw::data(a));
  CHECK(allocations() == before + 2);
  CHECK(detail::prepare_write(b) == raw::data(b));
  CHECK(allocations() == before + 2);
  std::vector<float> v{1, 2};
  auto borrowed = cq::borrow(v.data(), cq::shape{2});
  const auto copy = borrowed;
  CHECK(detail::prepare_write(borrowed) == v.data());
}

TEST_CASE("read-only arrays cannot be prepared for writing (C071)") {
  static_assert(can_prepare<cq::array<float, 1>>);
  static_assert(!can_prepare<cq::array<const float, 1>>);
  static_assert(!can_prepare<const cq::array<float, 1>>);
}

TEST_CASE("reach is the bytes between the lowest and the highest element") {
  const cq::array<int, 2> a{{1, 2, 3}, {4, 5, 6}};
  const auto all = raw::reach(a);
  CHECK(all.low == reinterpret_cast<std::uintptr_t>(a.data()));
  CHECK(all.high - all.low == 24);
  const auto column = cq::slice(a, cq::range{}, cq::range{1, 2});
  CHECK(raw::reach(column).low == all.low + 4);
  CHECK(raw::reach(column).high == all.low + 20);
  const auto reversed = cq::slice(a, cq::range{cq::range::open, cq::range::open, -1});
  CHECK(raw::reach(reversed).low == all.low);
  CHECK(raw::reach(reversed).high == all.high);
  CHECK(raw::reach(column).overlaps(all));
  const cq::array<int, 2> other{{1}};
  CHECK(!raw::reach(other).overlaps(all));
  const auto none = raw::reach(cq::slice(a, cq::range{0, 0}));
  CHECK(!none.overlaps(all));
}

TEST_CASE("only exclusive, owned, dense storage may be reused") {
  cq::array<int, 2> a{{1, 2}, {3, 4}};
  CHECK(raw::exclusive(a));
  {
    const auto b = a;
    CHECK(!raw::exclusive(a));
    CHECK(raw::identity(a) == raw::identity(b));
  }
  CHECK(raw::exclusive(a));
  CHECK(!raw::exclusive(cq::array<int, 2>{}));
  int x[2] = {1, 2};
  auto borrowed = cq::borrow(x, cq::shape{2});
  CHECK(!raw::exclusive(borrowed));
  CHECK(raw::borrowed(borrowed));
  CHECK(!raw::borrowed(a));
}

TEST_CASE("foreign memory is kept alive by its handles and views, and let go once") {
  static int drops = 0;
  drops = 0;
  const auto used = cq::counters(cq::cpu()).used;
  auto owner = std::make_unique<std::vector<int>>(std::vector<int>{1, 2, 3, 4});
  int* const data = owner->data();
  auto block = detail::storage_ref::foreign(
      nullptr, /*owned=*/true,
      [](void* context) noexcept {
        ++drops;
        delete static_cast<std::vector<int>*>(context);
      },
      owner.release());
  {
    auto a = raw::make<int, 1>(std::move(block), data, {4}, {1});
    auto view = cq::slice(a, cq::range{1, 3});
    a(1) = 9;  // adopted storage is shared with the view: detaches
    CHECK(view(0) == 2);
    a = {};
    CHECK(drops == 0);
    CHECK(view(1) == 3);
  }
  CHECK(drops == 1);
  CHECK(cq::counters(cq::cpu()).used == used);
}
