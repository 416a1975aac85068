// Stride algebra: row-major strides, views (transpose, reshape, broadcast) as strides, reached
// bytes.
//
// Strides count elements. Axes of extent 1 have no say; without elements every layout is row-major.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <numeric>

#include "calque/core/config.hpp"

namespace calque::detail::planning {

/// The product of the extents; without elements the others may be of any size.
[[nodiscard]] constexpr std::int64_t element_count(int rank, const std::int64_t* extents) {
  std::uint64_t n = 1;  // what stands before a 0 may wrap
  for (int i = 0; i < rank; ++i) n *= static_cast<std::uint64_t>(extents[i]);
  return static_cast<std::int64_t>(n);
}

constexpr void row_major(int rank, const std::int64_t* extents, std::int64_t* strides) {
  std::uint64_t n = 1;
  for (int i = rank - 1; i >= 0; --i) {
    strides[i] = static_cast<std::int64_t>(n);
    n *= static_cast<std::uint64_t>(extents[i]);
  }
}

/// `strides` may be null, which means row-major.
[[nodiscard]] constexpr bool is_row_major(int rank, const std::int64_t* extents,
                                          const std::int64_t* strides) {
  if (strides == nullptr) return true;
  std::uint64_t expected = 1;
  bool same = true;
  for (int i = rank - 1; i >= 0; --i) {
    if (extents[i] == 0) return true;
    if (extents[i] == 1) continue;
    same &= static_cast<std::uint64_t>(strides[i]) == expected;
    expected *= static_cast<std::uint64_t>(extents[i]);
  }
  return same;
}

/// Whether two layouts of the same extents put every element at the same place.
[[nodiscard]] constexpr bool same_strides(int rank, const std::int64_t* extents,
                                          const std::int64_t* a, const std::int64_t* b) {
  for (int i = 0; i < rank; ++i)
    if (extents[i] > 1 && a[i] != b[i]) return false;
  return true;
}

/// Strides that read a value of rank `rank` over the axes of a larger or equal extents list,
/// aligned at the last axis; 0 where the value is stretched.
constexpr void broadcast_strides(int rank, const std::int64_t* extents, const std::int64_t* strides,
                                 int to_rank, const std::int64_t* to_extents, std::int64_t* out) {
  for (int i = 0; i < to_rank; ++i) {
    const int k = i - (to_rank - rank);
    out[i] = k < 0 || (extents[k] == 1 && to_extents[i] != 1) ? 0 : strides[k];
  }
}

/// Strides of the same elements under other extents, if strides can express them: the axes of both
/// sides fall into groups of equal size, and each group of the source must be one run of elements.
[[nodiscard]] constexpr bool reshape_strides(int rank, const std::int64_t* extents,
                                             const std::int64_t* strides, int to_rank,
                                             const std::int64_t* to_extents, std::int64_t* out) {
  if (element_count(rank, extents) == 0 || is_row_major(rank, extents, strides)) {
    row_major(to_rank, to_extents, out);
    return true;
  }
  int i = rank - 1, k = to_rank - 1;
  while (i >= 0 || k >= 0) {
    while (i >= 0 && extents[i] == 1) --i;
    if (i < 0) {
      for (; k >= 0; --k) out[k] = 0;  // only ones are left
      break;
    }
    std::int64_t step = strides[i], have = extents[i], want = 1;
    for (--i;;) {
      while (k >= 0 && want < have) {
        out[k] = step * want;
        want *= to_extents[k--];
      }
      if (want == have) break;
      while (i >= 0 && extents[i] == 1) --i;
      if (i < 0 || strides[i] != step * have) return false;  // the group has a gap
      have *= extents[i--];
    }
  }
  return true;
}

/// A strided block in memory; null strides are row-major.
struct strided_block {
  const void* data;
  int element_bytes, rank;
  const std::int64_t *extents, *strides;
};

/// Bytes [low, high) that a strided block reaches; both 0 without elements.
struct reach {
  std::uintptr_t low = 0, high = 0;
  [[nodiscard]] constexpr bool meets(const reach& o) const { return low < o.high && o.low < high; }
};

[[nodiscard]] inline reach reach_of(const strided_block& b) {
  const auto base = reinterpret_cast<std::uintptr_t>(b.data);
  if (b.strides == nullptr) {
    const std::int64_t n = element_count(b.rank, b.extents) * b.element_bytes;
    return n == 0 ? reach{} : reach{base, base + static_cast<std::uintptr_t>(n)};
  }
  std::int64_t low = 0, high = 0;
  for (int i = 0; i < b.rank; ++i) {
    if (b.extents[i] == 0) return {};
    const std::int64_t step = (b.extents[i] - 1) * b.strides[i];
    (step < 0 ? low : high) += step;
  }
  return {base + static_cast<std::uintptr_t>(low * b.element_bytes),
          base + static_cast<std::uintptr_t>((high + 1) * b.element_bytes)};
}

/// A block's axes as steps in bytes, to tell blocks apart whose reaches meet but that take turns in
/// memory: even and odd elements, two groups of columns.
class lattice {
 public:
  explicit lattice(const strided_block& b) : element_bytes_(b.element_bytes) {
    std::int64_t dense[max_rank];
    if (b.strides == nullptr) row_major(b.rank, b.extents, dense);
    for (int i = 0; i < b.rank; ++i) {
      const std::int64_t step = (b.strides != nullptr ? b.strides : dense)[i] * b.element_bytes;
      if (b.extents[i] > 1 && step != 0)
        axes_[count_++] = {step < 0 ? -step : step, b.extents[i] - 1};
    }
  }
  /// Whether some period keeps two blocks apart, the second `offset` bytes above the first.
  [[nodiscard]] bool apart(const lattice& o, std::uintptr_t offset) const {
    std::int64_t common = 0;
    for (const lattice* l : {this, &o})
      for (int i = 0; i < l->count_; ++i) {
        if (apart(o, offset, l->axes_[i].step)) return true;
        common = std::gcd(common, l->axes_[i].step);
      }
    return common != 0 && apart(o, offset, common);
  }

 private:
  /// Modulo the period, each block is an interval that begins at its lowest byte.
  [[nodiscard]] bool apart(const lattice& o, std::uintptr_t offset, std::int64_t period) const {
    const auto gap = static_cast<std::int64_t>(offset % static_cast<std::uintptr_t>(period));
    return width(period) <= gap && o.width(period) <= period - gap;
  }
  [[nodiscard]] std::int64_t width(std::int64_t period) const {
    std::int64_t bytes = element_bytes_;
    for (int i = 0; i < count_; ++i)
      if (axes_[i].step % period != 0) bytes += axes_[i].step * axes_[i].times;
    return bytes;
  }

  struct axis {
    std::int64_t step, times;
  };
  int element_bytes_, count_ = 0;
  axis axes_[max_rank];
};

/// Whether two blocks may share a byte. Exact for what slices of one array give; other layouts may
/// be taken to meet when they do not.
[[nodiscard]] inline bool may_meet(const strided_block& a, const reach& ra, const strided_block& b,
                                   const reach& rb) {
  if (!ra.meets(rb)) [[likely]]
    return false;
  if (ra.low > rb.low) return !lattice(b).apart(lattice(a), ra.low - rb.low);
  return !lattice(a).apart(lattice(b), rb.low - ra.low);
}

}  // namespace calque::detail::planning
