// Operands in memory of any layout, and geometries made of them by hand, for tests of CPU kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include "calque/backend/backend.hpp"
#include "calque/backend/cpu/isa.hpp"

namespace blocks {

using extents = std::vector<std::int64_t>;

inline std::int64_t count(const extents& e) {
  std::int64_t n = 1;
  for (std::int64_t x : e) n *= x;
  return n;
}

/// Strides of a row-major block.
inline extents row_major(const extents& e) {
  extents s(e.size());
  std::int64_t step = 1;
  for (std::size_t a = e.size(); a-- > 0; step *= e[a]) s[a] = step;
  return s;
}

/// Lowers the instruction set for one scope.
class at_level {
 public:
  explicit at_level(calque::isa level) : in_use_(calque::detail::force_isa(level)) {}
  ~at_level() { calque::detail::force_isa(calque::isa::avx512); }
  at_level(const at_level&) = delete;
  at_level& operator=(const at_level&) = delete;

 private:
  calque::isa in_use_;
};
/// Calls f at every instruction set that this machine has.
template <class F>
void at_each_level(const F& f) {
  for (const calque::isa level : {calque::isa::baseline, calque::isa::avx2, calque::isa::avx512}) {
    if (calque::detail::detect_isa() < level) continue;
    const at_level lowered(level);
    f(level);
  }
}

/// Elements of T over some axes at any strides; what lies between them holds a pattern.
template <class T>
class block {
 public:
  block(const extents& e, const extents& strides) : extents_(e), strides_(strides) {
    std::int64_t low = 0, high = 0;
    for (std::size_t a = 0; a < e.size(); ++a) {
      const std::int64_t reach = e[a] > 0 ? strides[a] * (e[a] - 1) : 0;
      (reach < 0 ? low : high) += reach;
    }
    size_ = static_cast<std::size_t>(high - low + 1);
    memory_ = std::make_unique<T[]>(size_);
    first_ = -low;
    std::memset(static_cast<void*>(memory_.get()), std::is_same_v<T, bool> ? 1 : 0x5a,
                size_ * sizeof(T));
  }
  explicit block(const extents& e) : block(e, row_major(e)) {}

  T& at(const extents& index) {
    std::int64_t offset = first_;
    for (std::size_t a = 0; a < index.size(); ++a) offset += index[a] * strides_[a];
    return memory_[static_cast<std::size_t>(offset)];
  }
  T* data() { return memory_.get() + first_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  T& raw(std::size_t i) { return memory_[i]; }
  [[nodiscard]] const extents& strides() const { return strides_; }

  /// The operand's layout; `axes` of them count for `linear`.
  [[nodiscard]] calque::operand_layout layout() const {
    calque::operand_layout o;
    o.type = calque::dtype_of<T>;
    o.linear = true;
    const extents expected = row_major(extents_);
    for (std::size_t a = 0; a < strides_.size(); ++a) {
      o.strides[a] = strides_[a];
      if (extents_[a] != 1 && strides_[a] != expected[a]) o.linear = false;
    }
    return o;
  }
  /// Same bytes everywhere, between elements too.
  bool same(const block& other) const {
    return size_ == other.size_ &&
           std::memcmp(memory_.get(), other.memory_.get(), size_ * sizeof(T)) == 0;
  }

 private:
  extents extents_, strides_;
  std::unique_ptr<T[]> memory_;
  std::size_t size_ = 0;
  std::int64_t first_ = 0;
};

/// Calls f(index) for every element of a domain in row-major order.
template <class F>
void for_each(const extents& e, const F& f) {
  extents index(e.size(), 0);
  for (std::int64_t i = 0, n = count(e); i < n; ++i) {
    std::int64_t rest = i;
    for (std::size_t a = e.size(); a-- > 0; rest /= e[a]) index[a] = rest % e[a];
    f(index);
  }
}

/// Strides of one of many kinds: axes in any order, gaps, reversed axes; with `broadcast` also 0.
inline extents any_strides(const extents& e, bool broadcast, std::mt19937& random) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (pick(3) == 0) return row_major(e);
  std::vector<std::size_t> order(e.size());
  for (std::size_t a = 0; a < e.size(); ++a) order[a] = a;
  if (pick(2) == 0) std::shuffle(order.begin(), order.end(), random);
  extents s(e.size());
  std::int64_t step = pick(4) == 0 ? 2 : 1;
  for (std::size_t k = e.size(); k-- > 0;) {
    const std::size_t a = order[k];
    s[a] = step;
    step *= std::max<std::int64_t>(e[a], 1);
    if (pick(5) == 0) step += 3;
    if (pick(5) == 0) s[a] = -s[a];
    if (broadcast && pick(4) == 0) s[a] = 0;
  }
  return s;
}

/// Scratch of exactly the bytes asked for; the guard behind them must stay as it was.
class scratch {
 public:
  explicit scratch(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)), memory_(bytes_ + 64, std::byte{0xcd}) {}
  void* data() { return memory_.data(); }
  [[nodiscard]] bool intact() const {
    return std::all_of(memory_.begin() + static_cast<std::ptrdiff_t>(bytes_), memory_.end(),
                       [](std::byte b) { return b == std::byte{0xcd}; });
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

}  // namespace blocks
