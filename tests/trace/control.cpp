// cond and for_loop as graphs: regions, captures, states, and the order of effects in them.
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

namespace cq = calque;
using graphs::count;
using graphs::find;

namespace {

template <class T, int Rank = 1>
using sym = cq::expr<T, Rank>;

constexpr auto branches = graphs::plain([](auto x, auto p) {
  auto y = x + 1;
  return cq::cond(
      p, [&] { return std::tuple{y, cq::sum(x)}; },
      [&] {
        return std::tuple{
            cq::cond(y.extent(0) > 2, [&] { return x; }, [&] { return y; }), cq::max(x)};
      });
});
constexpr cq::graph_view branching = cq::graph_of<branches, cq::array<float, 1>, bool>();

constexpr auto fibonacci = graphs::plain([](auto a, auto b, auto n) {
  return cq::for_loop(n, std::tuple{a, b}, [](auto, auto s) {
    auto [x, y] = s;
    return std::tuple{y, x + y};
  });
});
constexpr cq::graph_view looping = cq::graph_of<fibonacci, int, int, int>();

constexpr auto triangle = cq::trace([](auto x, auto n) {
  return cq::for_loop(n, x * 0, [&](auto i, auto s) {
    return s + cq::for_loop(i + 1, x * 0, [&](auto j, auto t) { return t + x * j; });
  });
});

constexpr auto host = cq::trace([](auto x, auto flag) {
  return cq::cond(flag.value, [&] { return cq::exp(x); }, [&] { return -x; });
});

}  // namespace

// the state of a loop and the results of branches are arrays' symbols: no longer weak
static_assert(std::is_same_v<cq::detail::state_of<std::tuple<cq::scalar_expr<int>, float>>,
                             std::tuple<sym<int, 0>, sym<float, 0>>>);
static_assert(std::is_same_v<cq::detail::state_of<cq::var_expr<float, 2>>, sym<float, 2>>);

TEST_CASE("a cond owns two regions that read what is outside of them") {
  static_assert(branching.region_count == 5);
  static_assert(count(branching, "cond") == 2);
  constexpr int outer = find(branching, "cond", 1);  // the inner one comes first
  constexpr cq::node owner = branching.nodes[outer];
  static_assert(branching.regions[owner.body0].results == 2);
  static_assert(branching.regions[owner.body1].results == 2);
  static_assert(branching.result(0, owner.body0) == find(branching, "add"));  // a capture
  static_assert(owner.inputs == 1);
  static_assert(branching.regions[branching.nodes[find(branching, "cond", 0)].body0].parent ==
                owner.body1);
}

TEST_CASE("nested branches give the values of the branch that is taken (C094)") {
  const auto x = cq::array<float, 1>{1, 2, 3};
  const auto [y, s] = branches(x, true);
  CHECK(y(2) == 4);
  CHECK(s.item() == 6);
  const auto [z, m] = branches(x, false);
  CHECK(z(2) == 3);
  CHECK(m.item() == 3);
  CHECK(std::get<0>(branches(cq::array<float, 1>{1, 2}, false))(1) == 3);
}

TEST_CASE("a loop carries a tuple, starts from its inputs, and takes any number of steps (C035)") {
  static_assert(count(looping, "loop") == 1);
  static_assert(graphs::node(looping, "loop").index == 2);
  static_assert(looping.regions[1].arguments == 3);  // step index, two states
  for (const auto& [n, a, b] :
       std::vector<std::array<int, 3>>{{0, 1, 1}, {-3, 1, 1}, {1, 1, 2}, {9, 55, 89}}) {
    const auto [x, y] = fibonacci(1, 1, n);
    CHECK(x.item() == a);
    CHECK(y.item() == b);
  }
  CHECK(fibonacci.stats().misses == 1);  // the number of steps is a value (A8)
}

TEST_CASE("loops nest, with the outer index as the inner count") {
  // sum over i < n of sum over j <= i of j
  CHECK(triangle(cq::array<float, 1>{1, 10}, 4).to_vector() == std::vector<float>{10, 100});
  CHECK(triangle(cq::array<float, 1>{1, 10}, 0).to_vector() == std::vector<float>{0, 0});
}

TEST_CASE("a host bool chooses the branch while tracing: the other one leaves no node") {
  static_assert(count(cq::graph_of<host, cq::array<float, 1>, cq::static_t<true>>(), "cond") == 0);
  static_assert(count(cq::graph_of<host, cq::array<float, 1>, cq::static_t<false>>(), "exp") == 0);
  CHECK(host(cq::array<float, 1>{2}, cq::static_<false>)(0) == -2);
}

TEST_CASE("branches of other extents are refused when planning, naming both") {
  constexpr auto uneven = cq::trace(
      [](auto x, auto y, auto p) { return cq::cond(p, [&] { return x; }, [&] { return y; }); });
  const auto three = cq::ones<float>(cq::shape{3}), four = cq::ones<float>(cq::shape{4});
  CHECK(uneven(three, three, true).size() == 3);
  try {
    (void)uneven(three, four, true);
    FAIL("no exception");
  } catch (const cq::shape_error& e) {
    const std::string text = e.what();
    CHECK(text.find("f32[3] and f32[4]") != text.npos);
    CHECK(text.find("control.cpp") != text.npos);
  }
}

TEST_CASE("a body that changes a symbol made outside is refused, in eager use by an exception") {
  constexpr auto step = [](auto x) {
    auto y = cq::sum(x);
    return cq::for_loop(3, x, [&](auto, auto s) {
      y += 1.f;
      return s * y;
    });
  };
  constexpr auto rebinds = [](auto x, auto k) {
    auto two = k * 2;
    return cq::cond(
        cq::sum(x) > 0,
        [&] {
          k = two;
          return x * k;
        },
        [&] { return x; });
  };
  const auto x = cq::ones<float>(cq::shape{3});
  const auto text = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const cq::value_error& e) {
      return e.what();
    }
    return "no exception";
  };
  CHECK(text([&] { (void)cq::eager(step)(x); }).find("a symbol made outside") != std::string::npos);
  CHECK(text([&] { (void)cq::eager(rebinds)(x, 2.f); }).find("a symbol made outside") !=
        std::string::npos);
}
