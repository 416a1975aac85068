// `slice`, `transpose`, `reshape`, `broadcast_to` on arrays: read-only views that share storage.
//
// A view keeps the storage alive, so it may outlive the array it came from; it copies nothing
// (`reshape` copies once where no strides give the new shape). Symbols have their own overloads of
// the same names; these take arrays only.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "calque/array/access.hpp"
#include "calque/core/range.hpp"

namespace calque {

namespace detail {

/// Strides that give the same elements in the same order another shape, if there are any: the axes
/// of both shapes are matched in groups of equal size, and each old group must be one even walk.
[[nodiscard]] inline bool reshape_strides(const std::int64_t* from,
                                          const std::int64_t* from_strides, int from_rank,
                                          const std::int64_t* to, int to_rank,
                                          std::int64_t* to_strides) {
  int i = 0, j = 0;
  while (i < from_rank || j < to_rank) {
    if (i < from_rank && from[i] == 1) {
      ++i;
      continue;
    }
    if (j < to_rank && to[j] == 1) {
      to_strides[j++] = 0;
      continue;
    }
    int i_end = i + 1, j_end = j + 1;
    std::int64_t p = from[i], q = to[j];
    while (p != q) {
      if (p < q) p *= from[i_end++];
      else q *= to[j_end++];
    }
    std::int64_t step = 0;  // of the innermost axis of the group that has more than one element
    for (int k = i_end - 1, inner = -1; k >= i; --k) {
      if (from[k] == 1) continue;
      std::int64_t next = 0;  // of borrowed memory it need not fit
      if (inner < 0) step = from_strides[k];
      else if (__builtin_mul_overflow(from_strides[inner], from[inner], &next) ||
               from_strides[k] != next)
        return false;
      inner = k;
    }
    for (int k = j_end - 1; k >= j; --k) {
      to_strides[k] = step;
      if (k > j) step *= to[k];
    }
    i = i_end;
    j = j_end;
  }
  return true;
}

/// A rank-0 array may hold its value inside the handle; views need it in storage.
template <class T>
[[nodiscard]] array<const T, 1> stored(const array<const T, 0>& a) {
  if (const storage_ref& block = array_access::block(a); block || array_access::borrowed(a))
    return array_access::make<const T, 1>(block, array_access::data(a), {1}, {1});
  auto copy = array<T, 1>::uninitialised(shape<1>(1));
  *prepare_write(copy, contents::discard) = *array_access::data(a);
  return copy;
}

template <int Rank>
constexpr bool is_permutation(const std::array<int, Rank>& axes) {
  std::array<bool, Rank> seen{};
  for (int axis : axes) {
    if (axis < 0 || axis >= Rank || seen[static_cast<std::size_t>(axis)]) return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return true;
}

template <class T, int Rank>
[[nodiscard]] array<const T, Rank> permute(const array<const T, Rank>& a,
                                           const std::array<int, Rank>& axes) {
  std::array<std::int64_t, Rank> extents{}, strides{};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    extents[i] = array_access::extents(a)[axes[i]];
    strides[i] = array_access::strides(a)[axes[i]];
  }
  return array_access::view<Rank>(a, array_access::data(a), extents, strides);
}

}  // namespace detail

/// The elements that one range for each axis keeps; missing trailing ranges keep everything.
///
///   auto odd_rows = cq::slice(a, cq::range{1, cq::range::open, 2});
template <class T, int Rank, std::same_as<range>... R>
  requires(sizeof...(R) <= Rank && Rank > 0)
[[nodiscard]] array<const std::remove_const_t<T>, Rank> slice(const array<T, Rank>& a,
                                                              const R&... ranges) {
  using value = std::remove_const_t<T>;
  const array<const value, Rank> base = a;
  const std::array<range, Rank> all{ranges...};
  std::array<std::int64_t, Rank> extents{}, strides{};
  std::array<std::int64_t, Rank> first{};
  bool empty = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto r = detail::resolve(all[i], base.shape()[static_cast<int>(i)]);
    first[i] = r.first;
    extents[i] = r.count;
    // a single element has no next one, and a huge step times a stride need not fit
    strides[i] = r.count > 1 ? base.strides()[i] * r.step : base.strides()[i];
    empty = empty || r.count == 0;
  }
  const value* data = detail::array_access::data(base);
  if (!empty)
    for (std::size_t i = 0; i < first.size(); ++i) data += first[i] * base.strides()[i];
  return detail::array_access::view<Rank>(base, data, extents, strides);
}

/// The axes in reverse order.
template <class T, int Rank>
[[nodiscard]] array<const std::remove_const_t<T>, Rank> transpose(const array<T, Rank>& a) {
  if constexpr (Rank < 2) {
    return a;
  } else {
    std::array<int, Rank> axes{};
    for (int i = 0; i < Rank; ++i) axes[static_cast<std::size_t>(i)] = Rank - 1 - i;
    return detail::permute<std::remove_const_t<T>, Rank>(a, axes);
  }
}

/// The axes in the order given: axis i of the result is axis `Axes[i]` of `a`; negative ones count
/// from the end.
template <int... Axes, class T, int Rank>
  requires(sizeof...(Axes) > 0)
[[nodiscard]] array<const std::remove_const_t<T>, Rank> transpose(const array<T, Rank>& a) {
  static_assert(sizeof...(Axes) == Rank,
                "calque::transpose<Axes...>(a): give one axis for each axis of 'a'");
  constexpr std::array<int, sizeof...(Axes)> axes{(Axes < 0 ? Axes + Rank : Axes)...};
  static_assert(detail::is_permutation<sizeof...(Axes)>(axes),
                "calque::transpose<Axes...>(a): each axis of 'a' must appear exactly once");
  return detail::permute<std::remove_const_t<T>, Rank>(a, axes);
}

/// The same elements in row-major order with other extents. Shares storage where strides allow,
/// else copies once. Throws `shape_error` when the numbers of elements differ.
template <class T, int Rank, int NewRank>
[[nodiscard]] array<const std::remove_const_t<T>, NewRank> reshape(const array<T, Rank>& a,
                                                                   const shape<NewRank>& extents) {
  using value = std::remove_const_t<T>;
  using access = detail::array_access;
  if constexpr (Rank == 0) {
    return reshape(detail::stored<value>(a), extents);
  } else {
    if (a.size() != extents.size())
      throw shape_error("reshape: " + detail::label(a) + " has " + std::to_string(a.size()) +
                        " elements but " + to_string(extents) + " has " +
                        std::to_string(extents.size()) + "; their numbers must be equal");
    if (a.size() == 0) return array<value, NewRank>::uninitialised(extents);
    const array<const value, Rank> base = a;
    std::array<std::int64_t, NewRank> strides{};
    if (detail::reshape_strides(access::extents(base), access::strides(base), Rank, extents.begin(),
                                NewRank, strides.data()))
      return access::view<NewRank>(base, access::data(base), extents.extents(), strides);
    return reshape(base.clone(), extents);
  }
}
template <class T, int Rank, std::size_t NewRank>
[[nodiscard]] auto reshape(const array<T, Rank>& a,
                           const detail::listed_extent (&extents)[NewRank]) {
  return reshape(a, detail::listed_shape(extents));
}

/// The array repeated to larger extents by stride 0, under NumPy's rule: trailing axes are matched,
/// and extent 1 becomes any extent (also 0). Throws `shape_error` on a mismatch.
template <class T, int Rank, int NewRank>
[[nodiscard]] array<const std::remove_const_t<T>, NewRank> broadcast_to(
    const array<T, Rank>& a, const shape<NewRank>& extents) {
  static_assert(NewRank >= Rank,
                "calque::broadcast_to(a, shape): 'shape' must have at least the axes of 'a'");
  using value = std::remove_const_t<T>;
  using access = detail::array_access;
  if constexpr (Rank == 0) {
    if constexpr (NewRank == 0) return a;
    else return broadcast_to(detail::stored<value>(a), extents);
  } else {
    const array<const value, Rank> base = a;
    std::array<std::int64_t, NewRank> strides{};
    detail::dense_layout(dtype_of<value>, extents.begin(), NewRank, strides.data(), "broadcast_to");
    strides.fill(0);
    for (int i = 0; i < Rank; ++i) {
      const int j = i + NewRank - Rank;
      const std::int64_t from = access::extents(base)[i];
      if (from != 1 && from != extents[j])
        throw shape_error("broadcast_to: " + detail::label(base) + " does not broadcast to " +
                          to_string(extents) + " (axis " + std::to_string(j) + ": " +
                          std::to_string(from) + " against " + std::to_string(extents[j]) +
                          "); only extent 1 can be repeated");
      if (from != 1) strides[static_cast<std::size_t>(j)] = access::strides(base)[i];
    }
    return access::view<NewRank>(base, access::data(base), extents.extents(), strides);
  }
}
template <class T, int Rank, std::size_t NewRank>
[[nodiscard]] auto broadcast_to(const array<T, Rank>& a,
                                const detail::listed_extent (&extents)[NewRank]) {
  return broadcast_to(a, detail::listed_shape(extents));
}

}  // namespace calque
