// What may be a destination: arrays, `outs`, and aggregates of arrays in the result's structure.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

namespace cq = calque;
using cq::detail::same_leaf_types;

namespace {

template <template <class, int> class A>
struct pair {
  A<float, 1> sum;
  A<float, 0> total;
};
using vector = cq::array<float, 1>;

template <class X>
constexpr bool writable = cq::detail::out_symbols<X>::writable;
static_assert(writable<vector> && writable<pair<cq::array>> &&
              writable<std::tuple<vector, vector>>);
static_assert(writable<cq::outs_t<vector, vector>> && writable<const cq::outs_t<vector>>);
static_assert(!writable<const vector> && !writable<cq::array<const float, 1>>);
static_assert(!writable<cq::outs_t<vector, const vector>>);
static_assert(!writable<cq::outs_t<cq::array<const float, 1>>>);
template <class X>
concept known = requires { typename cq::detail::out_symbols<X>::type; };
static_assert(known<vector> && !known<std::string> && !known<cq::outs_t<vector>*>);

using results = std::tuple<cq::expr<float, 1>, cq::scalar_expr<int>>;
static_assert(same_leaf_types<results, std::tuple<cq::expr<float, 1>, cq::expr<int, 0>>>());
static_assert(!same_leaf_types<results, std::tuple<cq::expr<float, 1>>>());
static_assert(!same_leaf_types<results, std::tuple<cq::expr<int, 0>, cq::expr<float, 1>>>());
static_assert(!same_leaf_types<results, std::tuple<cq::expr<float, 2>, cq::expr<int, 0>>>());

constexpr auto f = cq::trace([](auto x, auto y) {
  auto s = x + y;
  return pair<cq::expr>{s, cq::sum(s)};
});

}  // namespace

TEST_CASE("outs, an aggregate and a tuple are filled in the order of the results") {
  const vector x{1, 2}, y{10, 20};
  vector a;
  cq::array<float, 0> b;
  f.into(cq::outs(a, b), x, y);
  CHECK(a.to_vector() == std::vector<float>{11, 22});
  CHECK(b.item() == 33);
  pair<cq::array> p;
  f.into(p, x, x);
  CHECK(p.sum.to_vector() == std::vector<float>{2, 4});
  CHECK(p.total.item() == 6);
  std::tuple<vector, cq::array<float, 0>> t;
  f.into(t, y, y);
  CHECK(std::get<0>(t)(1) == 40);
  auto named = cq::outs(a, p.total);
  f.into(named, y, x);
  CHECK(p.total.item() == 33);
  CHECK(p.sum.to_vector() == std::vector<float>{2, 4});
  constexpr auto whole = cq::trace([](auto x_, auto y_) { return std::tuple{f(x_, y_), x_}; });
  whole.into(cq::outs(p, a), x, x);  // an aggregate is one of the outs
  CHECK(p.total.item() == 6);
  CHECK(a.to_vector() == std::vector<float>{1, 2});
}
