// Writes 0, 1, 2, … along one axis: the kernel behind `iota`.
#pragma once

#include <cstdint>

#include "calque/backend/backend.hpp"

namespace calque::detail {

/// Axis `g.kept` counts from `g.start`; the other axes repeat it.
template <class T>
CALQUE_HIDDEN void count_along(const geometry& g, T* to, int axis, std::int64_t value) {
  if (axis == g.rank) {
    *to = static_cast<T>(value);
    return;
  }
  const std::int64_t step = g.operands[0].strides[axis];
  for (std::int64_t i = 0; i < g.extents[axis]; ++i)
    count_along(g, to + i * step, axis + 1, axis == g.kept ? g.start + i : value);
}

template <class T>
CALQUE_HIDDEN void iota_as(const geometry& g, void* to) {
  T* const out = static_cast<T*>(to);
  if (g.rank == 1) {
    const std::int64_t step = g.operands[0].strides[0];
    for (std::int64_t i = 0; i < g.extents[0]; ++i) out[i * step] = static_cast<T>(g.start + i);
  } else {
    count_along(g, out, 0, g.start);
  }
}

CALQUE_HIDDEN inline void run_iota(const geometry& g, void* const* data, void*) {
  switch (g.operands[0].type) {
    case dtype::boolean: iota_as<bool>(g, data[0]); break;
    case dtype::int8: iota_as<std::int8_t>(g, data[0]); break;
    case dtype::int16: iota_as<std::int16_t>(g, data[0]); break;
    case dtype::int32: iota_as<std::int32_t>(g, data[0]); break;
    case dtype::int64: iota_as<std::int64_t>(g, data[0]); break;
    case dtype::uint8: iota_as<std::uint8_t>(g, data[0]); break;
    case dtype::uint16: iota_as<std::uint16_t>(g, data[0]); break;
    case dtype::uint32: iota_as<std::uint32_t>(g, data[0]); break;
    case dtype::uint64: iota_as<std::uint64_t>(g, data[0]); break;
    case dtype::float32: iota_as<float>(g, data[0]); break;
    case dtype::float64: iota_as<double>(g, data[0]); break;
    default: break;
  }
}

/// The host's iota kernel: no input, one output.
CALQUE_HIDDEN inline constexpr kernel_entry iota_kernel{&run_iota, nullptr};

}  // namespace calque::detail
