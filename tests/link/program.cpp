// One program of units built with different options, one of nvcc's, and a library that hides its
// symbols.
#include <doctest/doctest.h>

#include <vector>

#include "link/check.hpp"

extern "C" {
void link_plain(linked::answer*);
void link_wide(linked::answer*);
void link_library(linked::answer*);
#if defined(LINK_NVCC)
void link_nvcc(linked::answer*);
#endif
}

namespace {

struct part {
  const char* name;
  linked::unit call;
  bool in_program;
};
std::vector<part> parts() {
  std::vector<part> all = {{"plain", link_plain, true}, {"library", link_library, false}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back({"wide", link_wide, true});
#if defined(LINK_NVCC)
  all.push_back({"nvcc", link_nvcc, true});
#endif
  return all;
}

}  // namespace

TEST_CASE("C125 units and a library in one program share one device table, which counts for all") {
  const auto before = calque::counters(calque::cpu()).launches;
  std::int64_t sum = 0;
  for (const part& p : parts()) {
    linked::answer a{};
    p.call(&a);
    CHECK_MESSAGE(linked::fault_of(a).empty(), p.name, ": ", linked::fault_of(a));
    sum += a.launches;
  }
  CHECK(calque::counters(calque::cpu()).launches - before >= sum);
}

TEST_CASE("units of one program agree bit for bit, and each with itself") {
  linked::answer first{};
  link_plain(&first);
  for (const part& p : parts()) {
    linked::answer a{}, again{};
    p.call(&a);
    p.call(&again);
    CAPTURE(p.name);
    CHECK(linked::same_bits(a, again));
    if (p.in_program) CHECK(linked::same_bits(a, first));
  }
}

TEST_CASE("a level forced in the program holds in the library") {
  calque::detail::force_isa(calque::isa::baseline);
  linked::answer plain{}, library{};
  link_plain(&plain);
  link_library(&library);
  calque::detail::force_isa(calque::isa::avx512);
  CHECK(linked::fault_of(plain) == "");
  CHECK(linked::fault_of(library) == "");
}
