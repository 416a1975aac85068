// The kernel of a product cluster: a matrix product whose result goes through an elementwise
// program while its rows are in the second-level cache.
//
// Threads take blocks of rows or, where those are few, parts of each. The blocks are the same for
// every number of threads.
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
    return line_bytes(rows * n * static_cast<std::int64_t>(sizeof(T)));
  }
  [[nodiscard]] std::int64_t blocks() const { return rows > 0 ? ceil_div(m, rows) : 0; }
  /// How many threads share a block.
  [[nodiscard]] int inside() const { return blocks() < 2 * g.threads && k > 0 ? g.threads : 1; }
  /// `count` rows of the product.
  [[nodiscard]] gemm_problem<T> problem(std::int64_t count, const T* x, const T* y, T* to) const {
    return {count, n, k, x, a.strides[0], a.strides[1], y, b.strides[0], b.strides[1], to, n, 1};
  }
  [[nodiscard]] std::int64_t own_bytes() const {
    const auto bytes = [&](std::int64_t count) {
      if (inside() > 1)
        return shared_gemm_bytes(problem(count, nullptr, nullptr, nullptr), inside());
      return gemm_scratch_bytes<T>(count, n, k, a.strides[0], a.strides[1], b.strides[0],
                                   b.strides[1], n);
    };
    const std::int64_t last = rows > 0 ? m % rows : 0;
    return line_bytes(std::max(bytes(rows), last > 0 ? bytes(last) : 0));
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
  const std::int64_t tiles = tile_bytes(operands, w.count()),
                     block = w.product_bytes() + w.own_bytes();
  if (w.inside() > 1) return block + w.inside() * worker_bytes(tiles);
  return shared_bytes(g, block + tiles);
}

template <class T, class P>
CALQUE_HIDDEN void launch_product(const geometry& g, void* const* data, void* scratch) {
  const product_walk<T> w(g);
  operand_layout operands[max_operands + 2];
  w.operands(operands);
  const std::int64_t product_bytes = w.product_bytes(), own_bytes = w.own_bytes();
  const std::int64_t each =
      worker_bytes(product_bytes + own_bytes + tile_bytes(operands, w.count()));
  const T* x = static_cast<const T*>(data[g.inputs]);
  const T* y = static_cast<const T*>(data[g.inputs + 1]);
  const int threads = w.inside();
  for_each_block(threads > 1 ? 1 : g.threads, w.blocks(), [&](int worker, std::int64_t block) {
    auto* const room = static_cast<std::byte*>(scratch) + worker * each;
    T* const product = reinterpret_cast<T*>(room);
    std::byte *const own = room + product_bytes, *const tiles = own + own_bytes;
    const std::int64_t i = block * w.rows, count = std::min(w.rows, w.m - i);
    const gemm_problem<T> p = w.problem(count, x + i * w.a.strides[0], y, product);
    if (blas_call<T> blas(p); blas) blas(p);
    else if (threads > 1) share_gemm(p, threads, own);
    else gemm<T>(count, w.n, w.k, p.a, p.a_row, p.a_col, y, p.b_row, p.b_col, product, w.n, own);
    void* base[max_operands + 2];
    const std::int64_t extents[] = {count, w.n};
    for (int s = 0; s < w.count(); ++s) {
      const int from = s < g.inputs ? s : s + 1;  // behind the two matrices
      base[s] = s == g.inputs ? room
                              : static_cast<std::byte*>(data[from]) +
                                    i * operands[s].strides[0] * size_of(operands[s].type);
    }
    share_tiles(map_tile<P>(), {extents, 2, g.inputs + 1, g.outputs, operands}, threads, base,
                count * w.n, tiles);
  });
}

}  // namespace calque::detail
