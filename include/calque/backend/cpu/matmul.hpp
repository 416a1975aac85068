// The matmul step: hands its geometry to the blocked product, once for each matrix of the batch.
#pragma once

#include "calque/backend/cpu/blas.hpp"
#include "calque/backend/cpu/gemm_share.hpp"

namespace calque::detail {

/// Whether the product is written transposed: its rows, not its columns, are contiguous.
inline bool writes_transposed(const operand_layout& out) {
  return out.strides[1] != 1 && out.strides[0] == 1;
}
/// Whether the product needs a contiguous place of its own first.
inline bool writes_aside(const operand_layout& out) {
  return out.strides[1] != 1 && out.strides[0] != 1;
}

/// Whether threads take whole products, and not parts of each.
inline bool shares_products(const geometry& g) {
  std::int64_t most = 1;
  for (int i = 3; i < g.rank; ++i) most = std::max(most, g.extents[i]);
  return g.threads > 1 && (most >= 2 * g.threads || writes_aside(g.operands[2]));
}

template <class T>
CALQUE_HIDDEN std::int64_t matmul_room(const geometry& g) {
  const operand_layout &a = g.operands[0], &b = g.operands[1], &c = g.operands[2];
  const std::int64_t m = g.extents[0], n = g.extents[1], k = g.extents[2];
  if (writes_transposed(c))
    return gemm_scratch_bytes<T>(n, m, k, b.strides[1], b.strides[0], a.strides[1], a.strides[0],
                                 c.strides[1]);
  const bool aside = writes_aside(c);
  const std::int64_t own = gemm_scratch_bytes<T>(m, n, k, a.strides[0], a.strides[1], b.strides[0],
                                                 b.strides[1], aside ? n : c.strides[0]);
  return aside ? line_bytes(own) + m * n * static_cast<std::int64_t>(sizeof(T)) : own;
}

/// The first product; those that follow have its sizes and strides.
template <class T>
CALQUE_HIDDEN gemm_problem<T> first_product(const geometry& g, void* const* data) {
  const operand_layout &a = g.operands[0], &b = g.operands[1], &c = g.operands[2];
  const gemm_problem<T> p{g.extents[0],
                          g.extents[1],
                          g.extents[2],
                          static_cast<const T*>(data[0]),
                          a.strides[0],
                          a.strides[1],
                          static_cast<const T*>(data[1]),
                          b.strides[0],
                          b.strides[1],
                          static_cast<T*>(data[2]),
                          c.strides[0],
                          c.strides[1]};
  return writes_transposed(c) ? p.transposed() : p;
}
template <class T>
CALQUE_HIDDEN std::int64_t matmul_scratch(const geometry& g) {
  void* const nowhere[3]{};
  if (g.threads <= 1) return matmul_room<T>(g);
  if (shares_products(g)) return shared_bytes(g, matmul_room<T>(g));
  return shared_gemm_bytes(first_product<T>(g, nowhere), g.threads);
}

/// Leads three pointers through the repeating axes of a matmul.
template <class T>
class matrix_walk {
 public:
  explicit matrix_walk(const geometry& g) : g_(g) {}
  [[nodiscard]] bool next(const T*& a, const T*& b, T*& c) {
    for (int i = g_.rank - 1; i >= 3; --i)
      if (step(at_[i], g_.extents[i], i, a, b, c)) return true;
    return step(at_[2], g_.kept_size, 2, a, b, c);
  }

 private:
  bool step(std::int64_t& at, std::int64_t extent, int axis, const T*& a, const T*& b, T*& c) {
    const bool more = ++at < extent;
    const std::int64_t by = more ? 1 : 1 - extent;
    a += by * g_.operands[0].strides[axis];
    b += by * g_.operands[1].strides[axis];
    c += by * g_.operands[2].strides[axis];
    if (!more) at = 0;
    return more;
  }
  const geometry& g_;
  std::int64_t at_[max_rank]{};
};

template <class T>
CALQUE_HIDDEN void launch_matmul(const geometry& g, void* const* data, void* scratch) {
  blas_call<T> blas(first_product<T>(g, data));
  if (!blas && shares_products(g))
    return share_axis(&launch_matmul<T>, g, data, scratch, matmul_room<T>(g), {3, g.rank});
  if (blas || (g.threads > 1 && g.extents[2] > 0)) {
    gemm_problem<T> p = first_product<T>(g, data);
    const bool transposed = writes_transposed(g.operands[2]);
    matrix_walk<T> products(g);
    do {
      if (blas) blas(p);
      else share_gemm(p, g.threads, scratch);
    } while (transposed ? products.next(p.b, p.a, p.c) : products.next(p.a, p.b, p.c));
    return;
  }
  const operand_layout &a = g.operands[0], &b = g.operands[1], &c = g.operands[2];
  const T* x = static_cast<const T*>(data[0]);
  const T* y = static_cast<const T*>(data[1]);
  T* out = static_cast<T*>(data[2]);
  const std::int64_t m = g.extents[0], n = g.extents[1], k = g.extents[2];
  matrix_walk<T> walk(g);
  if (writes_transposed(c)) {
    gemm<T>(n, m, k, y, b.strides[1], b.strides[0], x, a.strides[1], a.strides[0], out,
            c.strides[1], scratch,
            [&](const T*& u, const T*& v, T*& w) { return walk.next(v, u, w); });
  } else if (!writes_aside(c)) {
    gemm<T>(m, n, k, x, a.strides[0], a.strides[1], y, b.strides[0], b.strides[1], out,
            c.strides[0], scratch,
            [&](const T*& u, const T*& v, T*& w) { return walk.next(u, v, w); });
  } else {
    const std::int64_t own =
        gemm_scratch_bytes<T>(m, n, k, a.strides[0], a.strides[1], b.strides[0], b.strides[1], n);
    T* aside = reinterpret_cast<T*>(static_cast<std::byte*>(scratch) + line_bytes(own));
    do {
      gemm<T>(m, n, k, x, a.strides[0], a.strides[1], y, b.strides[0], b.strides[1], aside, n,
              scratch);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          out[i * c.strides[0] + j * c.strides[1]] = aside[i * n + j];
    } while (walk.next(x, y, out));
  }
}

}  // namespace calque::detail
