// Kernels that follow indices: their check, take, scatter_add; and adding windows up.
//
// The check is a step of its own, so that it can come before anything is written; the other two
// take indices as they are.
#pragma once

#include <cstring>
#include <string>

#include "calque/backend/cpu/copy.hpp"
#include "calque/core/error.hpp"

namespace calque::detail {

[[noreturn]] inline void throw_index(const std::string& operation, std::int64_t index,
                                     std::int64_t extent, int axis) {
  throw index_error(operation + ": index " + std::to_string(index) + " is outside axis " +
                    std::to_string(axis) + " of extent " + std::to_string(extent) +
                    (extent > 0 ? "; give indices from 0 to " + std::to_string(extent - 1)
                                : "; an empty axis has no elements to take"));
}

template <class I>
CALQUE_HIDDEN void check_axes(const geometry& g, const I* at, int axis) {
  if (axis == g.rank) {
    if (*at < 0 || *at >= g.kept_size)
      throw_index(g.text, static_cast<std::int64_t>(*at), g.kept_size, static_cast<int>(g.start));
    return;
  }
  const std::int64_t step = g.operands[0].strides[axis], n = g.extents[axis];
  if (axis == g.rank - 1) {
    bool outside = false;
    for (std::int64_t i = 0; i < n; ++i) outside |= at[i * step] < 0 || at[i * step] >= g.kept_size;
    if (!outside) return;
  }
  for (std::int64_t i = 0; i < n; ++i) check_axes(g, at + i * step, axis + 1);
}

/// Elements of x (operand 0) at indices (1) to the output (2), over the output's axes.
template <class T, class I>
CALQUE_HIDDEN void take_axes(const geometry& g, const T* x, const I* at, T* to, int axis) {
  if (axis == g.rank) {
    *to = x[static_cast<std::int64_t>(*at) * g.start];
    return;
  }
  const std::int64_t n = g.extents[axis], p = g.operands[0].strides[axis],
                     q = g.operands[1].strides[axis], r = g.operands[2].strides[axis];
  if (axis < g.rank - 1) {
    for (std::int64_t i = 0; i < n; ++i) take_axes(g, x + i * p, at + i * q, to + i * r, axis + 1);
  } else if (q == 0) {
    const T* const from = x + static_cast<std::int64_t>(*at) * g.start;
    if (p == 1 && r == 1) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    else
      for (std::int64_t i = 0; i < n; ++i) to[i * r] = from[i * p];
  } else {
    for (std::int64_t i = 0; i < n; ++i)
      to[i * r] = x[i * p + static_cast<std::int64_t>(at[i * q]) * g.start];
  }
}

/// `sum` plus `v`; integers wrap.
template <class T>
constexpr void add_element(T& sum, T v) {
  if constexpr (std::is_integral_v<T>)
    sum = static_cast<T>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(v));
  else sum += v;
}

/// Adds operand 0 to operand 1, whose elements may be the same for several of operand 0's.
template <class T>
CALQUE_HIDDEN void add_axes(const geometry& g, const T* from, T* to, int axis) {
  if (axis == g.rank) return add_element(*to, *from);
  const std::int64_t n = g.extents[axis], p = g.operands[0].strides[axis],
                     q = g.operands[1].strides[axis];
  if (axis < g.rank - 1)
    for (std::int64_t i = 0; i < n; ++i) add_axes(g, from + i * p, to + i * q, axis + 1);
  else
    for (std::int64_t i = 0; i < n; ++i) add_element(to[i * q], from[i * p]);
}
template <class T>
CALQUE_HIDDEN void launch_add_to(const geometry& g, void* const* data, void*) {
  add_axes(g, static_cast<const T*>(data[0]), static_cast<T*>(data[1]), 0);
}

/// Adds updates (operand 1) at indices (0) to the output (2), over the updates' axes, in order.
template <class T, class I>
CALQUE_HIDDEN void scatter_axes(const geometry& g, const I* at, const T* from, T* to, int axis) {
  if (axis == g.rank) return add_element(to[static_cast<std::int64_t>(*at) * g.start], *from);
  const std::int64_t n = g.extents[axis], p = g.operands[0].strides[axis],
                     q = g.operands[1].strides[axis], r = g.operands[2].strides[axis];
  if (axis == g.rank - 1 && p == 0) {
    T* const row = to + static_cast<std::int64_t>(*at) * g.start;
    for (std::int64_t i = 0; i < n; ++i) add_element(row[i * r], from[i * q]);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i)
    scatter_axes(g, at + i * p, from + i * q, to + i * r, axis + 1);
}

/// Calls `f` with the indices, whose type is one of two.
template <class F>
CALQUE_HIDDEN void with_indices(dtype t, const void* at, F f) {
  if (t == dtype::int32) f(static_cast<const std::int32_t*>(at));
  else f(static_cast<const std::int64_t*>(at));
}

CALQUE_HIDDEN inline void run_check(const geometry& g, void* const* data, void*) {
  with_indices(g.operands[0].type, data[0], [&](const auto* at) { check_axes(g, at, 0); });
}
template <class T>
CALQUE_HIDDEN void take_as(const geometry& g, void* const* data) {
  with_indices(g.operands[1].type, data[1], [&](const auto* at) {
    take_axes(g, static_cast<const T*>(data[0]), at, static_cast<T*>(data[2]), 0);
  });
}
CALQUE_HIDDEN inline void run_take(const geometry& g, void* const* data, void*) {
  if (g.threads > 1) return share_axis(&run_take, g, data, nullptr, 0, {0, g.rank});
  switch (size_of(g.operands[0].type)) {
    case 1: take_as<opaque<1>>(g, data); break;
    case 2: take_as<opaque<2>>(g, data); break;
    case 4: take_as<opaque<4>>(g, data); break;
    default: take_as<opaque<8>>(g, data);
  }
}
template <class T>
CALQUE_HIDDEN void launch_scatter_add(const geometry& g, void* const* data, void*) {
  with_indices(g.operands[0].type, data[0], [&](const auto* at) {
    scatter_axes(g, at, static_cast<const T*>(data[1]), static_cast<T*>(data[2]), 0);
  });
}

/// The host's kernels for elements of any type: throws `index_error`; takes.
CALQUE_HIDDEN inline constexpr kernel_entry check_kernel{&run_check, nullptr};
CALQUE_HIDDEN inline constexpr kernel_entry take_kernel{&run_take, nullptr};

}  // namespace calque::detail
