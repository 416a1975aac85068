// The elementwise body of a kernel that was written for one array: what it reads is computed a run
// at a time, into a tile that stays in the first cache.
//
// Running accumulations and reductions that keep an order find their input by addresses. With a
// body these are of counted memory (core/counted.hpp): they stand for the numbers of the value's
// elements, in the order of the geometry's axes. Called by accumulate.hpp, ordered_reduce.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calque/backend/cpu/map.hpp"

namespace calque::detail {

class CALQUE_HIDDEN body_input {
 public:
  /// The strides of the value over the geometry's axes.
  std::int64_t strides[max_rank]{};

  /// `tiles` has room for `room(g)` bytes; `type` is the value's.
  body_input(const tile_program& p, const geometry& g, dtype type, void* const* data,
             std::byte* tiles)
      : p_(p), g_(g), data_(data), tiles_(tiles), bytes_(size_of(type)) {
    std::int64_t step = 1;
    for (int a = g.rank - 1; a >= 0; --a) strides[a] = step, step *= g.extents[a];
    for (int k = 0; k < g.inputs; ++k) {
      operands_[k] = g.operands[k];
      operands_[k].linear = is_contiguous(g, g.operands[k], 0, g.rank);
    }
    operands_[g.inputs].type = type;
    operands_[g.inputs].linear = true;
  }
  /// The first element of the value.
  [[nodiscard]] static void* origin() { return counted_memory(); }
  /// Bytes of tiles.
  [[nodiscard]] static std::int64_t room(const geometry& g) {
    std::int64_t bytes = 0;
    for (int k = 0; k < g.inputs; ++k) bytes += line_bytes(tile_size * size_of(g.operands[k].type));
    return bytes;
  }
  /// n elements along the last axis, or as they lie, into `to`. Bases are those of this geometry.
  void along(const void* from, std::int64_t n, void* to, std::byte* tiles = nullptr) const {
    const std::int64_t first = number_of(from);
    void* base[max_operands + 2];
    for (int k = 0; k < g_.inputs; ++k) base[k] = data_[k];
    base[g_.inputs] = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(to) -
                                              static_cast<std::uintptr_t>(first * bytes_));
    run_tiles(p_, {g_.extents, g_.rank, g_.inputs, 1, operands_}, base, first, n,
              tiles != nullptr ? tiles : tiles_);
  }
  /// n <= `tile_size` neighbours along `axis`, which is none of an element's last ones.
  void across(const void* from, int axis, std::int64_t n, void* to) const {
    const std::int64_t first = number_of(from);
    void* data[max_operands + 2];
    std::byte* room = tiles_;
    for (int k = 0; k < g_.inputs; ++k) {
      const operand_layout& o = g_.operands[k];
      if (p_.operands[k].uniform) {
        data[k] = data_[k];
        continue;
      }
      const std::int64_t offset = offset_of(g_.extents, o.strides, g_.rank, first);
      data[k] = static_cast<std::byte*>(data_[k]) + offset * size_of(o.type);
      if (o.strides[axis] == 1 || n == 1) continue;
      gather_tile(room, data[k], o.type, &n, &o.strides[axis], 1, 0, n);
      data[k] = room;
      room += line_bytes(tile_size * size_of(o.type));
    }
    data[g_.inputs] = to;
    p_.run(data, n);
  }

 private:
  [[nodiscard]] std::int64_t number_of(const void* p) const { return counted_at(p, bytes_); }

  tile_program p_;
  const geometry& g_;
  void* const* data_;
  std::byte* tiles_;
  int bytes_;
  operand_layout operands_[max_operands + 1];
};

/// Whether a body is no more than its only operand, which kernels read where it lies.
template <class P>
inline constexpr bool is_plain_body = false;
template <class T>
inline constexpr bool is_plain_body<program<load<0, T>, store<1, T, 0>>> = true;

}  // namespace calque::detail
