// Arrays without elements whose other extents multiply past 64 bits.
#include <doctest/doctest.h>

#include "calque/calque.hpp"

namespace cq = calque;

TEST_CASE("no product of extents overflows where one of them is 0 (C034)") {
  constexpr std::int64_t big = std::int64_t{1} << 40;
  const auto x = cq::zeros<float>(cq::shape{big, 0, big});
  CHECK(x.size() == 0);
  constexpr auto f = cq::trace([](auto a) {
    const auto y = a * 2 + 1;
    return std::tuple{cq::exp(y),
                      cq::sum(y),
                      cq::sum(y, cq::axis<0>),
                      cq::sum(y, cq::axis<2>),
                      cq::transpose<2, 1, 0>(y) + 1,
                      cq::reshape(y, cq::shape{0, 3}),
                      cq::tanh(cq::reshape(y, cq::shape{std::int64_t{1} << 40, 0}))};
  });
  for (int call = 0; call < 2; ++call) {
    const auto r = f(x);
    CHECK(std::get<0>(r).extent(2) == big);
    CHECK(std::get<1>(r).item() == 0);
    CHECK(std::get<2>(r).size() == 0);
    CHECK(std::get<3>(r).extent(0) == big);
    CHECK(std::get<4>(r).extent(0) == big);
    CHECK(std::get<5>(r).extent(1) == 3);
    CHECK(std::get<6>(r).extent(0) == big);
  }
  const auto e = cq::eager(f)(x);
  CHECK(std::get<0>(e).extent(2) == big);
  CHECK_THROWS_AS((void)cq::sum(x, cq::axis<1>), cq::shape_error);
  const auto view = cq::transpose<2, 0, 1>(x);
  CHECK((view + view).size() == 0);
  CHECK(
      cq::matmul(cq::zeros<float>(cq::shape{0, big}), cq::zeros<float>(cq::shape{big, 0})).size() ==
      0);
}
