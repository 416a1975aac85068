// The factories of traced bodies, on arrays: one generic body runs both ways.
#include "calque/array/like.hpp"

#include <doctest/doctest.h>

#include "calque/calque.hpp"

namespace cq = calque;

namespace {

constexpr auto body = [](auto x) {
  const auto z = cq::zeros<float>(cq::shape{2, x.extent(0)}, x);
  const auto o = cq::ones<float>(cq::shape{x.extent(0)}, x);
  const auto f = cq::full(cq::shape{1}, 2.f, x);
  return z + o * f + cq::astype<float>(cq::arange<int>(x.extent(0), x)) + cq::zeros_like(x) +
         cq::ones_like(x);
};

}  // namespace

TEST_CASE("factories that name a symbol take an array in its place (A3)") {
  const cq::array<float, 1> x{5, 6, 7};
  const auto direct = body(x), traced = cq::trace(body)(x), eager = cq::eager(body)(x);
  CHECK(direct.to_vector() == std::vector<float>{3, 4, 5, 3, 4, 5});
  CHECK(traced.to_vector() == direct.to_vector());
  CHECK(eager.to_vector() == direct.to_vector());
}

TEST_CASE("the like of a view or of nothing has its type and extents") {
  const cq::array<std::int32_t, 2> a{{1, 2, 3}, {4, 5, 6}};
  const auto z = cq::zeros_like(cq::transpose(a));
  static_assert(std::is_same_v<decltype(z), const cq::array<std::int32_t, 2>>);
  CHECK(z.extent(0) == 3);
  CHECK(z.is_contiguous());
  CHECK(cq::ones_like(cq::zeros<float>(cq::shape{0, 4})).extent(1) == 4);
  CHECK(cq::ones_like(cq::array<double, 0>(3.0)).item() == 1);
}

TEST_CASE("a count that its type does not hold is refused, traced or not") {
  constexpr auto count = [](auto x) { return cq::arange<std::uint8_t>(x.extent(0), x); };
  constexpr auto f = cq::trace(count);
  for (const std::int64_t n : {0, 1, 256}) {
    const auto x = cq::zeros<float>(cq::shape{n});
    CHECK(f(x).size() == n);
    CHECK(count(x).size() == n);
  }
  const auto x = cq::zeros<float>(cq::shape{257});
  CHECK_THROWS_AS((void)f(x), cq::dtype_error);
  CHECK_THROWS_AS((void)cq::eager(f)(x), cq::dtype_error);
  CHECK_THROWS_AS((void)count(x), cq::error);
}
