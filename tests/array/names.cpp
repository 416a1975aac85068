// User code may have names of its own in the global namespace, before and after our includes.
struct array {};
struct vector {};
struct span {};
struct byte {};
struct range {};
struct shape {};
struct storage {};
struct device {};
struct integral {};
int sum(int x) { return x + 1; }
int sort(int x) { return x + 2; }
int slice(int x) { return x + 3; }
int transpose(int x) { return x + 4; }
int reshape(int x) { return x + 5; }
int zeros(int x) { return x + 6; }
int count(int x) { return x + 7; }

#include <doctest/doctest.h>

#include "calque/array/borrow.hpp"
#include "calque/array/factories.hpp"
#include "calque/array/print.hpp"
#include "calque/array/views.hpp"

TEST_CASE("names of the user in the global namespace stay the user's (C127)") {
  [[maybe_unused]] array a;
  [[maybe_unused]] range r;
  [[maybe_unused]] shape s;
  [[maybe_unused]] device d;
  CHECK(sum(0) + sort(0) + slice(0) + transpose(0) + reshape(0) + zeros(0) + count(0) == 28);
  const calque::array<int, 1> x{1, 2};
  CHECK(transpose(x)(1) == 2);  // found through the argument
  CHECK(calque::to_string(calque::zeros<int>(calque::shape{2})) == "[0 0]");
}
