// Random functions through the compiler: fused, unfused and interpreted results and effects are
// equal to the bit, and everything that can be fused occurred.
#include <doctest/doctest.h>

#include <algorithm>

#include "support/function_runs.hpp"

TEST_CASE(
    "random functions give the interpreter's bits, fused and unfused, for all extents (A16, "
    "C050)") {
  using namespace calque::test;
  auto& functions = registered_functions();
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.seed < b.seed; });
  REQUIRE(!functions.empty());
  MESSAGE(functions.size(), " functions, seeds ", functions.front().seed, " to ",
          functions.back().seed);
  occurrences o;
  for (const registered_function& f : functions) f.run(o);
  if (functions.size() < 60) return;  // a part of the suite
  const auto often = [](const std::string& what, int count) {
    INFO(what);
    CHECK(count >= 20);
  };
  for (const char* name :
       {"input",         "scalar",        "variable",     "constant", "extent",     "iota",
        "read",          "assign",        "neg",          "add",      "sub",        "mul",
        "div",           "maximum",       "minimum",      "less",     "less_equal", "greater",
        "greater_equal", "equal",         "not_equal",    "where",    "tanh",       "cast",
        "sum",           "max",           "min",          "argmax",   "argmin",     "sum_to",
        "transpose",     "reshape",       "broadcast_to", "matmul",   "cond",       "loop",
        "entry",         "region_arg",    "result",       "marker",   "gradient",   "prod",
        "cumsum",        "first_not_zero"})
    often(name, o.operations[name]);
  for (const char* name :
       {"abs", "exp",   "log",       "sqrt",       "erf",         "sin",   "cos",
        "tan", "expm1", "sigmoid",   "rsqrt",      "floor",       "round", "sign",
        "pow", "atan2", "remainder", "bitwise_or", "bitwise_not", "all",   "any"}) {
    INFO(std::string(name));
    CHECK(o.operations[name] >= 3);
  }
  for (int rule = 0; rule < calque::fold_rules; ++rule)  // the types leave no cast to the same type
    if (rule != static_cast<int>(calque::fold_rule::same_cast))
      often("fold rule " + std::to_string(rule), o.folded.of[rule]);
  often("merged", o.merged);
  often("removed", o.removed);
  for (const char* kind : {"map", "rows", "reduce with body", "reduce alone", "several outputs",
                           "tail", "assumptions", "sum_to", "inside a region"})
    often(kind, o.clusters[kind]);
  for (int rank = 0; rank < 5; ++rank) often("rank " + std::to_string(rank), o.ranks[rank]);
  often("empty", o.empty);
  often("extent 1", o.ones);
  often("several results", o.several_results);
  often("effects", o.effects);
}
