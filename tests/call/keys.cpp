// What makes another graph, what only another plan, and what neither (A4, A7, A8).
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <span>
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

/// How the short way and the long way to a plan see one call.
enum class way {
  agree,  // the same words and hash, and the plan that the long way makes is found by the short one
  long_way,
  differ
};
template <auto F, bool Into, class Out, class... A>
way compare_ways(Out& out, const A&... args) {
  namespace d = cq::detail;
  using S = typename d::signature_for<std::remove_cv_t<decltype(F)>, A...>::type;
  using usual = d::usual_call<S, Into>;
  if constexpr (!usual::possible) {
    return way::long_way;
  } else {
    usual fast;
    cq::output o[8];
    int k = 0;
    if constexpr (Into)
      d::for_each_out(out, [&](auto& a) {
        auto* const data = d::prepare_write(a);
        fast.destination(a, data);
        o[k++] = {d::array_access::extents(a), d::array_access::strides(a), data};
      });
    fast.arguments(args...);
    if (!fast.usual()) return way::long_way;
    const d::request_frame<S::leaf_count> frame(args...);
    const cq::call_request request{frame.leaves(), S::leaf_count, Into ? o : nullptr, k};
    const cq::graph_view g = S::final::view();
    const d::planning::plan_key slow(g, d::planning::graph_facts(g), request);
    const d::planning::key_view a = fast.key(), b = slow.view();
    if (a.hash != b.hash || !std::equal(a.words, a.words + a.size, b.words, b.words + b.size))
      return way::differ;
    const cq::plan_lease made = S::cache().find(request);
    const cq::plan_use found = S::cache().use_known(a);
    return found && &*found == &*made ? way::agree : way::differ;
  }
}
constexpr auto three = cq::trace([](auto x, auto s, auto n, auto e) {
  return std::tuple{x + s, cq::sum(x) * e.extent(0), cq::transpose(x) * n};
});
constexpr auto repeated = cq::trace([](auto x, auto k) { return x * static_cast<float>(k.value); });
constexpr auto with_shape = cq::trace([](auto x, auto to) { return cq::broadcast_to(x, to); });
constexpr auto read_variable = cq::trace([](auto v, auto x) { return v * x; });

}  // namespace

TEST_CASE("the short way to a plan writes the key of the long way (A4)") {
  constexpr auto g = cq::trace([](auto x, auto y) { return x * 2 + y; });
  int none = 0;
  const matrix x{{1, 2, 3}, {4, 5, 6}}, y = x.clone();
  matrix out = x.clone();
  CHECK(compare_ways<g, false>(none, x, y) == way::agree);
  CHECK(compare_ways<g, true>(out, x, y) == way::agree);
  std::vector<float> room(64);
  const auto at = [&](std::size_t k, std::int64_t a, std::int64_t b) {
    return cq::borrow(room.data() + k, cq::shape{a, b}, {b, 1});
  };
  matrix dense = at(0, 2, 3);
  CHECK(compare_ways<g, true>(dense, at(6, 2, 3), at(12, 2, 3)) == way::agree);     // neighbours
  CHECK(compare_ways<g, true>(dense, at(5, 2, 3), at(12, 2, 3)) == way::long_way);  // overlap
  CHECK(compare_ways<g, true>(dense, at(0, 2, 3), y) == way::long_way);
  CHECK(compare_ways<g, false>(none, at(5, 2, 3), at(5, 2, 3)) == way::agree);  // only read
  CHECK(compare_ways<g, false>(none, cq::transpose(x), cq::transpose(y)) == way::long_way);
  matrix wide = cq::borrow(room.data(), cq::shape{2, 3}, {4, 1});
  CHECK(compare_ways<g, true>(wide, x, y) == way::long_way);
  const matrix row = cq::borrow(room.data() + 40, cq::shape{1, 3}, {77, 1});
  CHECK(compare_ways<g, true>(out, row, y) == way::agree);  // an axis of 1 has no stride
  matrix empty = matrix::uninitialised(cq::shape{0, 3});
  CHECK(compare_ways<g, true>(empty, empty, empty) == way::agree);
  matrix inside = cq::borrow(room.data() + 1, cq::shape{0, 3}, {-5, 9});
  CHECK(compare_ways<g, true>(inside, empty, empty) == way::agree);
  CHECK(compare_ways<g, false>(none, matrix(), matrix()) == way::agree);  // not allocated

  const std::vector<float> v{1, 2, 3};
  const std::span<const float> s(v);
  const vector u{4, 5, 6};
  vector to = u.clone();
  CHECK(compare_ways<g, true>(to, v, s) == way::agree);
  CHECK(compare_ways<g, true>(to, s, u) == way::agree);
  CHECK(compare_ways<g, true>(to, u, 2.f) == way::agree);
  CHECK(compare_ways<repeated, true>(to, u, cq::static_<3>) == way::agree);
  cq::array<float, 0> one = 1.f;
  CHECK(compare_ways<g, true>(one, cq::array<float, 0>(2.f), one.clone()) == way::agree);
  CHECK(compare_ways<g, false>(none, cq::array<float, 3>(), cq::array<double, 0>()) == way::agree);

  matrix a = x.clone(), c = matrix::uninitialised(cq::shape{3, 2});
  cq::array<float, 0> b;
  auto outs = cq::outs(a, b, c);
  CHECK(compare_ways<three, true>(outs, x, 1.f, cq::array<float, 0>(2.f), u) == way::agree);
  matrix meets = at(3, 3, 2);
  auto meeting = cq::outs(dense, b, meets);
  CHECK(compare_ways<three, true>(meeting, x, 1.f, cq::array<float, 0>(2.f), u) == way::long_way);
  CHECK(compare_ways<with_shape, false>(none, u, cq::shape{2, 3}) == way::agree);
  CHECK(compare_ways<with_shape, true>(out, u, cq::shape{2, 3}) == way::agree);

  const cq::variable<float, 1> w{u, "w"}, unset(cq::shape{3});
  CHECK(compare_ways<read_variable, true>(to, w, u) == way::agree);
  CHECK(compare_ways<read_variable, false>(none, unset, u) == way::long_way);
  CHECK(compare_ways<read_variable, false>(none, w, w) == way::long_way);  // two may be one
  CHECK(compare_ways<bump, false>(none, w, u) == way::long_way);           // it assigns
}

TEST_CASE("random layouts in one block: either way, one plan for one call (A4)") {
  constexpr auto g = cq::trace([](auto x, auto y) { return x - y; });
  std::mt19937 random(5);
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % unsigned(n)); };
  std::vector<float> room(400);
  int agree = 0, long_way = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t rows = pick(4), columns = pick(4);
    const auto somewhere = [&] {
      const std::int64_t by = pick(3) != 0 ? 1 : 2, step = pick(3) != 0 ? columns * by : pick(9);
      return cq::borrow(std::as_const(room).data() + 20 * pick(10) + pick(3),
                        cq::shape{rows, columns}, {step, by});
    };
    matrix out = cq::borrow(room.data() + pick(200), cq::shape{rows, columns});
    const way w = compare_ways<g, true>(out, somewhere(), somewhere());
    CHECK(w != way::differ);
    agree += w == way::agree;
    long_way += w == way::long_way;
  }
  CHECK(agree > 500);
  CHECK(long_way > 500);
}

TEST_CASE("one miss for one call, whichever way it comes") {
  constexpr auto g = cq::trace([](auto x, auto y) { return x + y * 3; });
  std::vector<float> room{1, 2, 3, 4, 5, 6, 0, 0, 0};
  const vector x{1, 2, 3}, y{4, 5, 6};
  vector out(std::vector<float>(3));
  g.into(out, x, y);
  auto dense = cq::borrow(room.data() + 6, cq::shape{3}, {1});
  g.into(dense, cq::borrow(room.data(), cq::shape{3}, {1}),
         cq::borrow(room.data() + 3, cq::shape{3}, {1}));
  g.into(out, std::vector<float>{1, 2, 3}, std::span<const float>(room.data() + 3, 3));
  CHECK(out.to_vector() == std::vector<float>{13, 17, 21});
  CHECK(dense.to_vector() == out.to_vector());
  CHECK(g.stats().misses == 1);
  CHECK(g.stats().hits == 2);
  CHECK(g.stats().launches == 3);
  (void)g.plan(x, y);  // makes the plan of the next call
  CHECK(g(x, y).to_vector() == out.to_vector());
  (void)g.plan(x, y);
  CHECK(g.stats().misses == 2);
  CHECK(g.stats().hits == 4);
  CHECK(g.stats().launches == 4);  // to look at a plan launches nothing
  auto shifted = cq::borrow(room.data() + 1, cq::shape{3});
  g.into(shifted, cq::borrow(room.data(), cq::shape{3}), y);
  CHECK(shifted.to_vector() == out.to_vector());
  CHECK(g.stats().misses == 3);
  CHECK(g.stats().launches == 4 + 2);  // what it reads is copied first
}

TEST_CASE("calls that throw count no launch, and the next one counts again") {
  constexpr auto g = cq::trace([](auto x, auto i) { return cq::take(x, i, cq::axis<0>) * 2; });
  const vector x{1, 2, 3};
  const cq::array<std::int64_t, 1> good{2, 0}, bad{1, 3};
  CHECK(g(x, good).to_vector() == std::vector<float>{6, 2});
  const auto before = g.stats();
  const auto host = cq::counters(cq::cpu()).launches;
  CHECK_THROWS_AS((void)g(x, bad), cq::index_error);
  vector out{0, 0};
  CHECK(g.stats().launches == before.launches);
  CHECK(g.stats().hits == before.hits + 1);
  CHECK(cq::counters(cq::cpu()).launches == host);
  (void)g(x, good);
  CHECK(g.stats().launches == 2 * before.launches);
  CHECK(cq::counters(cq::cpu()).launches == host + before.launches);
}

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
