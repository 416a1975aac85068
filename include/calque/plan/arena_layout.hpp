// Offsets for blocks of known size and lifetime in one arena.
//
// Small sets try several orders of two rules, "lowest possible offset first" (skyline) and
// "smallest gap that fits" (best fit), and stop at the lower bound; large sets take one pass over
// time. The same input gives the same offsets everywhere. Called by lifetimes.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace calque::detail::planning {

/// Bytes needed from `start` to `end`, both inclusive.
struct block {
  std::int64_t start = 0, end = 0, bytes = 0, offset = 0;
};

inline constexpr std::int64_t arena_alignment = 64;

class arena_layout {
 public:
  /// Sets the blocks' offsets and returns the bytes of the arena.
  static std::int64_t place(std::vector<block>& blocks) {
    arena_layout l(blocks);
    return l.run();
  }
  /// Most bytes that live blocks have at one time: no layout can be smaller.
  static std::int64_t lower_bound(const std::vector<block>& blocks) {
    std::vector<std::pair<std::int64_t, std::int64_t>> events;
    for (const block& b : blocks) {
      events.emplace_back(2 * b.start, b.bytes);
      events.emplace_back(2 * b.end + 1, -b.bytes);
    }
    std::sort(events.begin(), events.end());
    std::int64_t now = 0, most = 0;
    for (const auto& e : events) most = std::max(most, now += e.second);
    return most;
  }

 private:
  using order = std::vector<int>;
  static constexpr std::size_t few = 1500;

  explicit arena_layout(std::vector<block>& blocks) : blocks_(blocks), offsets_(blocks.size()) {}

  static std::int64_t aligned(std::int64_t n) {
    return (n + arena_alignment - 1) / arena_alignment * arena_alignment;
  }
  static bool meet(const block& a, const block& b) { return a.start <= b.end && b.start <= a.end; }

  std::int64_t run() {
    std::int64_t best = over_time();
    keep();
    const std::int64_t bound = lower_bound(blocks_);
    if (blocks_.size() > few) return best;
    for (int rule = 0; rule < 8 && best > bound; ++rule) {
      const order o = sorted(rule % 4);
      const std::int64_t peak = rule < 4 ? best_fit(o) : skyline(o);
      if (peak < best) best = peak, keep();
    }
    return best;
  }
  void keep() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i].offset = offsets_[i];
  }
  const block& at(int i) const { return blocks_[static_cast<std::size_t>(i)]; }
  std::int64_t& offset(int i) { return offsets_[static_cast<std::size_t>(i)]; }

  order sorted(int rule) const {
    order o(blocks_.size());
    std::iota(o.begin(), o.end(), 0);
    const auto key = [&](int i) {
      const auto bytes = static_cast<double>(at(i).bytes);
      const auto length = static_cast<double>(at(i).end - at(i).start + 1);
      switch (rule) {
        case 0: return std::pair(bytes, length);
        case 1: return std::pair(bytes * length, bytes);
        case 2: return std::pair(length, bytes * length);
        default: return std::pair(length, bytes);
      }
    };
    std::stable_sort(o.begin(), o.end(), [&](int a, int b) { return key(a) > key(b); });
    return o;
  }

  /// The lowest smallest gap among `busy` (sorted by offset) that holds `bytes`.
  template <class Busy>
  std::int64_t gap(const Busy& busy, std::int64_t bytes) const {
    std::int64_t top = 0, found = -1, smallest = INT64_MAX;
    for (int i : busy) {
      const std::int64_t low = offsets_[static_cast<std::size_t>(i)];
      if (low - top >= bytes && low - top < smallest) smallest = low - top, found = top;
      top = std::max(top, aligned(low + at(i).bytes));
    }
    return found >= 0 ? found : top;
  }
  void insert(order& by_offset, int i) {
    const auto lower = [&](int a, int b) { return offset(a) < offset(b); };
    by_offset.insert(std::upper_bound(by_offset.begin(), by_offset.end(), i, lower), i);
  }

  std::int64_t over_time() {
    order by_start(blocks_.size()), live;
    std::iota(by_start.begin(), by_start.end(), 0);
    std::stable_sort(by_start.begin(), by_start.end(),
                     [&](int a, int b) { return at(a).start < at(b).start; });
    std::int64_t peak = 0;
    for (int i : by_start) {
      live.erase(
          std::remove_if(live.begin(), live.end(), [&](int k) { return at(k).end < at(i).start; }),
          live.end());
      offset(i) = gap(live, at(i).bytes);
      peak = std::max(peak, offset(i) + at(i).bytes);
      insert(live, i);
    }
    return peak;
  }
  std::int64_t best_fit(const order& o) {
    order placed, busy;
    std::int64_t peak = 0;
    for (int i : o) {
      busy.clear();
      for (int k : placed)
        if (meet(at(k), at(i))) busy.push_back(k);
      offset(i) = gap(busy, at(i).bytes);
      peak = std::max(peak, offset(i) + at(i).bytes);
      insert(placed, i);
    }
    return peak;
  }
  std::int64_t skyline(const order& o) {
    std::fill(offsets_.begin(), offsets_.end(), 0);  // the lowest that is still possible
    order left = o;
    std::int64_t peak = 0;
    while (!left.empty()) {
      const auto next = std::min_element(left.begin(), left.end(),
                                         [&](int a, int b) { return offset(a) < offset(b); });
      const int i = *next;
      left.erase(next);
      const std::int64_t top = offset(i) + at(i).bytes;
      peak = std::max(peak, top);
      for (int k : left)
        if (meet(at(k), at(i))) offset(k) = std::max(offset(k), aligned(top));
    }
    return peak;
  }

  std::vector<block>& blocks_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace calque::detail::planning
