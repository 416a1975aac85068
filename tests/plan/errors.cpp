// What does not fit is found before anything runs, with operands, extents, place and remedy.
#include <doctest/doctest.h>

#include "calque/core/error.hpp"
#include "run/harness.hpp"

using namespace harness;

namespace {

/// Text of the error that planning throws for float arrays of these extents.
template <class Build>
std::string failure(Build build, std::vector<extents> arguments) {
  maker b;
  b.where = {12, "net.cpp"};
  std::vector<int> in;
  for (const extents& e : arguments) in.push_back(b.array(static_cast<int>(e.size())));
  program p(b.done({build(b, in)}));
  call c;
  for (const extents& e : arguments) c.array(e, {});
  try {
    (void)p.cache.find(c.request());
  } catch (const calque::shape_error& e) {
    return e.what();
  }
  return "no error";
}
using ids = std::vector<int>;

}  // namespace

TEST_CASE("broadcast operands that differ are named with the axis and both extents") {
  CHECK(failure([](maker& b, ids x) { return b.add(x[0], x[1]); }, {{2, 3}, {2, 4}}) ==
        "add: a is f32[2,3], b is f32[2,4]: extents 3 and 4 of axis 1 differ (neither is 1) at "
        "net.cpp:12; give the operands equal extents, or extent 1 where one is to be stretched");
  CHECK(failure([](maker& b, ids x) { return b.add(x[0], x[1]); }, {{5, 2}, {3}}) ==
        "add: a is f32[5,2], b is f32[3]: extents 2 and 3 of axis 1 differ (neither is 1) at "
        "net.cpp:12; give the operands equal extents, or extent 1 where one is to be stretched");
}

TEST_CASE("1 against 0 broadcasts to 0, 2 against 0 is refused (C031)") {
  const auto add = [](maker& b, ids x) { return b.add(x[0], x[1]); };
  CHECK(failure(add, {{0}, {1}}) == "no error");
  CHECK(failure(add, {{0}, {2}}).find("extents 0 and 2 of axis 0 differ") != std::string::npos);
}

TEST_CASE("a name of the node is part of the text") {
  CHECK(failure(
            [](maker& b, ids x) {
              const int y = b.matmul(x[0], x[1]);
              b.set_name(y, "logits");
              return y;
            },
            {{64, 128}, {100, 10}}) ==
        "matmul: a is f32[64,128], b is f32[100,10]: inner extents differ (128 and 100) named "
        "\"logits\" at net.cpp:12; axis 1 of a and axis 0 of b have to be equal; transpose an "
        "operand or slice it");
}

TEST_CASE(
    "reshape needs the same count, broadcast_to only stretches ones, sum_to only sums what fits") {
  CHECK(failure([](maker& b, ids x) { return b.reshape(x[0], {4, 2}); }, {{2, 3}}) ==
        "reshape: a is f32[2,3]: the result [4,2] has 8 elements, the operand has 6 at net.cpp:12; "
        "give extents with the same product");
  CHECK(failure([](maker& b, ids x) { return b.broadcast(x[0], {2, 4}); }, {{3}}) ==
        "broadcast_to: a is f32[3]: the result is f32[2,4]: extents 3 and 4 of axis 1 differ at "
        "net.cpp:12; only an extent of 1 is stretched: slice or reshape an operand");
  CHECK(failure([](maker& b, ids x) { return b.sum_to(x[0], x[1]); }, {{2, 4}, {3}}) ==
        "sum_to: a is f32[2,4]: the result is f32[3]: extents 4 and 3 of axis 0 differ at "
        "net.cpp:12; only an extent of 1 is stretched: slice or reshape an operand");
}

TEST_CASE("max, min and argmax of no elements are refused, sums of none are 0 (C032)") {
  CHECK(failure([](maker& b, ids x) { return b.max(x[0], 2); }, {{2, 0}}) ==
        "max: a is f32[2,0]: axis 1 has extent 0, and no elements have no max at net.cpp:12; "
        "reduce an axis that has elements, or test its extent first");
  CHECK(failure([](maker& b, ids x) { return b.argmax(x[0], 0); }, {{0, 2}})
            .starts_with("argmax: a is f32[0,2]: axis 0 has extent 0"));
  CHECK(failure([](maker& b, ids x) { return b.max(x[0], 2); }, {{0, 0}}) == "no error");
  CHECK(failure([](maker& b, ids x) { return b.sum(x[0], 2); }, {{2, 0}}) == "no error");
}

TEST_CASE("more bytes than 63 bits hold are refused, whatever the order of extents") {
  const auto outer = [](maker& b, ids x) { return b.matmul(x[0], x[1]); };
  const std::int64_t big = std::int64_t{1} << 31;
  CHECK(failure(outer, {{big, 0}, {0, big}}).find("has more bytes than 2^63 - 1") !=
        std::string::npos);
  CHECK(failure([](maker& b, ids x) { return b.broadcast(x[0], {big, big, 0}); }, {{0}}) ==
        "no error");
}

TEST_CASE("an assigned value and a destination have the extents of what they go to") {
  maker b;
  const int v = b.variable(1), x = b.array(1);
  b.set_name(v, "bias");
  b.where = {7, "f.cpp"};
  b.assign(v, b.value_of(x));
  program p(b.done({b.plus(x, 1)}));
  call c;
  block& w = c.variable({2}, {5, 6});
  c.array({3}, {1, 2, 3});
  CHECK_THROWS_WITH_AS((void)p.cache.find(c.request()),
                       "assign: variable \"bias\" is f32[2], its new value is f32[3] at f.cpp:7; "
                       "assign a value of the variable's extents",
                       calque::shape_error);
  CHECK(w.get() == numbers{5, 6});
  maker m;
  program q(m.done({m.plus(m.array(2), 1)}));
  call d;
  d.array({2, 3}, iota(6));
  block o = make_block({2, 4}, {});
  CHECK_THROWS_WITH_AS(
      d.into(q, {&o}),
      "into: result 0 is f32[2,3], its destination is f32[2,4]: extents 3 and 4 of "
      "axis 1 differ; give a destination of the result's extents",
      calque::shape_error);
}

TEST_CASE("states, branches and scanned operands keep their extents") {
  using step = maker::step_result;
  maker b;
  const int x = b.array(1), y = b.array(1);
  b.where = {3, "loop.cpp"};
  const auto r =
      b.loop(b.count(3), {x}, {}, [&](int, auto s, auto) { return step{{b.add(s[0], y)}, {}}; });
  program p(b.done(r));
  call c;
  c.array({1}, {1});
  c.array({4}, iota(4));
  CHECK_THROWS_WITH_AS((void)p.cache.find(c.request()),
                       "loop: state 0 changes its extents in a step: f32[1] and f32[4] at "
                       "loop.cpp:3; both have to have the same extents",
                       calque::shape_error);
  maker m;
  const int u = m.array(1), w = m.array(1);
  const auto chosen =
      m.cond(m.less(m.sum(u, 1), m.sum(w, 1)), [&] { return ids{u}; }, [&] { return ids{w}; });
  program q(m.done(chosen));
  call d;
  d.array({2}, {1, 2});
  d.array({3}, {1, 2, 3});
  CHECK_THROWS_WITH_AS((void)q.cache.find(d.request()),
                       "cond: result 0 differs between the branches: f32[2] and f32[3]; both have "
                       "to have the same extents",
                       calque::shape_error);
  maker k;
  const int xs = k.array(1), more = k.array(1);
  const auto sums =
      k.loop(k.extent_of(k.at(xs).dims[0]), {k.number(dtype::float32, 0)}, {xs, more},
             [&](int, auto s, auto e) { return step{{k.add(s[0], k.mul(e[0], e[1]))}, {}}; });
  program t(k.done(sums));
  call f;
  f.array({3}, iota(3));
  f.array({2}, iota(2));
  CHECK_THROWS_WITH_AS((void)t.cache.find(f.request()),
                       "loop: scanned operand 1 is f32[2], but the loop has 3 steps; axis 0 has to "
                       "have one element a step",
                       calque::shape_error);
}

TEST_CASE("a destination whose elements share memory is refused") {
  maker b;
  program p(b.done({b.plus(b.array(1), 1)}));
  call c;
  c.array({3}, iota(3));
  block o = make_block({3}, {}, dtype::float32, {0});
  CHECK_THROWS_AS(c.into(p, {&o}), calque::alias_error);
}
