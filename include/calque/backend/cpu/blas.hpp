// The way to a BLAS library: a program that includes calque/parallel/blas.hpp registers one, and
// the products whose layouts it can express go to it.
//
// A plain function pointer, so that no kernel is compiled twice. Called by the matmul kernel.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "calque/backend/cpu/gemm.hpp"

namespace calque {

/// Row-major c = a * b of float or double: sizes, whether a and b lie transposed, and the elements
/// between their rows.
struct blas_product {
  bool is_double, a_transposed, b_transposed;
  int m, n, k;
  const void* a;
  int a_pitch;
  const void* b;
  int b_pitch;
  void* c;
  int c_pitch;
};
/// Computes a product.
using blas_function = void (*)(const blas_product&);

namespace detail {
inline namespace abi_1 {

CALQUE_SHARED inline std::atomic<blas_function>& blas_in_use() noexcept {
  static std::atomic<blas_function> f{nullptr};
  return f;
}

}  // namespace abi_1
}  // namespace detail

/// Makes `f` compute the products of float and double matrices in this process; null: the library's
/// own kernel does. Returns the one before. Programs that include calque/parallel/blas.hpp only
/// need it to go back.
inline blas_function use_blas(blas_function f) noexcept {
  return detail::blas_in_use().exchange(f, std::memory_order_acq_rel);
}

namespace detail {

/// One operand as BLAS sees it: rows of contiguous elements, or those of its transpose.
struct blas_operand {
  bool possible = false, transposed = false;
  int pitch = 0;

  blas_operand(std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t col) {
    const auto fits = [](std::int64_t n) { return n <= INT32_MAX; };
    const auto is = [&](std::int64_t n, std::int64_t m, std::int64_t step, std::int64_t inner) {
      if (inner != 1 && m != 1) return false;
      const std::int64_t p = n == 1 ? m : step;
      if (p < m || !fits(p)) return false;
      pitch = static_cast<int>(p);
      return true;
    };
    if (!fits(rows) || !fits(columns)) return;
    possible = is(rows, columns, row, col);
    if (!possible) possible = transposed = is(columns, rows, col, row);
  }
};

/// Sends products of these sizes and strides to `f`.
template <class T>
struct blas_call {
  blas_function f = nullptr;
  blas_product product{};

  explicit blas_call(const gemm_problem<T>& g) {
    if constexpr (std::is_floating_point_v<T>) {
      f = blas_in_use().load(std::memory_order_acquire);
      if (f == nullptr || g.m == 0 || g.n == 0 || g.k == 0) {
        f = nullptr;
        return;
      }
      const blas_operand a(g.m, g.k, g.a_row, g.a_col), b(g.k, g.n, g.b_row, g.b_col);
      const blas_operand c(g.m, g.n, g.c_row, g.c_col);
      if (!a.possible || !b.possible || !c.possible || c.transposed) {
        f = nullptr;
        return;
      }
      product = {.is_double = sizeof(T) == 8,
                 .a_transposed = a.transposed,
                 .b_transposed = b.transposed,
                 .m = static_cast<int>(g.m),
                 .n = static_cast<int>(g.n),
                 .k = static_cast<int>(g.k),
                 .a = nullptr,
                 .a_pitch = a.pitch,
                 .b = nullptr,
                 .b_pitch = b.pitch,
                 .c = nullptr,
                 .c_pitch = c.pitch};
    }
  }
  [[nodiscard]] explicit operator bool() const { return f != nullptr; }
  void operator()(const gemm_problem<T>& g) {
    product.a = g.a, product.b = g.b, product.c = g.c;
    f(product);
  }
};

}  // namespace detail
}  // namespace calque
