#include "calque/run/inspect.hpp"

#include <doctest/doctest.h>

#include "run/harness.hpp"

using namespace harness;

namespace {

program example() {
  maker b;
  const int x = b.array(2), v = b.variable(1);
  const int y = b.add(b.matmul(x, b.transpose(x)), v);
  b.assign(v, b.sum(y, 1));
  const auto r = b.loop(b.count(3), {v}, {y}, [&](int, auto s, auto row) {
    return maker::step_result{{b.add(s[0], row[0])}, {}};
  });
  const auto c = b.cond(
      b.less(b.sum(y, 3), b.number(dtype::float32, 0)), [&] { return std::vector<int>{y}; },
      [&] { return std::vector<int>{b.times(y, 2)}; });
  return program(b.done({r[0], c[0], x}));
}
call arguments() {
  call c;
  c.array({3, 2}, iota(6));
  c.variable({3}, iota(3), "v");
  return c;
}

}  // namespace

TEST_CASE("the dump of a plan is the same text in every process (A12)") {
  program p = example();
  call c = arguments();
  c.run(p);
  CHECK(p.cache.find(c.request())->dump() ==
        R"(plan: 2 arguments, 3 results, 10 kernels, arena 129 B, peak 201 B
  0 matmul [3,3,2] keeps 2 <- arg0:f32, arg0:f32 strides [1,2,0] -> arena+0:f32
  1 add [3,3] <- arena+0:f32, arg1:f32 strides [0,1] -> arena+0:f32
  2 sum [3,3] keeps 1 <- arena+0:f32 strides [1,3] -> arg1:f32
  3 copy [3] <- arg1:f32 -> out0:f32
  loop 3
    5 add [3] <- out0:f32, slice0:f32 -> out0:f32
  next
  7 sum [9] keeps 0 <- arena+0:f32 -> arena+64:f32
  8 less [] <- arena+64:f32, constant+8:f32 -> arena+128:bool
  cond <- arena+128
    10 copy [9] <- arena+0:f32 -> out1:f32
  else
    12 mul [9] <- arena+0:f32, constant+16:f32 strides [0] -> out1:f32
  13 copy [6] <- arg0:f32 -> out2:f32
)");
}

TEST_CASE(
    "json and dot name every step and are the same for a second plan of the same call (A12)") {
  program p = example(), q = example();
  call c = arguments();
  const auto a = p.cache.find(c.request()), b = q.cache.find(c.request());
  CHECK(a->json() == b->json());
  CHECK(a->dot() == b->dot());
  CHECK(a->json().find("\"name\":\"matmul [3,3,2] keeps 2\"") != std::string::npos);
  CHECK(a->dot().find("\"arg0\" -> s0;") != std::string::npos);
  CHECK(a->dot().find("-> \"out1\";") != std::string::npos);
}

TEST_CASE("explain gives each step's bytes, place, lifetime and cause") {
  program p = example();
  call c = arguments();
  const std::string s = p.cache.find(c.request())->explain();
  CAPTURE(s);
  CHECK(s.find("0 matmul [3,3,2] keeps 2: reads 48 B, writes 36 B to arena+") != std::string::npos);
  CHECK(s.find("lives in steps 0 to ") != std::string::npos);
  CHECK(s.find("a kernel of its own") != std::string::npos);
  CHECK(s.find("this pass level forms no clusters") != std::string::npos);
  CHECK(s.find("its value could not be computed where it is wanted") != std::string::npos);
}

TEST_CASE("dot draws writes of variables, both values of a cond, and what a loop carries") {
  program p = example();
  call c = arguments();
  const std::string s = p.cache.find(c.request())->dot();
  CAPTURE(s);
  const auto has = [&](const char* edge) { return s.find(edge) != std::string::npos; };
  CHECK(has("  s2 -> \"arg1\";"));           // the variable's new value
  CHECK(has("  s2 -> s3;"));                 // read after it was written
  CHECK(has("  s10 -> \"out1\";"));          // then
  CHECK(has("  s12 -> \"out1\";"));          // else
  CHECK(has("  s5 -> s5 [style=dashed];"));  // the state of the next step
  CHECK(has("  s3 -> s5;"));                 // and of the first
}

TEST_CASE("dot: what a cond's branch writes may also be as it was before") {
  maker b;
  const int x = b.array(1), v = b.variable(1);
  (void)b.cond(
      b.less(b.sum(x, 1), b.number(dtype::float32, 0)),
      [&] {
        b.assign(v, b.times(x, 2));
        return std::vector<int>{};
      },
      [] { return std::vector<int>{}; });
  program p(b.done({b.add(x, v)}));
  call c;
  c.array({3}, iota(3));
  c.variable({3}, iota(3), "v");
  const std::string s = p.cache.find(c.request())->dot();
  CAPTURE(s);
  const std::size_t last = s.rfind("[label=\"add [3]\"]");
  REQUIRE(last != std::string::npos);
  const std::string rest = s.substr(last);
  CHECK(rest.find("  \"arg1\" -> s") != std::string::npos);
  CHECK(rest.find("  s3 -> s") != std::string::npos);
  CHECK(rest.find("  s3 -> \"arg1\";") != std::string::npos);
}
