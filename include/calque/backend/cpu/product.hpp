// The kernel of a product cluster: a matrix product whose result goes through an elementwise
// program while its rows are in the second-level cache.
#pragma once

#include <algorithm>

#include "calque/backend/cpu/map.hpp"
#include "calque/backend/cpu/matmul.hpp"

namespace calque::detail {

/// How a product cluster is walked. Operands: those of the program, the two matrices, the results;
/// the program finds the product behind its own operands.
template <class T>
struct CALQUE_HIDDEN product_walk {
  static constexpr std::int64_t block_bytes = std::int64_t{256} << 10;  // of the product

  const geometry& g;
  std::int64_t m, n, k, rows;
  const operand_layout &a, &b;

  explicit product_walk(const geometry& shape)
      : g(shape),
        m(g.extents[0]),
        n(g.extents[1]),
        k(g.extents[2]),
        a(g.operands[g.inputs]),
        b(g.operands[g.inputs + 1]) {
    const std::int64_t line = std::max<std::int64_t>(n, 1) * static_cast<std::int64_t>(sizeof(T));
    rows = std::min(m, std::max<std::int64_t>(block_bytes / line / 8 * 8, 64));
  }
  [[nodiscard]] std::int64_t product_bytes() const {
    return (rows * n * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
  }
  [[nodiscard]] std::int64_t own_bytes() const {
    const auto bytes = [&](std::int64_t count) {
      return gemm_scratch_bytes<T>(count, n, k, a.strides[0], a.strides[1], b.strides[0],
                                   b.strides[1], n);
    };
    const std::int64_t last = rows > 0 ? m % rows : 0;
    return (std::max(bytes(rows), last > 0 ? bytes(last) : 0) + 63) / 64 * 64;
  }
  /// The program's operands, the product among them.
  void operands(operand_layout* to) const {
    int at = 0;
    for (int i = 0; i < g.inputs; ++i) to[at++] = g.operands[i];
    to[at] = {};
    to[at].type = dtype_of<T>;
    to[at].strides[0] = n, to[at].strides[1] = 1;
    to[at++].linear = true;
    for (int i = 0; i < g.outputs; ++i) to[at++] = g.operands[g.inputs + 2 + i];
  }
  [[nodiscard]] int count() const { return g.inputs + 1 + g.outputs; }
};

template <class T>
CALQUE_HIDDEN std::int64_t product_scratch(const geometry& g) {
  const product_walk<T> w(g);
  operand_layout operands[max_operands + 2];
  w.operands(operands);
  return w.product_bytes() + w.own_bytes() + tile_bytes(operands, w.count());
}

template <class T, class P>
CALQUE_HIDDEN void launch_product(const geometry& g, void* const* data, void* scratch) {
  const product_walk<T> w(g);
  operand_layout operands[max_operands + 2];
  w.operands(operands);
  auto* const room = static_cast<std::byte*>(scratch);
  T* const product = reinterpret_cast<T*>(room);
  std::byte *const own = room + w.product_bytes(), *const tiles = own + w.own_bytes();
  const T* x = static_cast<const T*>(data[g.inputs]);
  const T* y = static_cast<const T*>(data[g.inputs + 1]);
  for (std::int64_t i = 0; i < w.m; i += w.rows) {
    const std::int64_t count = std::min(w.rows, w.m - i);
    gemm<T>(count, w.n, w.k, x + i * w.a.strides[0], w.a.strides[0], w.a.strides[1], y,
            w.b.strides[0], w.b.strides[1], product, w.n, own);
    void* base[max_operands + 2];
    const std::int64_t extents[] = {count, w.n};
    for (int s = 0; s < w.count(); ++s) {
      const int from = s < g.inputs ? s : s + 1;  // behind the two matrices
      base[s] = s == g.inputs ? room
                              : static_cast<std::byte*>(data[from]) +
                                    i * operands[s].strides[0] * size_of(operands[s].type);
    }
    run_tiles(map_tile<P>(), {extents, 2, g.inputs + 1, g.outputs, operands}, base, 0, count * w.n,
              tiles);
  }
}

}  // namespace calque::detail
