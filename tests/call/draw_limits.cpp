// Draws with parameters that cannot be: refused before anything is written, the generator's state
// included; NaN where only a computation knows them.
#include <cmath>
#include <limits>

#include "support/reference.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

constexpr auto drop = cq::trace([](auto v, auto s, auto p) { return cq::dropout(s, v, p); });
constexpr auto coin =
    cq::trace([](auto s, auto p) { return cq::random::bernoulli(s, cq::shape{4}, p); });
constexpr auto even = cq::trace(
    [](auto s, auto lo, auto hi) { return cq::random::uniform<float>(s, cq::shape{4}, lo, hi); });
constexpr auto bell = cq::trace(
    [](auto s, auto m, auto d) { return cq::random::normal<float>(s, cq::shape{4}, m, d); });

/// The call throws a `value_error` that begins with these words; the state stays as it is.
template <class Call>
void refuses(const std::string& words, const cq::rng& state, const Call& call) {
  const auto before = state.value().to_vector();
  std::string text;
  try {
    call();
  } catch (const cq::value_error& e) {
    text = e.what();
  }
  CHECK_MESSAGE(text.starts_with(words), text << " begins with " << words);
  CHECK(state.value().to_vector() == before);
}
}  // namespace

TEST_CASE("B8: a probability outside 0 to 1 is refused, and the state is as before") {
  const cq::rng s{3};
  const auto x = cq::ones<float>(cq::shape{4});
  for (const double p : {-0.25, 1.5, not_a_number, inf, -inf}) {
    CAPTURE(p);
    refuses("dropout: p is ", s, [&] { (void)cq::dropout(s, x, p); });
    refuses("dropout: p is ", s, [&] { (void)drop(x, s, p); });
    refuses("dropout: p is ", s, [&] { (void)cq::eager(drop)(x, s, p); });
    refuses("dropout: p is ", s, [&] { (void)drop(x, s, static_cast<float>(p)); });
    cq::array<float, 1> out = cq::zeros<float>(cq::shape{4});
    refuses("dropout: p is ", s, [&] { drop.into(out, x, s, p); });
    CHECK(out.to_vector() == std::vector<float>(4));
    refuses("bernoulli: p is ", s, [&] { (void)cq::random::bernoulli(s, cq::shape{4}, p); });
    refuses("bernoulli: p is ", s, [&] { (void)coin(s, p); });
    refuses("bernoulli: p is ", s, [&] { (void)cq::eager(coin)(s, p); });
  }
  refuses("dropout: p is 2; give a probability, a number from 0 to 1", s,
          [&] { (void)cq::dropout(s, x, 2); });
  for (int k = 0; k < 2; ++k) {  // 0 and 1 are probabilities; replays look as well
    CHECK(drop(x, s, 0.0).to_vector() == x.to_vector());
    CHECK(drop(x, s, 1.0).to_vector() == std::vector<float>(4));
    CHECK(coin(s, 1).to_vector() == std::vector<bool>(4, true));
    refuses("dropout: p is 1.5 at ", s, [&] { (void)drop(x, s, 1.5); });
  }
}

TEST_CASE("B8: bounds that are not finite or not in order are refused, and a negative deviation") {
  const cq::rng s{3};
  const double pairs[][2] = {{1, 0},   {not_a_number, 1}, {0, not_a_number},
                             {0, inf}, {-inf, 0},         {-3e38, 3e38}};
  for (const auto& pair : pairs) {
    const double lo = pair[0], hi = pair[1];
    INFO(lo, " ", hi);
    const std::string words = "uniform: lo is ";
    refuses(words, s, [&] { (void)cq::random::uniform<float>(s, cq::shape{4}, lo, hi); });
    refuses(words, s, [&] { (void)even(s, lo, hi); });
    refuses(words, s, [&] { (void)cq::eager(even)(s, lo, hi); });
  }
  refuses("uniform: lo is 2, hi is 1.0", s,
          [&] { (void)cq::random::uniform<double>(s, cq::shape{4}, 2, 1.0); });
  CHECK(cq::random::uniform<float>(s, cq::shape{2}, 2, 2).to_vector() == std::vector<float>{2, 2});
  CHECK(cq::random::uniform<double>(s, cq::shape{2}, -3e38, 3e38).size() == 2);
  for (const double d : {-1.0, not_a_number, -inf}) {
    CAPTURE(d);
    const std::string words = "normal: deviation is ";
    refuses(words, s, [&] { (void)cq::random::normal<float>(s, cq::shape{4}, 0, d); });
    refuses(words, s, [&] { (void)bell(s, 0, d); });
    refuses(words, s, [&] { (void)cq::eager(bell)(s, 0, d); });
  }
  CHECK(cq::random::normal<float>(s, cq::shape{2}, 5, 0).to_vector() == std::vector<float>{5, 5});
}

TEST_CASE("B8: parameters that only a computation knows make NaN, in branches too") {
  constexpr auto computed = cq::trace([](auto x, auto s, auto p) {
    const auto q = p * 2;  // known where it is computed
    return std::tuple{cq::dropout(s, x, q), cq::random::uniform<float>(s, x.shape(), q, 1),
                      cq::random::normal<float>(s, x.shape(), 0, q),
                      cq::cond(
                          p != 0, [&] { return cq::dropout(s, x, p); }, [&] { return x; }),
                      cq::random::bernoulli(s, x.shape(), q)};
  });
  const auto x = cq::ones<float>(cq::shape{40});
  const auto all_nan = [](const auto& y) { return cq::all(cq::isnan(y)).item(); };
  const auto no_nan = [](const auto& y) { return !cq::any(cq::isnan(y)).item(); };
  const auto check = [&](const auto& f) {
    for (const auto p : {0.5, 0.25, 0.0, -1.0, 2.0, not_a_number}) {
      CAPTURE(p);
      const auto [dropped, even, bell, branch, coins] = f(x, cq::rng{1}, p);
      CHECK((2 * p >= 0 && 2 * p <= 1 ? no_nan(dropped) : all_nan(dropped)));
      CHECK((2 * p <= 1 ? no_nan(even) : all_nan(even)));
      CHECK((2 * p >= 0 ? no_nan(bell) : all_nan(bell)));
      CHECK(cq::any(coins).item() == (p > 0 && 2 * p <= 1));
      CHECK((p >= 0 && p <= 1 ? no_nan(branch) : all_nan(branch)));
    }
  };
  check(computed);
  check(cq::eager(computed));
}

TEST_CASE("B8: the derivative of dropout with probability 1 is 0, not NaN") {
  constexpr auto loss = [](auto v, auto s, auto p) { return cq::sum(cq::dropout(s, v, p)); };
  const auto x = cq::ones<float>(cq::shape{40});
  CHECK(cq::grad(loss)(x, cq::rng{1}, 1.f).to_vector() == std::vector<float>(40));
  constexpr auto fixed = [](auto v, auto s) { return cq::sum(cq::dropout(s, v, 1)); };
  CHECK(cq::grad(fixed)(x, cq::rng{1}).to_vector() == std::vector<float>(40));
}
