// Counting and walking the members of aggregates.
#include "calque/trace/members.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "calque/array/array.hpp"
#include "calque/array/variable.hpp"

namespace detail = calque::detail;

namespace {

struct none {};
struct one {
  int a;
};
struct three {
  calque::array<float, 2> a;
  double b;
  std::array<int, 3> c;
};
struct nested {
  three t;
  calque::variable<float, 1> v;
  none n;
};
#define EIGHT(N) int N##0, N##1, N##2, N##3, N##4, N##5, N##6, N##7;
struct most {
  EIGHT(a) EIGHT(b) EIGHT(c) EIGHT(d) EIGHT(e) EIGHT(f) EIGHT(g) EIGHT(h)
};
struct many {
  EIGHT(a) EIGHT(b) EIGHT(c) EIGHT(d) int e0, e1, e2, e3, e4;
};
#undef EIGHT
struct derived : one {
  int b;
};
struct c_array {
  double a, b[3];
  int c;
};
struct c_arrays {
  one a;
  calque::array<float, 1> b[2];
};
struct constructed {
  explicit constructed(int x) : a(x) {}
  int a;
};

static_assert(detail::member_count<none>() == 0);
static_assert(detail::member_count<one>() == 1);
static_assert(detail::member_count<three>() == 3);
static_assert(detail::member_count<nested>() == 3);
static_assert(detail::member_count<many>() == 37);
static_assert(detail::member_count<most>() == 64);
static_assert(detail::plain_aggregate<nested> && detail::plain_aggregate<none>);
static_assert(!detail::plain_aggregate<derived>);
static_assert(!detail::plain_aggregate<c_array> && !detail::plain_aggregate<c_arrays>);
static_assert(detail::plain_aggregate<three> && detail::plain_aggregate<most>);
static_assert(!detail::plain_aggregate<constructed>);
static_assert(!detail::plain_aggregate<int[2]> && !detail::plain_aggregate<int>);

}  // namespace

TEST_CASE("members are visited in the order of their declaration, up to 64 of them") {
  most m{};
  int next = 0;
  detail::for_each_member(m, [&](int& x) { x = next++; });
  CHECK(next == 64);
  CHECK(m.a0 == 0);
  CHECK(m.c3 == 19);
  CHECK(m.h7 == 63);
  many k{};
  next = 0;
  detail::for_each_member(k, [&](int& x) { x = next++; });
  CHECK(next == 37);
  CHECK(k.e4 == 36);
}

TEST_CASE("members are visited by reference, those of a const aggregate as const") {
  nested n{};
  std::vector<std::string> kinds;
  detail::for_each_member(std::as_const(n), [&]<class M>(M&) {
    static_assert(std::is_const_v<M>);
    kinds.push_back(std::is_same_v<M, const three>  ? "three"
                    : std::is_same_v<M, const none> ? "none"
                                                    : "variable");
  });
  CHECK(kinds == std::vector<std::string>{"three", "variable", "none"});
}
