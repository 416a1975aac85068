// Variables in differentiated loops and branches: captured or carried, with the same values and
// effects.
#include "calque/passes/explicit_variables.hpp"

#include "calque/passes/verify.hpp"
#include "support/random_graph.hpp"
#include "support/slopes.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

template <template <class, int> class A>
struct cell {
  A<double, 2> w;
  A<double, 1> b;
};

/// `g` with a `gradient` node at its end, so that all its regions count as differentiated.
cq::graph differentiated(cq::graph g) {
  int wrt = -1;
  for (int id = 0; id < g.nodes.size(); ++id)
    if (g.nodes[id].region == 0 && cq::is_floating(g.nodes[id].type) &&
        g.nodes[id].op->kind == cq::op_kind::map)
      wrt = id;
  if (wrt < 0) return g;
  cq::node n = cq::builder::make<cq::op::gradient>(cq::dtype::none);
  const std::int32_t inputs[] = {wrt, wrt};
  n.first_input = g.add_to_pool(inputs, 2);
  n.inputs = 2;
  g.nodes.push(n);
  g.regions[0].last = g.nodes.size();
  return g;
}
/// The same without it.
cq::graph plain(cq::graph g) {
  if (g.nodes.back().op->kind != cq::op_kind::gradient) return g;
  g.nodes.pop();
  g.regions[0].last = g.nodes.size();
  return g;
}

}  // namespace

TEST_CASE(
    "a random graph keeps its results and effects, and reads no variable in a region any more") {
  int changed = 0, reads = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const random_graph r = make_random_graph(seed);
    const cq::graph g = differentiated(r.g);
    cq::detail::explicit_variables_pass pass(g.view());
    if (!pass.has_work()) continue;
    INFO("seed ", seed);
    ++changed;
    const cq::graph out = pass.run();
    const cq::broken_rule broken = cq::find_broken_rule(out.view());
    INFO("rule: ", std::string(broken.rule ? broken.rule : "none"), " at node ", broken.node);
    REQUIRE(broken.rule == nullptr);
    for (const cq::node& n : out.nodes) reads += n.op->kind == cq::op_kind::read && n.region != 0;
    REQUIRE(reads == 0);
    interpreter before(r.g.view(), r.arguments);
    const auto expected = before.run();
    const cq::graph body = plain(out);
    interpreter after(body.view(), r.arguments);
    const auto results = after.run();
    REQUIRE(results.size() == expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) REQUIRE(same_values(results[i], expected[i]));
    for (std::size_t i = 0; i < r.arguments.size(); ++i)
      REQUIRE(same_values(after.arguments()[i], before.arguments()[i]));
  }
  CHECK(changed >= 100);
}

TEST_CASE("a loss over a loop has derivatives with respect to variables that its body reads (B8)") {
  constexpr auto loss = [](auto m, auto x) {
    const auto h = cq::for_loop(
        4, x, [&](auto i, auto s) { return cq::tanh(cq::matmul(s, m.w) + m.b * (i + 1)); });
    return cq::mean(h * h);
  };
  const cell<cq::array> m{drawn<double>(cq::shape{3, 3}, between(-1, 1, 1)),
                          drawn<double>(cq::shape{3}, between(-1, 1, 2))};
  const auto x = drawn<double>(cq::shape{2, 3}, between(-1, 1, 3));
  const cell<cq::variable> v{{m.w, "w"}, {m.b, "b"}};
  const auto want = cq::value_and_grad(loss)(m, x);
  const auto got = cq::value_and_grad(loss)(v, x);
  CHECK(got.value.item() == want.value.item());
  CHECK(same_bits(got.grad.w, want.grad.w));
  CHECK(same_bits(got.grad.b, want.grad.b));
  CHECK(std::fabs(got.grad.w(0, 0)) > 1e-4);
}

TEST_CASE("a derivative follows a variable that a loop or a branch in it changes") {
  // u starts at w and is doubled in each step: s = x * w * 2w * 4w
  constexpr auto f = cq::trace([](auto w, auto x) {
    return cq::value_and_grad(
        [](auto u, auto y) {
          const auto s = cq::for_loop(3, y, [&](auto, auto t) {
            const auto r = t * u;
            u.assign(u * 2);
            return r;
          });
          return cq::sum(s);
        },
        cq::wrt<0, 1>)(w, x);
  });
  for (int call = 0; call < 2; ++call) {
    const cq::variable<double, 1> w{cq::array<double, 1>{3}, "w"};
    const auto r = f(w, cq::array<double, 1>{5});
    CHECK(r.value.item() == 5 * 8 * 27);
    CHECK(std::get<0>(r.grad)(0) == 5 * 8 * 3 * 9);
    CHECK(std::get<1>(r.grad)(0) == 8 * 27);
    CHECK(w.value()(0) == 24);
  }
}

TEST_CASE("branches inside loops hand on what they assigned; a later read sees it") {
  constexpr auto f = cq::trace([](auto w, auto k, auto x) {
    const auto g = cq::grad([](auto y, auto u, auto n) {
      return cq::sum(cq::for_loop(4, y, [&](auto i, auto t) {
        cq::cond(i < 2, [&] { u *= 2; }, [&] { n += 1; });
        const auto inner = cq::for_loop(2, t, [&](auto, auto s) {
          u += 1;
          return s * cq::sum(u);
        });
        return inner + t * cq::astype<double>(n);
      }));
    })(x, w, k);
    return std::tuple{g, w + 0, k + 0};
  });
  const cq::variable<double, 1> w{cq::array<double, 1>{1}, "w"};
  const cq::variable<std::int64_t, 0> k{cq::array<std::int64_t, 0>(3), "k"};
  const auto [g, u, n] = f(w, k, cq::array<double, 1>{0.5, 2});
  double slope = 1, by = 1;
  std::int64_t count = 3;
  for (int i = 0; i < 4; ++i) {
    if (i < 2) by *= 2;
    else ++count;
    double inner = slope;
    for (int j = 0; j < 2; ++j) inner *= ++by;
    slope = inner + slope * static_cast<double>(count);
  }
  CHECK(g.to_vector() == std::vector<double>(2, slope));
  CHECK(u(0) == by);
  CHECK(w.value()(0) == by);
  CHECK(n.item() == count);
}

TEST_CASE("a derivative of a derivative sees the variable's marker of its own function") {
  constexpr auto f = [](auto w, auto x) {
    constexpr auto inner = [](auto u, auto y) {
      return cq::sum(cq::for_loop(2, y, [&](auto, auto t) { return t * u * u; }));
    };
    const auto g = cq::grad(inner)(w, x);  // x 4 w^3
    return cq::sum(g);
  };
  const cq::variable<double, 1> w{cq::array<double, 1>{2}, "w"};
  CHECK(cq::grad(f)(w, cq::array<double, 1>{3})(0) == 3 * 12 * 4);
  CHECK(cq::grad(f, cq::wrt<1>)(w, cq::array<double, 1>{3})(0) == 4 * 8);
}

TEST_CASE("graphs without differentiated regions are left alone") {
  constexpr auto f = cq::trace<cq::options{.pass_level = 0}>([](auto w, auto x) {
    const auto g = cq::grad([](auto y) { return cq::sum(y * y); })(x);
    return cq::for_loop(3, g, [&](auto, auto s) {
      w += 1;
      return s * cq::sum(w);
    });
  });
  constexpr cq::graph_view g = cq::graph_of<f, cq::variable<double, 1>, cq::array<double, 1>>();
  CHECK(!cq::detail::explicit_variables_pass(g).has_work());
  const cq::variable<double, 1> w{cq::array<double, 1>{0}, "w"};
  CHECK(f(w, cq::array<double, 1>{1})(0) == 2 * 6);
}

namespace {

/// Losses of a variable that starts at w and a vector x: the variable is changed in a loop, a
/// branch, or one in the other, and read where `Read` says: 1 inside, 2 after, 3 both.
template <int Form, int Read>
struct changing_loss {
  template <class W, class X>
  constexpr auto operator()(W w, const X& x) const {
    const auto change = [&] {
      const auto before = cq::sum(w * x);
      w.assign(w * x + 0.5 * x);
      if constexpr ((Read & 1) != 0) return before + cq::sum(w * w);
      else return cq::sum(x);
    };
    const auto other = [&] {
      w *= 3.0;
      return cq::sum(x * x);
    };
    const auto zero = cq::sum(x) * 0;
    const auto seen = [&] {
      if constexpr (Form == 0) {
        return cq::for_loop(2, zero, [&](auto, auto s) { return s + change(); });
      } else if constexpr (Form == 1) {
        return cq::cond(cq::sum(x) > 0, change, other);
      } else if constexpr (Form == 2) {
        return cq::for_loop(2, zero,
                            [&](auto i, auto s) { return s + cq::cond(i > 0, change, other); });
      } else if constexpr (Form == 3) {
        return cq::cond(cq::sum(x) > 0, other, [&] {
          return cq::for_loop(2, zero, [&](auto, auto s) { return s + change(); });
        });
      } else {  // one branch alone changes it, and nothing is handed out
        cq::cond(cq::sum(x) > 0, [&] { (void)change(); }, [] {});
        return cq::sum(x);
      }
    }();
    if constexpr ((Read & 2) != 0) return cq::sum(w * w * w) + seen;
    else return seen;
  }
};

template <int Form, int Read>
void check_changing(double sign) {
  INFO("form ", Form, ", read ", Read, ", sign ", sign);
  using vector = cq::array<double, 1>;
  constexpr auto loss = changing_loss<Form, Read>{};
  constexpr auto f = cq::trace(loss);
  constexpr auto g = cq::trace([](auto w, auto x) {
    const auto r = cq::value_and_grad(changing_loss<Form, Read>{}, cq::wrt<0, 1>)(w, x);
    return std::tuple{r.value, std::get<0>(r.grad), std::get<1>(r.grad), w + 0.0};
  });
  const std::vector<double> w0{0.7, -0.4}, x0{sign * 0.6, sign * 0.9};
  const auto value = [&](const std::vector<double>& w, const std::vector<double>& x) {
    return f(cq::variable<double, 1>{vector(w), "w"}, vector(x)).item();
  };
  for (const bool eagerly : {false, true}) {
    INFO("eager ", eagerly);
    const cq::variable<double, 1> w{vector(w0), "w"}, v{vector(w0), "w"};
    const auto got = eagerly ? cq::eager(g)(w, vector(x0)) : g(w, vector(x0));
    CHECK(std::get<0>(got).item() == doctest::Approx(value(w0, x0)).epsilon(1e-12));
    (void)f(v, vector(x0));
    CHECK(w.value().to_vector() == v.value().to_vector());
    CHECK(std::get<3>(got).to_vector() == v.value().to_vector());
    for (std::size_t i = 0; i < 2; ++i) {
      constexpr double h = 1e-5;
      std::vector<double> w_up = w0, w_down = w0, x_up = x0, x_down = x0;
      w_up[i] += h, w_down[i] -= h, x_up[i] += h, x_down[i] -= h;
      const auto at = static_cast<std::int64_t>(i);
      CHECK(std::get<1>(got)(at) ==
            doctest::Approx((value(w_up, x0) - value(w_down, x0)) / (2 * h)).epsilon(1e-6));
      CHECK(std::get<2>(got)(at) ==
            doctest::Approx((value(w0, x_up) - value(w0, x_down)) / (2 * h)).epsilon(1e-6));
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE_DEFINE(
    "a derivative follows what regions assign, read inside or after, in any nesting (B8)", Form,
    changed_variables) {
  for (const double sign : {1.0, -1.0}) {
    check_changing<Form::value, 1>(sign);
    check_changing<Form::value, 2>(sign);
    check_changing<Form::value, 3>(sign);
  }
}
TEST_CASE_TEMPLATE_INVOKE(changed_variables, std::integral_constant<int, 0>,
                          std::integral_constant<int, 1>, std::integral_constant<int, 2>,
                          std::integral_constant<int, 3>, std::integral_constant<int, 4>);
