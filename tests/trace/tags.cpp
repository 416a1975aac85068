// Options that are types: which axes a tag means, and constants known to the compiler.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

namespace cq = calque;

static_assert(cq::detail::axis_mask<3>(cq::axis<>) == 0b111);
static_assert(cq::detail::axis_mask<3>(cq::axis<0>) == 0b001);
static_assert(cq::detail::axis_mask<3>(cq::axis<-1, 0>) == 0b101);
static_assert(cq::detail::axis_mask<8>(cq::axis<7, -8>) == 0x81);
static_assert(cq::detail::axis_mask<2>(cq::axis<1, -1>) == 0b10);
static_assert(!cq::detail::axes_differ<2, cq::axis_t<1, -1>>);
static_assert(cq::detail::axes_differ<2, cq::axis_t<1, 0>>);
static_assert(!cq::detail::axes_exist<2, cq::axis_t<2>>);
static_assert(cq::detail::axis_mask<0>(cq::axis<>) == 0);
static_assert(!cq::detail::axis_exists(2, 2) && !cq::detail::axis_exists(-3, 2));
static_assert(cq::detail::axis_exists(1, 2) && cq::detail::axis_exists(-2, 2));
static_assert(std::is_same_v<std::remove_cv_t<decltype(cq::static_<3>)>, cq::static_t<3>>);
static_assert(cq::static_<3>.value == 3);
static_assert(!std::is_same_v<cq::static_t<3>, cq::static_t<3u>>);

namespace {

constexpr auto power = cq::trace([](auto x, auto n, auto flip) {
  auto y = x;
  for (int i = 1; i < n.value; ++i) y = y * x;  // unrolled
  if constexpr (flip.value) return -y;
  else return y;
});
constexpr auto along = cq::trace([](auto x, auto a) { return cq::sum(x, cq::axis<a.value>); });

}  // namespace

TEST_CASE("static_<N> is a constant in the body and a part of the trace (A8)") {
  const cq::array<float, 1> x{1, 2, 3};
  CHECK(power(x, cq::static_<3>, cq::static_<false>).to_vector() == std::vector<float>{1, 8, 27});
  CHECK(power(x, cq::static_<2>, cq::static_<true>).to_vector() == std::vector<float>{-1, -4, -9});
  CHECK(power.graphs() == 2);
  const cq::array<float, 2> m{{1, 2}, {3, 4}};
  CHECK(along(m, cq::static_<0>).to_vector() == std::vector<float>{4, 6});
  CHECK(along(m, cq::static_<-1>).to_vector() == std::vector<float>{3, 7});
}
