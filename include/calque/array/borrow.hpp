// `borrow`: foreign memory as an array, without a copy and without ownership.
//
// The way in for std::vector, mdspan, device_vector and the like. The memory must outlive every
// handle and view of it. Writes always go through; a pointer to const gives a read-only array.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "calque/array/access.hpp"

namespace calque {

/// Foreign memory with strides (counted in elements; they may be negative, and 0 for a pointer to
/// const). Throws `value_error` for null memory with elements and `shape_error` for strides that
/// leave the address space or let two elements share memory that could be written.
template <class T, int Rank>
  requires element<std::remove_const_t<T>>
[[nodiscard]] array<T, Rank> borrow(
    T* data, const shape<Rank>& extents,
    const std::type_identity_t<std::array<std::int64_t, Rank>>& strides, device where = cpu()) {
  const auto label = [&] { return detail::label(dtype_of<T>, extents.begin(), Rank); };
  std::array<std::int64_t, Rank> dense{};
  const std::int64_t n = detail::dense_layout(dtype_of<T>, extents.begin(), Rank, dense.data());
  if (n != 0 && data == nullptr)
    throw value_error("borrow: the pointer for " + label() +
                      " is null; pass memory for its elements");
  if (n != 0 && !std::is_const_v<T>)
    for (int i = 0; i < Rank; ++i)
      if (strides[static_cast<std::size_t>(i)] == 0 && extents[i] > 1)
        throw shape_error("borrow: stride 0 along axis " + std::to_string(i) + " of " + label() +
                          " makes elements share memory; borrow a pointer to const");
  detail::byte_range reach;
  if (!detail::find_reach(data, sizeof(T), extents.begin(), strides.data(), Rank, &reach))
    throw shape_error("borrow: the strides of " + label() +
                      " reach past the address space; check extents and strides");
  using access = detail::array_access;
  detail::storage_ref block;
  if (where != cpu()) block = detail::storage_ref::foreign(where, /*owned=*/false);
  if (data == nullptr) data = reinterpret_cast<T*>(detail::no_elements);
  return access::make<T, Rank>(std::move(block), data, extents.extents(), strides);
}

/// Foreign memory in row-major order.
///
///   auto a = cq::borrow(v.data(), cq::shape{2, 3});   // v is seen, not copied
template <class T, int Rank>
  requires element<std::remove_const_t<T>>
[[nodiscard]] array<T, Rank> borrow(T* data, const shape<Rank>& extents, device where = cpu()) {
  std::array<std::int64_t, Rank> strides{};
  detail::dense_layout(dtype_of<T>, extents.begin(), Rank, strides.data());
  return borrow(data, extents, strides, where);
}

}  // namespace calque
