// What makes another graph, what only another plan, and what neither (A4, A7, A8).
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <vector>

namespace cq = calque;

namespace {

using vector = cq::array<float, 1>;
using matrix = cq::array<float, 2>;

constexpr auto body = [](auto x, auto a) { return x * a; };
constexpr auto f = cq::trace(body);

// a table of change -> another graph type
template <auto F, class... A>
using graph_type = typename cq::detail::signature_for<std::remove_cv_t<decltype(F)>, A...>::type;
template <class A, class B>
constexpr bool differ = !std::is_same_v<A, B>;
using base = graph_type<f, vector, float>;
constexpr auto level_1 = cq::trace<cq::options{.pass_level = 1}>(body);
constexpr auto other_body = cq::trace([](auto x, auto a) { return x * a; });

static_assert(differ<base, graph_type<f, cq::array<double, 1>, float>>);    // dtype
static_assert(differ<base, graph_type<f, matrix, float>>);                  // rank
static_assert(differ<base, graph_type<f, vector, double>>);                 // scalar's type
static_assert(differ<base, graph_type<f, vector, vector>>);                 // scalar to array
static_assert(differ<base, graph_type<f, vector, cq::array<float, 0>>>);    // weak to strong
static_assert(differ<base, graph_type<f, cq::variable<float, 1>, float>>);  // to variable
static_assert(differ<base, graph_type<f, vector, cq::static_t<2>>>);        // to constant
static_assert(
    differ<graph_type<f, vector, cq::static_t<3>>, graph_type<f, vector, cq::static_t<2>>>);
static_assert(differ<base, graph_type<level_1, vector, float>>);     // options
static_assert(differ<base, graph_type<other_body, vector, float>>);  // function
static_assert(!differ<base, graph_type<f, cq::array<const float, 1>, const float&>>);
static_assert(!differ<base, graph_type<f, const vector&, float&&>>);
static_assert(!differ<base, graph_type<f, std::vector<float>, float>>);

constexpr auto add = cq::trace([](auto x, auto y) { return x + y; });
constexpr auto scale = cq::trace([](auto x, auto a) { return x * a; });
constexpr auto tail = cq::trace([](auto x) { return std::tuple{x + 1, cq::sum(x), x.extent(0)}; });
constexpr auto bump = cq::trace([](auto v, auto x) { v += x; });
constexpr auto bump_both = cq::trace([](auto v, auto w, auto x) {
  v += x;
  return v + w;
});

}  // namespace

TEST_CASE("calls that must hit: values, handles, constness, containers (A4, C079, C080)") {
  const vector x{1, 2, 3}, y{4, 5, 6};
  const auto call = [](const auto& a, const auto& b) { (void)add(a, b); };
  call(x, y);
  CHECK(add.stats().misses == 1);
  call(y, x);                                            // other arrays of the same sizes
  call(x.clone(), vector(y));                            // temporaries and copies
  call(std::as_const(x), cq::array<const float, 1>(y));  // constness
  const std::vector<float> v{1, 2, 3};
  call(v, std::span<const float>(v));                         // containers
  call(cq::borrow(v.data(), cq::shape{3}), x);                // borrowed, dense
  call(x, x);                                                 // one array twice, only read
  call(cq::slice(cq::arange<float>(7), cq::range{2, 5}), y);  // a dense part, other alignment
  {
    vector moved = x.clone();
    (void)add(std::move(moved), y);
  }
  CHECK(add.stats().misses == 1);
  CHECK(add.stats().plans == 1);
  CHECK(add.stats().hits == 8);
  CHECK(add.graphs() == 1);
}

TEST_CASE("calls that only re-plan: sizes, layouts, destinations, aliases (A4)") {
  constexpr auto g = cq::trace([](auto x, auto y) { return x + y; });
  const matrix x{{1, 2, 3}, {4, 5, 6}}, y = x.clone();
  const auto misses = [&](const std::function<void()>& call) {
    const auto before = g.stats().misses;
    call();
    const auto after = g.stats().misses;
    call();
    CHECK(g.stats().misses == after);  // and the second time it hits
    return after - before;
  };
  CHECK(misses([&] { (void)g(x, y); }) == 1);
  CHECK(g.last_miss() == "first call");
  CHECK(misses([&] { (void)g(cq::slice(x, cq::range{0, 1}), y); }) == 1);
  CHECK(g.last_miss().find("argument 0: extent of axis 0 is 1, before it was 2") !=
        std::string::npos);
  (void)g(x, y);  // the plan that the next miss is compared with
  CHECK(misses([&] { (void)g(cq::transpose(matrix{{1, 2}, {3, 4}, {5, 6}}), y); }) == 1);
  CHECK(g.last_miss().find("stride") != std::string::npos);
  matrix out = y.clone();
  (void)g(x, y);
  CHECK(misses([&] { g.into(out, x, y); }) == 1);
  CHECK(g.last_miss().find("the results have destinations") != std::string::npos);
  CHECK(misses([&] { g.into(out, out, y); }) == 1);  // the out is an argument
  CHECK(g.last_miss().find("overlap") != std::string::npos);
  float room[8]{};
  auto shifted = cq::borrow(room + 1, cq::shape{2, 3});
  const auto under = cq::borrow(static_cast<const float*>(room), cq::shape{2, 3});
  CHECK(misses([&] { g.into(shifted, under, y); }) == 1);
  auto wide = cq::borrow(room, cq::shape{2, 3}, {4, 1});
  CHECK(misses([&] { g.into(wide, x, y); }) == 1);  // a strided destination
  CHECK(g.graphs() == 1);
}

TEST_CASE("one trace for all batch sizes, with right tails (A7)") {
  for (int round = 0; round < 2; ++round)
    for (std::int64_t n : {100, 37, 10000}) {
      const auto x = cq::arange<float>(n);
      const auto [y, s, count] = tail(x);
      CHECK(y.size() == n);
      CHECK(y(n - 1) == static_cast<float>(n));
      CHECK(s.item() == static_cast<float>(n * (n - 1) / 2));
      CHECK(count.item() == n);
    }
  CHECK(tail.graphs() == 1);
  CHECK(tail.stats().misses == 3);
  CHECK(tail.stats().hits == 3);
}

TEST_CASE("a scalar's value never makes a plan (A8, C080)") {
  const vector x{1, 2};
  for (int i = 0; i < 10000; ++i) {
    const auto y = scale(x, static_cast<float>(i));
    if (y(1) != static_cast<float>(2 * i)) FAIL("wrong at " << i);
  }
  CHECK(scale.stats().misses == 1);
  CHECK(scale.stats().plans == 1);
}

TEST_CASE("other variables of the same sizes share a plan; one variable twice is another (A4)") {
  const cq::variable<float, 1> v{vector{1, 2}, "v"}, w{vector{3, 4}, "w"};
  bump(v, 1.f);
  bump(w, 2.f);
  CHECK(bump.stats().misses == 1);
  CHECK(v.value().to_vector() == std::vector<float>{2, 3});
  CHECK(w.value().to_vector() == std::vector<float>{5, 6});
  CHECK(bump_both(v, w, 1.f).to_vector() == std::vector<float>{8, 10});
  try {
    (void)bump_both(v, v, 1.f);
    FAIL("no exception");
  } catch (const cq::alias_error& e) {
    CHECK(std::string(e.what()).find('v') != std::string::npos);
  }
  CHECK(v.value().to_vector() == std::vector<float>{3, 4});
}
