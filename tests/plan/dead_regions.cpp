// Branches and loops that the sizes of a call rule out: nothing in them needs to fit.
#include <doctest/doctest.h>

#include "calque/calque.hpp"
#include "calque/plan/integers.hpp"

namespace cq = calque;

TEST_CASE("an extent that is tested first guards what would not fit (C034)") {
  constexpr auto largest = cq::trace([](auto x) {
    return cq::cond(x.extent(0) > 0, [&] { return cq::max(x); }, [&] { return cq::sum(x) - 1; });
  });
  CHECK(largest(cq::array<float, 1>{3, 7, 5}).item() == 7);
  CHECK(largest(cq::zeros<float>(cq::shape{0})).item() == -1);
  CHECK(cq::eager(largest)(cq::zeros<float>(cq::shape{0})).item() == -1);
  constexpr auto other = cq::trace([](auto x) {
    return cq::cond(
        x.extent(0) * 2 - 1 < 0, [&] { return cq::sum(x); },
        [&] { return cq::max(x) + cq::min(x); });
  });
  CHECK(other(cq::array<float, 1>{3, 7, 5}).item() == 10);
  CHECK(other(cq::zeros<float>(cq::shape{0})).item() == 0);
}

TEST_CASE("a loop without steps checks nothing in its body, and gives its first state") {
  constexpr auto f = cq::trace([](auto x, auto y) {
    return cq::for_loop(x.extent(0), cq::sum(y), [&](auto i, auto s) {
      return s + cq::max(x) + cq::sum(x + y) * cq::astype<float>(i);
    });
  });
  CHECK(f(cq::array<float, 1>{1, 2}, cq::array<float, 1>{1, 2}).item() == 3 + 2 + 2 + 6);
  CHECK(f(cq::zeros<float>(cq::shape{0}), cq::array<float, 1>{1, 2, 3}).item() == 6);
  CHECK_THROWS_AS((void)f(cq::array<float, 1>{1, 2}, cq::array<float, 1>{1, 2, 3}),
                  cq::shape_error);
}

TEST_CASE("dead regions inside dead and live ones, with effects and aggregates of results") {
  constexpr auto f = cq::trace([](auto w, auto x) {
    return cq::for_loop(3, cq::sum(x), [&](auto, auto s) {
      const auto [a, b] = cq::cond(
          x.extent(0) > 2,
          [&] {
            w += cq::max(x);
            const auto inner =
                cq::cond(x.extent(0) > 1, [&] { return cq::max(x); }, [&] { return cq::sum(x); });
            return std::tuple{s + inner, cq::min(x)};
          },
          [&] { return std::tuple{s + 1, s}; });
      return a + 0 * b;
    });
  });
  const cq::variable<float, 1> w{cq::array<float, 1>{0, 0}, "w"};
  CHECK(f(w, cq::zeros<float>(cq::shape{0})).item() == 3);
  CHECK(w.value()(0) == 0);
  CHECK(f(w, cq::array<float, 1>{1, 2, 3}).item() == 6 + 9);
  CHECK(w.value()(0) == 9);
}

TEST_CASE("a derivative through a loop over arithmetic on extents (B8)") {
  constexpr auto f = cq::trace([](auto x) {
    return cq::value_and_grad([](auto y) {
      const auto n = y.extent(0) * 2 - y.extent(0) / 2 + 1;
      return cq::sum(cq::for_loop(n - 2, y, [&](auto, auto s) { return s * y; }));
    })(x);
  });
  // n - 2 = 2: y^3
  const auto r = f(cq::array<double, 1>{3, 2});
  CHECK(r.value.item() == 35);
  CHECK(r.grad.to_vector() == std::vector<double>{27, 12});
  // n - 2 = 0: y
  CHECK(f(cq::array<double, 1>{}).grad.size() == 0);
  CHECK(f(cq::array<double, 1>{5}).grad(0) == 10);  // 2 - 0 + 1 - 2 = 1: y^2
}

TEST_CASE("integers by key equal the operations themselves") {
  using calque::constant;
  using calque::dtype;
  using calque::detail::planning::evaluate_integers;
  const std::int64_t values[] = {0, 1, -1, 2, 7, -9, 127, 200, -128, INT64_MAX, INT64_MIN};
  const auto check = [&]<class Op, class T>(Op, T, bool compares) {
    for (std::int64_t x : values)
      for (std::int64_t y : values) {
        const dtype t = cq::dtype_of<T>, to = compares ? dtype::boolean : t;
        const constant in[3] = {cq::detail::make_constant(static_cast<T>(x)),
                                cq::detail::make_constant(static_cast<T>(y)),
                                {}};
        constant got;
        REQUIRE(evaluate_integers(cq::op_info_of<Op>.key, t, to, in, &got));
        const constant want = cq::op_info_of<Op>.evaluate(t, to, in);
        INFO(Op::name, " of ", x, " and ", y);
        REQUIRE(constant::identical(got, want));
      }
  };
  const auto all = [&](auto t) {
    namespace op = cq::op;
    check(op::add{}, t, false), check(op::sub{}, t, false), check(op::mul{}, t, false);
    check(op::div{}, t, false), check(op::neg{}, t, false), check(op::abs{}, t, false);
    check(op::maximum{}, t, false), check(op::minimum{}, t, false);
    check(op::less{}, t, true), check(op::less_equal{}, t, true);
    check(op::greater{}, t, true), check(op::greater_equal{}, t, true);
    check(op::equal{}, t, true), check(op::not_equal{}, t, true);
  };
  all(std::int64_t{}), all(std::int32_t{}), all(std::int8_t{}), all(std::uint8_t{});
  constant c;
  const constant two[3] = {{0, 5}, {0, 2}, {}};
  CHECK_FALSE(
      evaluate_integers(cq::op_info_of<cq::op::add>.key, dtype::float32, dtype::float32, two, &c));
}
