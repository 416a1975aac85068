// The arena of a plan: what lives in it, for how long, and how big it is.
#include <doctest/doctest.h>

#include <random>

#include "calque/plan/arena_layout.hpp"
#include "calque/plan/strides.hpp"
#include "run/harness.hpp"

using namespace harness;
using calque::detail::planning::arena_layout;

namespace {

using box = calque::detail::planning::block;

std::int64_t arena_of(calque::graph g, const call& c) {
  program p(static_cast<calque::graph&&>(g));
  return p.cache.find(c.request())->arena_bytes().count();
}

/// No two blocks that live together overlap, all are aligned and end below `bytes`.
bool is_valid(const std::vector<box>& blocks, std::int64_t bytes) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const box& a = blocks[i];
    if (a.offset % 64 != 0 || a.offset < 0 || a.offset + a.bytes > bytes) return false;
    for (std::size_t k = 0; k < i; ++k) {
      const box& b = blocks[k];
      if (a.start <= b.end && b.start <= a.end && a.offset < b.offset + b.bytes &&
          b.offset < a.offset + a.bytes)
        return false;
    }
  }
  return true;
}

/// Steps with many lives: sums of matrices, each read again `far` steps later.
calque::graph ladder(int steps, int far) {
  maker b;
  std::vector<int> x{b.array(2)};
  for (int i = 0; i < steps; ++i) {
    const int last = x.back();
    const int old = x[static_cast<std::size_t>(std::max(0, i - far))];
    x.push_back(b.matmul(last, b.transpose(old)));
  }
  return b.done({x.back()});
}

}  // namespace

TEST_CASE("a chain of twenty steps never has more than two buffers (C1)") {
  maker b;
  int x = b.array(1);
  for (int i = 0; i < 20; ++i) x = b.plus(b.times(x, 0.5), 1);
  call c;
  c.array({1000}, {});
  CHECK(arena_of(b.done({b.sum(x, 1)}), c) == 4000);  // elementwise: one, written over itself
  maker m;
  int y = m.array(2);
  for (int i = 0; i < 20; ++i) y = m.matmul(y, y);
  call d;
  d.array({8, 8}, {});
  CHECK(arena_of(m.done({m.sum(y, 3)}), d) == 2 * 256);
}

TEST_CASE(
    "the last step of a chain writes the result itself, the peak is known before a run (C23)") {
  maker b;
  program p(b.done({b.plus(b.times(b.array(1), 2), 1)}));
  call c;
  c.array({1000}, {});
  const auto plan = p.cache.find(c.request());
  CHECK(plan->arena_bytes().count() == 4000);
  CHECK(plan->peak_bytes().count() == 8000);
}

TEST_CASE("an operand is written over only by a step that reads it element for element") {
  maker b;
  const int x = b.array(2);
  const int y = b.plus(x, 1);
  call c;
  c.array({4, 4}, {});
  maker m;
  const int u = m.plus(m.array(2), 1);
  CHECK(arena_of(b.done({b.sum(b.times(y, 2), 3)}), c) == 64);
  CHECK(arena_of(m.done({m.sum(m.add(u, m.transpose(u)), 3)}), c) == 128);
}

TEST_CASE("values that a loop reads live through all its steps, its own values share bytes") {
  using step = maker::step_result;
  maker b;
  const int x = b.array(1);
  const int captured = b.plus(x, 1);
  const auto r = b.loop(b.count(3), {x}, {}, [&](int, auto s, auto) {
    const int a = b.times(b.add(s[0], captured), 2);
    return step{{b.plus(b.times(a, 3), 1)}, {}};
  });
  program p(b.done({r[0]}));
  call c;
  c.array({16}, numbers(16, 1));
  const auto plan = p.cache.find(c.request());
  CHECK(c.run(p)[0] == numbers(16, 775));
  CHECK(plan->arena_bytes().count() == 64 + 64 + 16);  // captured, one temporary, counters
}

TEST_CASE(
    "layouts of random lifetimes are valid, and near the bound that no layout can beat (C9)") {
  std::mt19937 random(7);
  double ratio = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<box> blocks;
    const int n = 1 + static_cast<int>(random() % 60);
    for (int i = 0; i < n; ++i) {
      const std::int64_t start = random() % 50, length = random() % 12;
      blocks.push_back(
          {start, start + length, 64 * (1 + static_cast<std::int64_t>(random() % 30)), 0});
    }
    const std::int64_t bound = arena_layout::lower_bound(blocks);
    const std::int64_t bytes = arena_layout::place(blocks);
    REQUIRE(is_valid(blocks, bytes));
    REQUIRE(bytes >= bound);
    ratio += static_cast<double>(bytes) / static_cast<double>(bound);
  }
  CHECK(ratio / 40 < 1.05);
}

TEST_CASE("a large set is laid out in one pass, validly and the same each time") {
  std::mt19937 random(9);
  std::vector<box> blocks;
  for (int i = 0; i < 6000; ++i) {
    const std::int64_t start = i, length = random() % 40;
    blocks.push_back({start, start + length, 1 + static_cast<std::int64_t>(random() % 999), 0});
  }
  std::vector<box> again = blocks;
  const std::int64_t bytes = arena_layout::place(blocks);
  CHECK(is_valid(blocks, bytes));
  CHECK(arena_layout::place(again) == bytes);
  for (std::size_t i = 0; i < blocks.size(); ++i) REQUIRE(blocks[i].offset == again[i].offset);
  CHECK(bytes < 2 * arena_layout::lower_bound(blocks));
}

TEST_CASE("plans of ladders take at most five percent more than their live bytes (C9)") {
  for (int far = 1; far < 8; ++far) {
    call c;
    c.array({16, 16}, {});
    const std::int64_t arena = arena_of(ladder(30, far), c);
    CHECK(arena <= (far + 2) * 1024);
    CHECK(arena >= (far > 1 ? far : 1) * 1024);
  }
}

TEST_CASE("reshape as strides: what can be expressed is, and only that") {
  namespace pl = calque::detail::planning;
  struct row {
    extents from, strides, to, expected;
  };
  const row rows[] = {
      {{2, 3}, {3, 1}, {6}, {1}},
      {{2, 3}, {1, 2}, {6}, {}},
      {{4, 3}, {1, 4}, {2, 2, 3}, {2, 1, 4}},
      {{2, 3, 4}, {24, 8, 2}, {6, 4}, {8, 2}},
      {{2, 3, 4}, {24, 8, 2}, {24}, {2}},
      {{2, 3, 4}, {100, 8, 2}, {2, 12}, {100, 2}},
      {{2, 3, 4}, {100, 8, 2}, {6, 4}, {}},
      {{1, 6}, {77, -1}, {2, 1, 3}, {-3, -3, -1}},
      {{3, 2}, {0, 1}, {6}, {}},
      {{3, 2}, {0, 1}, {3, 2, 1}, {0, 1, 1}},
      {{0, 3}, {5, 7}, {3, 0, 2}, {0, 2, 1}},
      {{}, {}, {1, 1}, {1, 1}},
  };
  for (const row& r : rows) {
    std::int64_t out[8]{};
    const bool can =
        pl::reshape_strides(static_cast<int>(r.from.size()), r.from.data(), r.strides.data(),
                            static_cast<int>(r.to.size()), r.to.data(), out);
    CAPTURE(r.to.size());
    CHECK(can == (!r.expected.empty()));
    if (!can || product(r.to) == 0) continue;
    for (std::size_t i = 0; i < r.to.size(); ++i)
      if (r.to[i] != 1) CHECK(out[i] == r.expected[i]);
  }
}
