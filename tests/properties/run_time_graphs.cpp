// Random graphs: passes keep every value, are idempotent and leave valid graphs; plans and their
// replay give what the oracle gives, for every layout of arguments and results.
#include <doctest/doctest.h>
#include <pthread.h>

#include <map>
#include <string>

#include "calque/backend/interpret.hpp"
#include "calque/graph/dump.hpp"
#include "calque/passes/cse.hpp"
#include "calque/passes/dce.hpp"
#include "calque/passes/fold.hpp"
#include "calque/passes/verify.hpp"
#include "calque/run/inspect.hpp"
#include "calque/run/plan_cache.hpp"
#include "support/interpreter.hpp"
#include "support/placed.hpp"
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

TEST_CASE("fold, cse and dce change no bit of results and variables (C046, C050)") {
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
  for (const auto& occurred : operations) {
    INFO(occurred.first);
    CHECK(occurred.second >= 20);
  }
  CHECK(operations.size() == 83);
  for (int i = 0; i < fold_rules; ++i) {
    INFO("fold rule ", i);
    CHECK(folded.of[i] >= 20);
  }
  CHECK(merged >= 20);
  CHECK(removed >= 20);
}

namespace {

/// Arguments and results of one call, each in a layout of its own.
class placed_call {
 public:
  placed_call(const graph_view& g, const std::vector<tensor>& arguments,
              const std::vector<tensor>& results, std::mt19937_64& random, bool into) {
    for (int i = 0; i < g.argument_count; ++i) {
      const tensor& t = arguments[static_cast<std::size_t>(i)];
      const int axis = axis_of(t, random);
      placement how = any(random, 4);
      if (is_flat(t, axis) && random() % 2 == 0) how = placement::broadcast;
      if (g.arguments[i].kind != argument_kind::array) how = placement::dense;
      memory_.emplace_back(t, how, axis);
    }
    for (const tensor& t : results)  // what is there must not matter
      results_.emplace_back(garbage(t), into ? any(random, 4) : placement::dense,
                            axis_of(t, random));
    for (int i = 0; i < g.argument_count; ++i) {
      placed& m = memory_[static_cast<std::size_t>(i)];
      leaf l;
      l.kind = g.arguments[i].kind;
      l.type = m.type();
      l.rank = m.rank();
      l.extents = m.shape();
      l.strides = l.kind == argument_kind::array ? m.strides() : nullptr;
      l.data = m.data();
      if (l.kind == argument_kind::variable) l.identity = l.data;
      if (l.kind == argument_kind::extents) {
        l.rank = g.arguments[i].rank;
        l.extents = static_cast<const std::int64_t*>(m.data());
        l.data = nullptr;
      }
      leaves_.push_back(l);
    }
    for (placed& r : results_) {
      outputs_.push_back({r.shape(), r.strides(), r.data()});
      addresses_.push_back(r.data());
    }
    into_ = into;
  }
  [[nodiscard]] call_request request() const {
    return {leaves_.data(), static_cast<int>(leaves_.size()), into_ ? outputs_.data() : nullptr,
            into_ ? static_cast<int>(outputs_.size()) : 0};
  }
  void replay_with(const plan& p) { replay(p, leaves_.data(), addresses_.data()); }
  [[nodiscard]] tensor result(std::size_t k) const { return results_[k].value(); }
  [[nodiscard]] tensor argument(std::size_t i) const { return memory_[i].value(); }

 private:
  static placement any(std::mt19937_64& random, unsigned kinds) {
    return static_cast<placement>(random() % kinds);
  }
  static int axis_of(const tensor& t, std::mt19937_64& random) {
    return t.rank() == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(t.rank()));
  }
  static tensor garbage(tensor t) {
    for (constant& c : t.data) c = t.type == dtype::boolean ? constant{0, 1} : constant{99, 99};
    return t;
  }

  std::vector<placed> memory_, results_;
  std::vector<leaf> leaves_;
  std::vector<output> outputs_;
  std::vector<void*> addresses_;
  bool into_ = false;
};

void require_same_replay(const graph& g, const random_graph& r, const std::vector<tensor>& expected,
                         const std::vector<tensor>& variables, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const interpreted_kernels kernels(g.view());
  plan_cache cache(g.view(), kernels.table());
  for (int round = 0; round < 3; ++round) {
    placed_call call(g.view(), r.arguments, expected, random, round == 1);
    const plan_lease p = cache.find(call.request());
    call.replay_with(*p);
    INFO("round ", round, "\n", dump(g.view()), p->dump());
    for (std::size_t k = 0; k < expected.size(); ++k)
      REQUIRE(same_values(call.result(k), expected[k]));
    for (std::size_t i = 0; i < variables.size(); ++i)
      REQUIRE(same_values(call.argument(i), variables[i]));
  }
}

}  // namespace

TEST_CASE("plans and their replay give the oracle's bits, optimised or not") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed ", seed);
    const random_graph r = make_random_graph(seed);
    interpreter run(r.g.view(), r.arguments);
    const std::vector<tensor> expected = run.run(), variables = run.arguments();
    const graph a = fold(r.g.view()), b = cse(a.view()), c = dce(b.view());
    require_same_replay(c, r, expected, variables, seed);
    if (seed % 4 == 0) require_same_replay(r.g, r, expected, variables, seed);
  }
}

TEST_CASE("a sum of hundreds of products is right on the first and on later calls (C085)") {
  for (int n : {1, 2, 50, 99, 100, 101, 200, 400}) {
    INFO("n ", n);
    builder b;
    const int x = array_of(b, dtype::float32, 1);
    int y = b.number(dtype::float32, 0);
    double product = 0, constant = 0;
    for (int i = 0; i < n; ++i) {
      const int a = b.number(dtype::float32, i % 8), c = b.number(dtype::float32, i % 5 * 0.5);
      const int scaled = b.map_of<op::mul>(dtype::float32, a, x);
      const int term = b.map_of<op::add>(dtype::float32, scaled, c);
      y = b.map_of<op::add>(dtype::float32, y, term);
      product += i % 8;
      constant += i % 5 * 0.5;
    }
    const graph g = finish(b, y);
    const graph f = fold(g.view()), c = cse(f.view()), d = dce(c.view());
    const interpreted_kernels kernels(d.view());
    plan_cache cache(d.view(), kernels.table());
    const std::int64_t extent = 4;
    float from[4] = {-2, 0, 0.5f, 3};
    leaf l;
    l.type = dtype::float32;
    l.rank = 1;
    l.extents = &extent;
    l.data = from;
    for (int call = 0; call < 3; ++call) {
      float to[4] = {};
      void* results[] = {to};
      replay(*cache.find({&l, 1, nullptr, 0}), &l, results);
      for (int i = 0; i < 4; ++i)
        CHECK(static_cast<double>(to[i]) == product * static_cast<double>(from[i]) + constant);
      from[3] += 1;
    }
    CHECK(cache.stats().plans == 1);
  }
}

TEST_CASE("the oracle rounds to each type, or keeps doubles") {
  builder b;
  const int x = array_of(b, dtype::float32, 1);
  const graph g = finish(b, b.map_of<op::add>(dtype::float32, x, b.number(dtype::float32, 1)));
  const std::vector<tensor> in{{dtype::float32, {1}, {{16777216, 0}}}};
  CHECK(interpreter(g.view(), in).run()[0].data[0].f == 16777216);
  CHECK(interpreter(g.view(), in, rounding::none).run()[0].data[0].f == 16777217);
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
  bool valid = false, right = false, replayed = false;
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
  {
    const interpreted_kernels kernels(c.view());
    plan_cache cache(c.view(), kernels.table());
    const std::int64_t extent = 3;
    float from[3] = {0, 2, 100}, to[3] = {};
    leaf l;
    l.type = dtype::float32;
    l.rank = 1;
    l.extents = &extent;
    l.data = from;
    void* results[] = {to};
    replay(*cache.find({&l, 1, nullptr, 0}), &l, results);
    o.replayed = to[0] == 2 && to[1] == 2 && to[2] == 2;
  }
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

TEST_CASE("a chain of 600,000 nodes goes through all stages on a small stack (C133)") {
  chain_outcome o;
  on_small_stack(run_chain, &o);
  CHECK(o.valid);
  CHECK(o.right);
  CHECK(o.replayed);
  CHECK(o.nodes == 600004);
}
