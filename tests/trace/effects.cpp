// Variables inside a trace: each use reads the value at that point of the program (B5).
#include "trace/graphs.hpp"

#include <doctest/doctest.h>

namespace cq = calque;
using graphs::count;

namespace {

using number = cq::variable<int, 0>;
using vector_variable = cq::variable<float, 1>;

number make(int v, const char* name) { return number{cq::array<int, 0>{v}, name}; }

constexpr auto order = cq::trace([](auto v, auto x) {
  auto before = v + 0;
  v.assign(x * 2);
  auto between = v + 0;
  v += 1;
  v *= v;
  return std::tuple{before, between, v};
});

constexpr auto branch = cq::trace([](auto a, auto b, auto p) {
  auto old = a + b;
  auto r = cq::cond(
      p,
      [&] {
        a.assign(2);
        return a + 0;
      },
      [&] {
        b.assign(2);
        b += a;
        return b + 0;
      });
  return std::tuple{old, r, a + b};
});

constexpr auto loop = cq::trace([](auto a, auto b, auto n) {
  return cq::for_loop(n, 0 * n, [&](auto i, auto s) {
    auto t = a + 0;
    a.assign(b);
    b.assign(t + i);
    return s + b;
  });
});

constexpr auto pruned = cq::trace([](auto a, auto b, auto unused) {
  (void)(unused + 1);
  auto y = b + 0;
  cq::cond(y > 10, [&] { a += 1; }, [] {});
  (void)cq::for_loop(2, y, [&](auto, auto s) {
    a += 10;
    return s;
  });
});

constexpr auto loss = [](auto w, auto b, auto x, auto t) {
  auto e = w * x + b - t;
  return e * e / 2;
};

}  // namespace

// values given are forwarded: one read of the variable, one effect an assignment
static_assert(count(cq::graph_of<order, number, int>(), "read") == 1);
static_assert(count(cq::graph_of<order, number, int>(), "assign") >= 1);

TEST_CASE("read, write, read gives the old value and the new one (B5, C062)") {
  const number v = make(7, "v");
  const auto [before, between, after] = order(v, 5);
  CHECK(before.item() == 7);
  CHECK(between.item() == 10);
  CHECK(after.item() == 121);
  CHECK(v.value().item() == 121);
  CHECK(std::get<0>(order(v, 0)).item() == 121);
  CHECK(v.value().item() == 1);
}

TEST_CASE("only the effects of the branch that is taken happen (C094)") {
  const number a = make(1, "a"), b = make(1, "b");
  {
    const auto [old, r, now] = branch(a, b, true);
    CHECK(old.item() == 2);
    CHECK(r.item() == 2);
    CHECK(now.item() == 3);
  }
  CHECK(a.value().item() == 2);
  CHECK(b.value().item() == 1);
  {
    const auto [old, r, now] = branch(a, b, false);
    CHECK(old.item() == 3);
    CHECK(r.item() == 4);
    CHECK(now.item() == 6);
  }
  CHECK(a.value().item() == 2);
  CHECK(b.value().item() == 4);
}

TEST_CASE("two variables swapped in each step of a loop (C095)") {
  const number a = make(1, "a"), b = make(100, "b");
  int x = 1, y = 100, sum = 0;
  for (int n : {3, 0, 4}) {
    sum = 0;
    for (int i = 0; i < n; ++i) {
      const int t = x;
      x = y;
      y = t + i;
      sum += y;
    }
    CHECK(loop(a, b, n).item() == sum);
    CHECK(a.value().item() == x);
    CHECK(b.value().item() == y);
  }
}

TEST_CASE("effects are kept where nothing is returned, also in regions (B5)") {
  const number a = make(0, "a"), b = make(11, "b"), c = make(0, "c");
  pruned(a, b, c);
  CHECK(a.value().item() == 21);
  b.assign(cq::array<int, 0>{3});
  pruned(a, b, c);
  CHECK(a.value().item() == 41);
}

TEST_CASE("state written in a body changes at every call, and is seen from outside (C116)") {
  constexpr auto f = cq::trace([](auto v, auto x) {
    v.assign(x * 2);
    return v + 1;
  });
  const vector_variable v{cq::zeros<float>(cq::shape{1}), "v"};
  CHECK(f(v, cq::array<float, 1>{1})(0) == 3);
  CHECK(v.value()(0) == 2);
  CHECK(f(v, cq::array<float, 1>{11})(0) == 23);
  CHECK(v.value()(0) == 22);
  v.assign(cq::array<float, 1>{5});
  constexpr auto read = cq::trace([](auto w) { return w * 10; });
  CHECK(read(v)(0) == 50);
  CHECK(f.stats().misses == 1);
}

TEST_CASE("a step updates all variables from the values before it (C059)") {
  constexpr auto step = cq::trace([](auto w, auto b, auto x, auto t, auto rate) {
    auto r = cq::value_and_grad(loss, cq::wrt<0, 1>)(w, b, x, t);
    w -= rate * std::get<0>(r.grad);
    b -= rate * std::get<1>(r.grad);
    return r.value;
  });
  const cq::variable<float, 0> w{cq::array<float, 0>{1.f}, "w"}, b{cq::array<float, 0>{0.f}, "b"};
  CHECK(step(w, b, 2.f, 10.f, 0.1).item() == 32);
  CHECK(w.value().item() == doctest::Approx(2.6));
  CHECK(b.value().item() == doctest::Approx(0.8));
  double rw = w.value().item(), rb = b.value().item();
  for (int i = 0; i < 100; ++i) {
    const double x = i % 3, e = rw * x + rb - 10;
    (void)step(w, b, static_cast<float>(x), 10.f, 0.1);
    rw -= 0.1 * e * x;
    rb -= 0.1 * e;
  }
  CHECK(w.value().item() == doctest::Approx(rw).epsilon(1e-5));
  CHECK(b.value().item() == doctest::Approx(rb).epsilon(1e-5));
  CHECK(step.stats().misses == 1);
}
