// Random graphs: passes keep every value, are idempotent, and leave valid graphs.
#include <doctest/doctest.h>
#include <pthread.h>

#include <map>
#include <string>

#include "calque/graph/dump.hpp"
#include "calque/passes/cse.hpp"
#include "calque/passes/dce.hpp"
#include "calque/passes/fold.hpp"
#include "calque/passes/verify.hpp"
#include "support/interpreter.hpp"
#include "support/random_graph.hpp"

namespace {

using namespace calque;
using namespace calque::test;

constexpr std::uint64_t seeds = 1500;

void require_valid(const graph& g, const char* after) {
  const broken_rule broken = find_broken_rule(g.view());
  INFO("after ", std::string(after), ", at node ", broken.node, ": ",
       std::string(broken.rule ? broken.rule : ""), "\n", dump(g.view()));
  REQUIRE(broken.rule == nullptr);
}

void require_same_run(const graph& g, const random_graph& r, const std::vector<tensor>& expected,
                      const std::vector<tensor>& variables, const char* after) {
  interpreter run(g.view(), r.arguments);
  const std::vector<tensor> results = run.run();
  INFO("after ", std::string(after), "\n", dump(r.g.view()), dump(g.view()));
  REQUIRE(results.size() == expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) REQUIRE(same_values(results[i], expected[i]));
  for (std::size_t i = 0; i < variables.size(); ++i)
    REQUIRE(same_values(run.arguments()[i], variables[i]));
}

}  // namespace

TEST_CASE("fold, cse and dce change no bit of a random graph's results and variables (C046, C050)") {
  std::map<std::string, int> operations;
  fold_counts folded;
  int merged = 0, removed = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed ", seed);
    const random_graph r = make_random_graph(seed);
    require_valid(r.g, "generation");
    for (const node& n : r.g.nodes) ++operations[n.op->name];
    interpreter run(r.g.view(), r.arguments);
    const std::vector<tensor> expected = run.run(), variables = run.arguments();

    const graph a = fold(r.g.view(), &folded);
    require_valid(a, "fold");
    require_same_run(a, r, expected, variables, "fold");
    const graph b = cse(a.view());
    require_valid(b, "cse");
    require_same_run(b, r, expected, variables, "cse");
    const graph c = dce(b.view());
    require_valid(c, "dce");
    require_same_run(c, r, expected, variables, "dce");
    merged += a.nodes.size() - b.nodes.size();
    removed += b.nodes.size() - c.nodes.size();

    REQUIRE(dump(fold(a.view()).view()) == dump(a.view()));
    REQUIRE(dump(cse(b.view()).view()) == dump(b.view()));
    REQUIRE(dump(dce(c.view()).view()) == dump(c.view()));
  }
  for (const auto& [name, count] : operations) {
    INFO(name, ": ", count);
    CHECK(count >= 20);
  }
  CHECK(operations.size() == 45);
  for (int i = 0; i < fold_rules; ++i) {
    INFO("fold rule ", i);
    CHECK(folded.of[i] >= 20);
  }
  CHECK(merged >= 20);
  CHECK(removed >= 20);
}

namespace {

// x = x * 0.5 + 1, three hundred thousand times over; the limit is 2.
graph long_chain() {
  builder b;
  int x = array_of(b, dtype::float32, 1);
  const int half = b.number(dtype::float32, 0.5), one = b.number(dtype::float32, 1);
  for (int i = 0; i < 300000; ++i)
    x = b.map_of<op::add>(dtype::float32, b.map_of<op::mul>(dtype::float32, x, half), one);
  return finish(b, x);
}

// doctest's assertions are kept out of the small stack.
struct chain_outcome {
  bool valid = false, right = false;
  int nodes = 0;
};

void* run_chain(void* out) {
  chain_outcome& o = *static_cast<chain_outcome*>(out);
  const graph g = long_chain();
  const graph a = fold(g.view());
  const graph b = cse(a.view());
  const graph c = dce(b.view());
  o.valid = !verify(g.view()) && !verify(c.view());
  o.nodes = c.nodes.size();
  const tensor x{dtype::float32, {3}, {{0, 0}, {2, 0}, {100, 0}}};
  const std::vector<tensor> r = interpreter(c.view(), {x}).run();
  o.right = r[0].data[0].f == 2 && r[0].data[1].f == 2 && r[0].data[2].f == 2;
  return nullptr;
}

/// Runs `f(argument)` on a thread of 256 KiB of stack.
void on_small_stack(void* (*f)(void*), void* argument) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, f, argument) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("a chain of 600,000 nodes is built, optimised, run and destroyed on a small stack (C133)") {
  chain_outcome o;
  on_small_stack(run_chain, &o);
  CHECK(o.valid);
  CHECK(o.right);
  CHECK(o.nodes == 600004);
}
