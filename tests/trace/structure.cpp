// Arguments and results as trees: nested aggregates, tuples, std::array, constants and shapes.
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

#include <optional>

namespace cq = calque;
using cq::detail::argument_type;
using cq::detail::key_of;

namespace {

template <template <class, int> class A>
struct layer {
  A<float, 2> w;
  A<float, 1> b;
};
template <template <class, int> class A>
struct net {
  std::array<layer<A>, 2> layers;
  A<float, 0> scale;
};
template <class... X>
struct record {
  std::tuple<X...> parts;
};
template <class X>
struct counted {
  X x;
  int n;  // stays an int whatever X is
};
template <template <class, int> class A>
struct partly {
  A<float, 1> w;
  cq::array<float, 1> fixed;
};
template <class X>
struct not_plain : std::array<int, 1> {
  X x;
};

// what is an argument, and which arguments share a key
using vector = cq::array<float, 1>;
static_assert(std::is_same_v<key_of<cq::array<const float, 1>>, vector>);
static_assert(std::is_same_v<key_of<const vector&>, vector>);
static_assert(std::is_same_v<key_of<vector&&>, vector>);
static_assert(std::is_same_v<key_of<std::vector<float>>, vector>);
static_assert(std::is_same_v<key_of<std::span<const float>>, vector>);
static_assert(std::is_same_v<key_of<std::span<float>>, vector>);
static_assert(std::is_same_v<key_of<long long>, std::int64_t>);
static_assert(!std::is_same_v<key_of<int>, key_of<cq::static_t<1>>>);
static_assert(argument_type<net<cq::variable>> && argument_type<net<cq::array>>);
static_assert(argument_type<std::pair<vector, std::tuple<int, cq::static_t<2>>>>);
static_assert(argument_type<record<vector, float>>);
static_assert(argument_type<cq::shape<3>> && argument_type<bool>);
static_assert(!argument_type<std::vector<bool>> && !argument_type<std::vector<std::string>>);
static_assert(!argument_type<std::optional<vector>> && !argument_type<vector*>);
static_assert(!argument_type<std::string> && !argument_type<long double>);
static_assert(!argument_type<char> && !argument_type<not_plain<vector>>);
static_assert(!argument_type<std::span<const std::string>>);
static_assert(!argument_type<counted<vector>> && !argument_type<partly<cq::array>>);
using cq::detail::result_type;
static_assert(result_type<void> && result_type<int> && result_type<net<cq::expr>>);
static_assert(result_type<std::tuple<cq::scalar_expr<int>, std::pair<int, cq::expr<int, 2>>>>);
static_assert(result_type<layer<cq::var_expr>> && result_type<std::tuple<>>);
static_assert(!result_type<counted<cq::expr<int, 1>>> && !result_type<partly<cq::expr>>);
static_assert(!result_type<std::string> && !result_type<const char*>);

static_assert(cq::detail::count_leaves<cq::detail::symbols_of<net<cq::variable>>>() == 5);
static_assert(cq::detail::count_leaves<std::tuple<cq::static_t<1>, cq::expr<int, 1>>>() == 1);
static_assert(cq::detail::holds_symbols<std::array<layer<cq::expr>, 2>>::value);
static_assert(!cq::detail::holds_symbols<net<cq::array>>::value);
static_assert(cq::detail::holds_real<net<cq::variable>> &&
              cq::detail::holds_real<std::tuple<int, vector>>);
static_assert(!cq::detail::holds_real<std::tuple<int, cq::static_t<1>>>);

constexpr auto forward = cq::trace([](auto n, auto x) {
  auto h = x;
  for (const auto& l : n.layers) h = cq::matmul(h, l.w) + l.b;
  std::array sums{cq::sum(h), cq::max(h)};
  return std::tuple{n, std::pair{h * n.scale, sums}, 2.5};
});
constexpr auto swapped = cq::trace([](auto r) {
  return record<decltype(std::get<1>(r.parts) + 0), decltype(std::get<0>(r.parts) + 0)>{
      {std::get<1>(r.parts) + 0, std::get<0>(r.parts) * std::get<1>(r.parts)}};
});

}  // namespace

TEST_CASE("nested aggregates and arrays of them come and go in their structure (A15)") {
  const layer<cq::array> one{cq::ones<float>(cq::shape{2, 2}), cq::zeros<float>(cq::shape{2})};
  const net<cq::array> n{{one, {cq::full(cq::shape{2, 3}, 2.f), cq::ones<float>(cq::shape{3})}},
                         cq::array<float, 0>{0.5f}};
  auto [same, out, number] = forward(n, cq::ones<float>(cq::shape{4, 2}));
  static_assert(std::is_same_v<decltype(same), net<cq::array>>);
  static_assert(std::is_same_v<decltype(number), cq::array<double, 0>>);
  CHECK(out.first.shape() == cq::shape{4, 3});
  CHECK(out.first(3, 2) == 4.5f);
  CHECK(out.second[0].item() == 108);
  CHECK(out.second[1].item() == 9);
  CHECK(number.item() == 2.5);
  CHECK(same.layers[1].w(1, 2) == 2);
  same.layers[1].w(1, 2) = 7;  // no memory shared with the argument
  CHECK(n.layers[1].w(1, 2) == 2);
}

TEST_CASE("an aggregate over its members' types holds numbers beside arrays") {
  const auto r = swapped(record<vector, float>{{vector{1, 2}, 5.f}});
  CHECK(std::get<0>(r.parts).item() == 5);
  CHECK(std::get<1>(r.parts).to_vector() == std::vector<float>{5, 10});
}

TEST_CASE("a function of no arguments and one of no result are functions") {
  constexpr auto two = cq::trace([] { return 2; });
  CHECK(two().item() == 2);
  constexpr auto nothing = cq::trace([](auto) {});
  nothing(vector{1});
  CHECK(nothing.stats().launches == 0);
}
