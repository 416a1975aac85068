// Errors name the function that was called, whatever it is made of: on arrays, traced, and
// operation by operation.
#include <string>

#include "support/reference.hpp"

namespace cq = calque;

namespace {

template <class Call>
std::string text_of(const Call& call) {
  try {
    call();
  } catch (const cq::error& e) {
    return e.what();
  }
  return "no error";
}
void starts(const std::string& how, const std::string& text, const std::string& words) {
  CHECK_MESSAGE(text.starts_with(words), how << ": \"" << text << "\" starts with " << words);
}
/// On arrays, which plans the operation alone, and in a body.
template <class F, class... A>
void check(const std::string& words, const F& f, const A&... a) {
  starts("on arrays", text_of([&] { (void)f(a...); }), words);
  starts("operation by operation", text_of([&] { (void)cq::eager(F{})(a...); }), words);
}
/// After all passes too.
template <class F, class... A>
void check_all(const std::string& words, const F& f, const A&... a) {
  check(words, f, a...);
  starts("traced", text_of([&] { (void)cq::trace(F{})(a...); }), words);
}
/// What exists on symbols alone, or is refused there otherwise.
template <class F, class... A>
void check_traced(const std::string& words, const F&, const A&... a) {
  starts("traced", text_of([&] { (void)cq::trace(F{})(a...); }), words);
  starts("operation by operation", text_of([&] { (void)cq::eager(F{})(a...); }), words);
}

template <class T = float, class... E>
auto zeros(E... e) {
  return cq::zeros<T>(cq::shape{e...});
}

}  // namespace

TEST_CASE("B8: errors of shapes begin with the name of the function that was called") {
  const auto v2 = zeros(2), v3 = zeros(3), v4 = zeros(4);
  const auto m23 = zeros(2, 3), m34 = zeros(3, 4);
  const auto i3 = zeros<int>(3), i2 = zeros<int>(2);

  check("add: a is f32[2], b is f32[3]", [](auto x, auto y) { return x + y; }, v2, v3);
  check("true_divide: ", [](auto x, auto y) { return cq::true_divide(x, y); }, v2, v3);
  check("logical_and: ", [](auto x, auto y) { return cq::logical_and(x, y); }, v2, v3);
  check("logical_or: ", [](auto x, auto y) { return cq::logical_or(x, y); }, i2, i3);
  check("logical_xor: ", [](auto x, auto y) { return cq::logical_xor(x, y); }, i2, i3);
  check(
      "bitwise_left_shift: ", [](auto x, auto y) { return cq::bitwise_left_shift(x, y); }, i2, i3);
  check(
      "bitwise_right_shift: ", [](auto x, auto y) { return cq::bitwise_right_shift(x, y); }, i2,
      i3);
  check(
      "clip: in its maximum a is f32[2], b is f32[3]: extents 2 and 3 of axis 0 differ",
      [](auto x, auto y) { return cq::clip(x, y, 1); }, v2, v3);
  check("clip: ", [](auto x, auto y) { return cq::clip(x, 0, y); }, v2, v3);
  check_all("dot: ", [](auto x, auto y) { return cq::dot(x, y); }, v2, v3);
  check_all("dot: ", [](auto x, auto y) { return cq::dot(x, y); }, v3, zeros(1));
  check_all("dot: ", [](auto x, auto y) { return cq::dot(x, y); }, zeros(1), v3);
  check("matmul: ", [](auto x, auto y) { return cq::matmul(x, y); }, v2, v3);
  check("matmul: ", [](auto x, auto y) { return cq::matmul(x, y); }, v2, m34);
  check("sum_to: ", [](auto x) { return cq::sum_to(x, cq::shape{2}); }, v3);
  check("stack: ", [](auto x, auto y) { return cq::stack<0>(x, y); }, v2, v3);
  check("concatenate: ", [](auto x, auto y) { return cq::concatenate<0>(x, y); }, m23, m34);
  check(
      "scatter_add: ", [](auto x, auto i, auto u) { return cq::scatter_add(x, i, u, cq::axis<0>); },
      v4, i2, v3);
  check(
      "scatter_add: ", [](auto x, auto i, auto u) { return cq::scatter_add(x, i, u, cq::axis<0>); },
      m34, i2, v3);
  check(
      "conv2d: ", [](auto x, auto w) { return cq::conv2d(x, w); }, zeros(1, 2, 5, 5),
      zeros(1, 3, 2, 2));
  check(
      "conv2d: ", [](auto x, auto w) { return cq::conv2d(x, w); }, zeros(1, 2, 5, 5),
      zeros(1, 2, 6, 2));
  check(
      "conv2d: ", [](auto x, auto w) { return cq::conv2d(x, w, 0); }, zeros(1, 2, 5, 5),
      zeros(1, 2, 2, 2));
  check("max_pool2d: ", [](auto x) { return cq::max_pool2d(x, 4); }, m34);
  check("max_pool2d: ", [](auto x) { return cq::max_pool2d(x, 0, 1); }, m34);
  check("layer_norm: ", [](auto x, auto y) { return cq::layer_norm(x, y, 0); }, m34, v3);
  check("layer_norm: ", [](auto x, auto y) { return cq::layer_norm(x, 1, y); }, m34, v3);
  check("cross_entropy: ", [](auto x, auto y) { return cq::cross_entropy(x, y); }, m34, i2);
  check(
      "cross_entropy: ", [](auto x, auto y) { return cq::cross_entropy(x, y, cq::no_reduction); },
      m34, i2);
  check("where: ", [](auto x, auto y) { return cq::where(x > 0, x, y); }, v2, v3);
  check("max: ", [](auto x) { return cq::max(x); }, zeros(0));
  check("argmax: ", [](auto x) { return cq::argmax(x); }, zeros(0));
}

TEST_CASE("B8: functions of sizes and widths name themselves, not the shape or what they fill") {
  const auto v2 = zeros(2), v3 = zeros(3);
  const auto m34 = zeros(3, 4);
  const auto image = zeros(1, 2, 5, 5), filters = zeros(1, 2, 2, 2);
  const cq::rng state{1};
  // on arrays a number is a number; in a body the compiler refuses it where it is a literal
  const auto on_arrays = [](const std::string& words, const auto& call) {
    starts("on arrays", text_of(call), words);
  };
  on_arrays("pad: ", [&] { (void)cq::pad(v2, {{-1, 3}}); });
  on_arrays("pad: ", [&] { (void)cq::pad(v2, {{0, -1}}); });
  on_arrays("one_hot: ", [&] { (void)cq::one_hot<float>(zeros<int>(2), -1); });
  on_arrays("conv2d: ", [&] { (void)cq::conv2d(image, filters, 1, -1); });
  on_arrays("conv2d: ", [&] { (void)cq::conv2d(image, filters, -1); });
  on_arrays("max_pool2d: ", [&] { (void)cq::max_pool2d(image, -2); });
  on_arrays("max_pool2d: ", [&] { (void)cq::max_pool2d(image, 2, -2); });
  on_arrays("max_pool2d: ", [&] { (void)cq::max_pool2d(image, 2, 2, -1); });
  on_arrays("pad: 300 does not fit", [&] { (void)cq::pad(zeros<std::uint8_t>(2), {{1, 1}}, 300); });
  on_arrays("clip: 300 does not fit", [&] { (void)cq::clip(zeros<std::uint8_t>(2), 0, 300); });

  check_traced("pad: ", [](auto x) { return cq::pad(x, {{x.extent(0) - 3, 3}}); }, v2);
  check_traced("pad: ", [](auto x) { return cq::pad(x, {{3, x.extent(0) - 3}}); }, v2);
  check_traced(
      "one_hot: ", [](auto x) { return cq::one_hot<float>(x, x.extent(0) - 3); }, zeros<int>(2));
  check_traced(
      "conv2d: ", [](auto x, auto w) { return cq::conv2d(x, w, 1, x.extent(0) - 2); }, image,
      filters);
  check_traced(
      "conv2d: ", [](auto x, auto w) { return cq::conv2d(x, w, x.extent(0) - 2); }, image, filters);
  check_traced("max_pool2d: ", [](auto x) { return cq::max_pool2d(x, x.extent(0) - 2); }, image);
  check_traced(
      "max_pool2d: ", [](auto x) { return cq::max_pool2d(x, 2, 2, x.extent(0) - 2); }, image);
  check_traced("zeros: ", [](auto x) { return cq::zeros<int>(cq::shape{x.extent(0) - 3}, x); }, v2);
  check_traced("ones: ", [](auto x) { return cq::ones<int>(cq::shape{x.extent(0) - 3}, x); }, v2);
  check_traced("full: ", [](auto x) { return cq::full(cq::shape{x.extent(0) - 3}, 2, x); }, v2);
  check_traced("arange: ", [](auto x) { return cq::arange<int>(x.extent(0) - 3, x); }, v2);
  check_traced(
      "uniform: ",
      [](auto x, auto s) { return cq::random::uniform<float>(s, cq::shape{x.extent(0) - 3}); }, v2,
      state);
  check_traced(
      "uniform: ",
      [](auto x, auto s) {
        return cq::random::uniform<float>(s, cq::shape{x.extent(0) - 3}, 2, 3);
      },
      v2, state);
  check_traced(
      "normal: ",
      [](auto x, auto s) { return cq::random::normal<float>(s, cq::shape{x.extent(0) - 3}, 2, 3); },
      v2, state);
  check_traced(
      "bernoulli: ",
      [](auto x, auto s) { return cq::random::bernoulli(s, cq::shape{x.extent(0) - 3}, 0.5); }, v2,
      state);
  check_traced(
      "cond: ",
      [](auto x, auto y) { return cq::cond(cq::sum(x) > 0, [&] { return x; }, [&] { return y; }); },
      v2, v3);
  check_traced(
      "for_loop: ",
      [](auto x, auto y) { return cq::for_loop(2, x, [&](auto, auto s) { return s + y; }); },
      zeros(1), v3);
}

TEST_CASE("B8: indices name the function that takes them") {
  const auto v3 = zeros(3);
  const auto i2 = cq::full(cq::shape{2}, 7);
  check("take: ", [](auto x, auto i) { return cq::take(x, i, cq::axis<0>); }, v3, i2);
  check(
      "scatter_add: ", [](auto x, auto i) { return cq::scatter_add(x, i, 1, cq::axis<0>); }, v3,
      i2);
}

TEST_CASE("B8: labels and scales that would stretch what they belong to are refused") {
  const auto x = zeros(3, 2, 5);
  const auto labels = [](std::int64_t n, std::int64_t m) {
    return cq::zeros<int>(cq::shape{n, m});
  };
  constexpr auto loss = [](auto v, auto t) { return cq::cross_entropy(v, t); };
  constexpr auto each = [](auto v, auto t) { return cq::cross_entropy(v, t, cq::no_reduction); };
  const std::string words = "cross_entropy: an operand is i32[1,2] where [3,2] is needed";
  check_all(words, loss, x, labels(1, 2));
  check_all(words, each, x, labels(1, 2));
  check_all("cross_entropy: an operand is i32[2,3] where [3,2] is needed", loss, x, labels(2, 3));
  check_all("cross_entropy: ", loss, x, labels(3, 1));
  check_all("cross_entropy: ", each, x, labels(1, 1));
  check_all("cross_entropy: ", loss, zeros(1, 2, 5), labels(3, 2));
  check_all("cross_entropy: ", each, zeros(1, 5), zeros<int>(3));
  check_all("cross_entropy: ", each, zeros(3, 5), zeros<int>(1));
  CHECK(cq::cross_entropy(x, labels(3, 2)).item() == doctest::Approx(1.6094379));

  constexpr auto scaled = [](auto v, auto g) { return cq::layer_norm(v, g, 0); };
  constexpr auto moved = [](auto v, auto b) { return cq::layer_norm(v, 1, b); };
  check_all("layer_norm: ", scaled, zeros(1, 4), zeros(3, 4));
  check_all("layer_norm: ", moved, zeros(1, 4), zeros(3, 4));
  check_all("layer_norm: ", scaled, zeros(3, 1), zeros(4));
  CHECK(cq::layer_norm(zeros(3, 4), zeros(1, 4), zeros(3, 1)).size() == 12);
}
