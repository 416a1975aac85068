// Whether two strided blocks share memory, against every byte written down.
#include "calque/plan/strides.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

using namespace calque::detail::planning;

namespace {

struct sample {
  int bytes = 4;
  std::vector<std::int64_t> extents, strides;
  std::int64_t start = 0;

  [[nodiscard]] strided_block at(const char* room) const {
    return {room + start, bytes, static_cast<int>(extents.size()), extents.data(), strides.data()};
  }
  [[nodiscard]] std::set<std::int64_t> touched() const {
    std::set<std::int64_t> all;
    std::vector<std::int64_t> starts{start};
    for (std::size_t i = 0; i < extents.size(); ++i) {
      std::vector<std::int64_t> next;
      for (std::int64_t s : starts)
        for (std::int64_t k = 0; k < extents[i]; ++k) next.push_back(s + k * strides[i] * bytes);
      starts = next;
    }
    for (std::int64_t s : starts)
      for (int b = 0; b < bytes; ++b) all.insert(s + b);
    return all;
  }
};

bool share(const sample& a, const sample& b) {
  const auto x = a.touched(), y = b.touched();
  for (std::int64_t i : x)
    if (y.contains(i)) return true;
  return false;
}

bool meet(const sample& a, const sample& b) {
  static const char room[1 << 16]{};
  const strided_block x = a.at(room + (1 << 15)), y = b.at(room + (1 << 15));
  return may_meet(x, reach_of(x), y, reach_of(y));
}

}  // namespace

TEST_CASE("slices of one array that take turns in memory are told apart") {
  const sample even{4, {8}, {2}, 0}, odd{4, {8}, {2}, 4}, third{4, {4}, {4}, 4};
  CHECK_FALSE(meet(even, odd));
  CHECK_FALSE(meet(even, third));
  CHECK(meet(odd, third));
  const sample left{4, {5, 3}, {8, 1}, 0}, right{4, {5, 5}, {8, 1}, 12}, wide{4, {5, 4}, {8, 1}, 0};
  CHECK_FALSE(meet(left, right));
  CHECK(meet(wide, right));
  const sample upwards{4, {8}, {-2}, 14 * 4};
  CHECK(meet(even, upwards));
  CHECK_FALSE(meet(odd, upwards));
  const sample column{4, {5, 1}, {8, 1}, 28}, columns{4, {5, 7}, {8, 1}, 0};
  CHECK_FALSE(meet(column, columns));
  const sample none{4, {0, 3}, {3, 1}, 0}, all{4, {9}, {1}, 0};
  CHECK_FALSE(meet(none, all));
}

TEST_CASE("random blocks: none that share a byte are called apart, few others are called meeting") {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return static_cast<std::int64_t>(std::uniform_int_distribution<int>(low, high)(random));
  };
  int shared = 0, apart = 0, missed = 0;
  for (int i = 0; i < 20000; ++i) {
    sample s[2];
    for (sample& x : s) {
      x.bytes = 1 << pick(0, 3);
      for (std::int64_t rank = pick(0, 3); rank > 0; --rank) {
        x.extents.push_back(pick(1, 4));
        x.strides.push_back(pick(-9, 9));
      }
      x.start = pick(-40, 40);
    }
    const bool truth = share(s[0], s[1]), answer = meet(s[0], s[1]);
    if (truth) CHECK(answer);
    shared += truth;
    apart += !answer;
    missed += answer && !truth;
  }
  MESSAGE(shared << " share memory, " << apart << " told apart, " << missed
                 << " apart but not told");
  CHECK(shared > 2000);
  CHECK(apart > 2000);
}
