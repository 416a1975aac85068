// `borrow`: foreign memory as an array, without a copy and without ownership.
//
// The way in for std::vector, mdspan, device_vector and the like. The memory must outlive every
// handle and view of it. Writes always go through; a pointer to const gives a read-only array.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "calque/array/access.hpp"

namespace calque {

namespace detail {

/// The first axis, from the smallest stride up, that does not step over all that the axes before it
/// reach; -1 where the axes nest, so that no two elements lie at one place. Strides that passed
/// `find_reach`.
template <int Rank>
[[nodiscard]] int meeting_axis(const shape<Rank>& extents,
                               const std::array<std::int64_t, Rank>& strides) {
  std::array<int, Rank> axes{};
  std::iota(axes.begin(), axes.end(), 0);
  const auto step = [&](int axis) {
    const std::int64_t s = strides[static_cast<std::size_t>(axis)];
    return s < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(s) : static_cast<std::uint64_t>(s);
  };
  std::sort(axes.begin(), axes.end(),
            [&](int a, int b) { return step(a) != step(b) ? step(a) < step(b) : a > b; });
  std::uint64_t reached = 0;
  for (int axis : axes) {
    if (extents[axis] <= 1) continue;
    if (step(axis) <= reached) return axis;
    reached += static_cast<std::uint64_t>(extents[axis] - 1) * step(axis);
  }
  return -1;
}

}  // namespace detail

/// Foreign memory with strides (counted in elements; they may be negative, and 0 for a pointer to
/// const). Throws `value_error` for null memory with elements and `shape_error` for strides that
/// leave the address space. Memory that could be written needs strides that nest: each axis steps
/// over all that the axes with smaller strides reach, so no two elements share memory; else
/// `shape_error`.
template <class T, int Rank>
  requires element<std::remove_const_t<T>>
[[nodiscard]] array<T, Rank> borrow(
    T* data, const shape<Rank>& extents,
    const std::type_identity_t<std::array<std::int64_t, Rank>>& strides, const device& where = {}) {
  const auto label = [&] { return detail::label(dtype_of<T>, extents.begin(), Rank); };
  std::array<std::int64_t, Rank> dense{};
  const std::int64_t n =
      detail::dense_layout(dtype_of<T>, extents.begin(), Rank, dense.data(), "borrow");
  if (n != 0 && data == nullptr)
    throw value_error("borrow: the pointer for " + label() +
                      " is null; pass memory for its elements");
  detail::byte_range reach;
  if (!detail::find_reach(data, sizeof(T), extents.begin(), strides.data(), Rank, &reach))
    throw shape_error("borrow: the strides of " + label() +
                      " reach past the address space; check extents and strides");
  if (n != 0 && !std::is_const_v<T>)
    if (const int axis = detail::meeting_axis<Rank>(extents, strides); axis >= 0)
      throw shape_error("borrow: stride " +
                        std::to_string(strides[static_cast<std::size_t>(axis)]) + " along axis " +
                        std::to_string(axis) + " of " + label() +
                        " lets elements share memory that could be written; give strides that step "
                        "over the other axes, or borrow a pointer to const");
  using access = detail::array_access;
  detail::storage_ref block;
  if (!where.is_host()) block = detail::storage_ref::foreign(where.entry(), /*owned=*/false);
  if (data == nullptr) data = reinterpret_cast<T*>(detail::no_elements);
  return access::make<T, Rank>(std::move(block), data, extents.extents(), strides);
}

/// Foreign memory in row-major order, on the host or on the device `where` (a `device` or a
/// `device_name`).
///
///   auto a = cq::borrow(v.data(), cq::shape{2, 3});   // v is seen, not copied
template <class T, int Rank, class Device>
  requires element<std::remove_const_t<T>> &&
           (std::same_as<Device, device> || std::same_as<Device, device_name>)
[[nodiscard]] array<T, Rank> borrow(T* data, const shape<Rank>& extents, const Device& where) {
  std::array<std::int64_t, Rank> strides{};
  detail::dense_layout(dtype_of<T>, extents.begin(), Rank, strides.data(), "borrow");
  return borrow(data, extents, strides, where);
}
template <class T, int Rank>
  requires element<std::remove_const_t<T>>
[[nodiscard]] array<T, Rank> borrow(T* data, const shape<Rank>& extents) {
  return borrow(data, extents, device{});
}

}  // namespace calque
