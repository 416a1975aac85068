// `lane<T, W>`: W elements in a compiler vector, and how elements get in and out.
//
// Every function is always inlined and takes lanes by reference, the result first; so one generic
// body serves plain functions and functions with a target attribute (AVX2, AVX-512), at -O0 too.
// Lanes wider than the target's registers work, but for square roots and what core/lane_math.hpp
// holds: the compiler splits them. Separate from the arithmetic (core/lanes.hpp) to keep each
// short; users include that one.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "calque/core/config.hpp"

namespace calque {

namespace detail {

// Full specialisations: a vector_size that depends on a template parameter crashes nvcc 13.
template <class T, int W>
struct lane_type;

#define CALQUE_LANE(name, T, W)                                                             \
  template <>                                                                               \
  struct lane_type<name, W> {                                                               \
    typedef T type __attribute__((vector_size(W * sizeof(T))));                             \
    typedef T unaligned __attribute__((vector_size(W * sizeof(T)), aligned(1), may_alias)); \
  };
#define CALQUE_LANES(name, T) \
  CALQUE_LANE(name, T, 2)     \
  CALQUE_LANE(name, T, 4)     \
  CALQUE_LANE(name, T, 8)     \
  CALQUE_LANE(name, T, 16)    \
  CALQUE_LANE(name, T, 32)    \
  CALQUE_LANE(name, T, 64)
CALQUE_LANES(bool, std::int32_t)
CALQUE_LANES(std::int8_t, std::int8_t)
CALQUE_LANES(std::int16_t, std::int16_t)
CALQUE_LANES(std::int32_t, std::int32_t)
CALQUE_LANES(std::int64_t, std::int64_t)
CALQUE_LANES(std::uint8_t, std::uint8_t)
CALQUE_LANES(std::uint16_t, std::uint16_t)
CALQUE_LANES(std::uint32_t, std::uint32_t)
CALQUE_LANES(std::uint64_t, std::uint64_t)
CALQUE_LANES(float, float)
CALQUE_LANES(double, double)
#undef CALQUE_LANES
#undef CALQUE_LANE

template <int Bytes>
constexpr auto signed_of_bytes() {
  if constexpr (Bytes == 1) return std::int8_t{};
  else if constexpr (Bytes == 2) return std::int16_t{};
  else if constexpr (Bytes == 4) return std::int32_t{};
  else return std::int64_t{};
}

// Signed and unsigned integers of the size of `T`: masks and bit patterns of its lanes.
template <class T>
using signed_bits = decltype(signed_of_bytes<static_cast<int>(sizeof(T))>());
template <class T>
using unsigned_bits = std::make_unsigned_t<signed_bits<T>>;

}  // namespace detail

/// W elements of type T; W is 2, 4, 8, 16, 32 or 64. `lane<bool, W>` is a mask of int32: 0 or -1.
template <class T, int W>
using lane = typename detail::lane_type<T, W>::type;

/// Elements of a lane whose widest type just fills a vector of `bytes_of_vector`.
[[nodiscard]] constexpr int lane_width(int bytes_of_vector, int size_of_widest_element) {
  return bytes_of_vector / size_of_widest_element;
}

namespace lanes {

/// One element; for bool, whether the mask is set there.
template <class T, int W>
CALQUE_INLINE T at(const lane<T, W>& v, int k) {
  if constexpr (std::is_same_v<T, bool>) return v[k] != 0;
  else return v[k];
}

/// Replaces one element.
template <class T, int W>
CALQUE_INLINE void set(lane<T, W>& v, int k, T x) {
  if constexpr (std::is_same_v<T, bool>) v[k] = x ? -1 : 0;
  else v[k] = x;
}

namespace detail {

template <class R, int W, class F, int K, class... A>
CALQUE_INLINE void map_one(F& f, lane<R, W>& r, const lane<A, W>&... a) {
  lanes::set<R, W>(r, K, f(lanes::at<A, W>(a, K)...));
}

template <class R, int W, class F, class... A, int... K>
CALQUE_INLINE void map_all(std::integer_sequence<int, K...>, F& f, lane<R, W>& r,
                           const lane<A, W>&... a) {
  (map_one<R, W, F, K, A...>(f, r, a...), ...);
}

// The same vector at any address, and allowed to alias arrays.
template <class T, int W>
using unaligned_lane = typename calque::detail::lane_type<T, W>::unaligned;

// Copies n of at most W elements by powers of two; n == W copies all.
template <class T, int W>
CALQUE_INLINE void copy(T* to, const T* from, int n) {
  if (n >= W) {
    std::memcpy(to, from, W * sizeof(T));
    return;
  }
  if constexpr (W > 1) {
    constexpr int half = W / 2;
    if (n >= half) {
      std::memcpy(to, from, half * sizeof(T));
      copy<T, half>(to + half, from + half, n - half);
    } else {
      copy<T, half>(to, from, n);
    }
  }
}

}  // namespace detail

/// Every element becomes `x`. Written through memory: g++ turns a vector initialiser into W
/// insertions where the function around is not known to have such registers, this into a broadcast.
template <class T, int W>
CALQUE_INLINE void splat(lane<T, W>& r, T x) {
  using stored = std::conditional_t<std::is_same_v<T, bool>, std::int32_t, T>;
  stored value;
  if constexpr (std::is_same_v<T, bool>) value = x ? -1 : 0;
  else value = x;
  stored all[W];
  for (int k = 0; k < W; ++k) all[k] = value;
  std::memcpy(&r, all, sizeof(r));
}

/// r[k] = f(a[k]...): for functors that know scalars only. `map_each<R, W, A...>(f, r, a...)`.
template <class R, int W, class... A, class F>
CALQUE_INLINE void map_each(F&& f, lane<R, W>& r, const lane<A, W>&... a) {
  lane<R, W> out{};
  detail::map_all<R, W, std::remove_reference_t<F>, A...>(std::make_integer_sequence<int, W>{}, f,
                                                          out, a...);
  r = out;
}

/// W elements from any address; bool: bytes, 0 is false.
template <class T, int W>
CALQUE_INLINE void load(lane<T, W>& r, const T* p) {
  if constexpr (std::is_same_v<T, bool>) {
    const lane<std::int8_t, W> bytes =
        *reinterpret_cast<const detail::unaligned_lane<std::int8_t, W>*>(p);
    const lane<std::int8_t, W> set = (lane<std::int8_t, W>)(bytes != lane<std::int8_t, W>{});
    r = __builtin_convertvector(set, lane<bool, W>);
  } else {
    r = *reinterpret_cast<const detail::unaligned_lane<T, W>*>(p);
  }
}

/// The first n elements (0 <= n <= W) from memory, the others `fill`; reads nothing beyond them.
template <class T, int W>
CALQUE_INLINE void load_partial(lane<T, W>& r, const T* p, int n, T fill) {
  T buffer[W];
  for (int k = 0; k < W; ++k) buffer[k] = fill;
  detail::copy<T, W>(buffer, p, n);
  load<T, W>(r, buffer);
}

/// W elements to any address; bool: bytes 0 or 1.
template <class T, int W>
CALQUE_INLINE void store(T* p, const lane<T, W>& v) {
  if constexpr (std::is_same_v<T, bool>) {
    lane<std::int8_t, W> one;
    lanes::splat<std::int8_t, W>(one, 1);
    const lane<std::int8_t, W> bytes = __builtin_convertvector(v, lane<std::int8_t, W>) & one;
    *reinterpret_cast<detail::unaligned_lane<std::int8_t, W>*>(p) = bytes;
  } else {
    *reinterpret_cast<detail::unaligned_lane<T, W>*>(p) = v;
  }
}

/// The first n elements (0 <= n <= W); writes nothing beyond them.
template <class T, int W>
CALQUE_INLINE void store_partial(T* p, const lane<T, W>& v, int n) {
  T buffer[W];
  store<T, W>(buffer, v);
  detail::copy<T, W>(p, buffer, n);
}

}  // namespace lanes
}  // namespace calque
