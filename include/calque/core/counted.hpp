// Memory that is not there: an array 0, 1, 2, … of any type, whose elements are computed from their
// addresses.
//
// Programs read counted indices through it (`count_index` in lower/program.hpp), so plans treat an
// index as an array like others: with an offset and strides, sliced, flipped, broadcast. Its
// addresses lie where no system puts memory. Kernels that want real elements fill tiles of them
// (backend/cpu).
#pragma once

#include <cstdint>

#include "calque/core/lane.hpp"

namespace calque::detail {

/// Where the element 0 lies, of every type.
inline constexpr std::uintptr_t counted_origin = std::uintptr_t{1} << 62;

[[nodiscard]] CALQUE_INLINE void* counted_memory() {
  return reinterpret_cast<void*>(counted_origin);
}
/// Whether an address is of this kind; in bounds or some vectors beyond.
[[nodiscard]] CALQUE_HD inline bool is_counted(const void* p) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) - counted_origin) >= 0;
}
/// The number that an address of elements of `bytes` bytes stands for.
[[nodiscard]] CALQUE_HD inline std::int64_t counted_at(const void* p, int bytes) {
  return static_cast<std::int64_t>((reinterpret_cast<std::uintptr_t>(p) - counted_origin) /
                                   static_cast<unsigned>(bytes));
}

template <class T, int W>
struct first_numbers {
  T at[W];
};
template <class T, int W>
inline constexpr first_numbers<T, W> first_numbers_of = [] {
  first_numbers<T, W> n{};
  for (int k = 0; k < W; ++k) n.at[k] = static_cast<T>(k);
  return n;
}();

}  // namespace calque::detail

namespace calque::lanes {

/// first, first + 1, …, each rounded to T.
template <class T, int W>
CALQUE_INLINE void count(lane<T, W>& r, std::int64_t first) {
  using calque::detail::first_numbers_of;
  // floats round what they cannot hold, so integers are counted; beyond 32 bits one by one
  constexpr bool rounds = std::is_same_v<T, float>;
  constexpr std::int64_t most = std::int64_t{1} << 30;
  using I = std::conditional_t<rounds, std::int32_t, T>;
  if constexpr (!std::is_same_v<T, bool>) {
    if (!rounds || first < most) {
      lane<I, W> base, n;
      splat<I, W>(base, static_cast<I>(first));
      load<I, W>(n, first_numbers_of<I, W>.at);
      if constexpr (std::is_floating_point_v<I>) {
        r = base + n;
      } else {
        using bits = lane<calque::detail::unsigned_bits<I>, W>;
        n = (lane<I, W>)((bits)base + (bits)n);
        if constexpr (rounds) r = __builtin_convertvector(n, lane<T, W>);
        else r = n;
      }
      return;
    }
  }
  if constexpr (rounds || std::is_same_v<T, bool>) {
    T values[W];
    for (int k = 0; k < W; ++k) values[k] = static_cast<T>(first + k);
    load<T, W>(r, values);
  }
}

}  // namespace calque::lanes
