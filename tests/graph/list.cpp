#include "calque/graph/list.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>

using calque::detail::list;

namespace {

constexpr int sum_to(int n) {
  list<int> l;
  for (int i = 1; i <= n; ++i) l.push(i);
  int s = 0;
  for (int v : l) s += v;
  return s;
}

}  // namespace

static_assert(sum_to(1000) == 500500);

TEST_CASE("a list grows, pops, resizes and keeps its elements") {
  list<int> l{1, 2, 3};
  CHECK(l.push(4) == 3);
  CHECK(l.back() == 4);
  l.pop();
  l.resize(5, 9);
  CHECK(l.size() == 5);
  CHECK(l[2] == 3);
  CHECK(l[4] == 9);
  l.resize(1);
  CHECK(l.size() == 1);
  l.clear();
  CHECK(l.empty());
}

TEST_CASE("a list may be given one of its own elements while it grows") {
  list<int> l;
  for (int i = 0; i < 100; ++i) l.push(i == 0 ? 7 : l[0]);
  for (int v : l) CHECK(v == 7);
}

TEST_CASE("a list's copy is its own, a moved-from list is empty and reusable") {
  list<int> a{1, 2};
  list<int> b = a;
  b[0] = 5;
  CHECK(a[0] == 1);
  list<int> c = std::move(a);
  CHECK(c.size() == 2);
  CHECK(a.empty());
  a.push(3);
  CHECK(a[0] == 3);
  c = b;
  CHECK(c[0] == 5);
  const list<int>& same = c;
  c = same;
  CHECK(c.size() == 2);
}
