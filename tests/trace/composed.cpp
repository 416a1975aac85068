// softmax and log_softmax: composed of other functions, stable, and differentiable; stop_gradient.
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

namespace cq = calque;

namespace {

constexpr auto rows = cq::trace([](auto x) {
  return std::tuple{cq::softmax(x, cq::axis<-1>), cq::log_softmax(x, cq::axis<1>)};
});
constexpr auto first = [](auto x) {
  return -cq::sum(cq::log_softmax(x, cq::axis<1>) *
                  cq::one_hot<float>(cq::argmin(x, cq::axis<1>), 3));
};
constexpr auto half = [](auto x) { return cq::sum(x * cq::stop_gradient(x)); };

static_assert(
    std::is_same_v<decltype(cq::softmax(cq::expr<int, 2>{}, cq::axis<0>)), cq::expr<double, 2>>);
static_assert(std::is_same_v<decltype(cq::stop_gradient(cq::expr<int, 2>{})), cq::expr<int, 2>>);

}  // namespace

TEST_CASE("softmax shifts by the largest, so nothing overflows (C052, C053)") {
  const auto [p, l] = rows(cq::array<float, 2>{{1000, 1001}, {1e8f, 1e8f}});
  CHECK(p(0, 0) == doctest::Approx(0.26894142).epsilon(1e-6));
  CHECK(p(0, 1) == doctest::Approx(0.73105858).epsilon(1e-6));
  CHECK(l(1, 0) == doctest::Approx(-0.6931472).epsilon(1e-6));
  CHECK(cq::softmax(cq::array<float, 2>{{0, 0}}, cq::axis<0>)(0, 1) == 1);
}

TEST_CASE("the loss of far logits and its slope are finite (C052)") {
  const cq::array<float, 2> logits{{-431, 279, 427}};
  const auto r = cq::value_and_grad(first)(logits);
  CHECK(r.value.item() == 858);
  CHECK(r.grad.to_vector() == std::vector<float>{-1, 0, 1});
}

TEST_CASE("stop_gradient is its operand, without a slope") {
  const auto r = cq::value_and_grad(half)(cq::array<float, 1>{3, -2});
  CHECK(r.value.item() == 13);
  CHECK(r.grad.to_vector() == std::vector<float>{3, -2});
}
