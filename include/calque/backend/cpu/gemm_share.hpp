// The matrix product by several threads: parts of its columns, or of its rows.
//
// k is never cut, and every part is walked as the whole product would be, so that each element is
// summed in the same order for every number of threads. Called by the matmul kernel where there are
// fewer products than threads.
#pragma once

#include "calque/backend/cpu/gemm.hpp"
#include "calque/backend/cpu/share.hpp"

namespace calque::detail {

/// How a product in its chosen orientation is cut.
struct gemm_cut {
  bool rows = false;
  std::int64_t each = 0, parts = 1;  // rows or columns of a part; the last takes what is left

  template <class Kernel, class Problem>
  static gemm_cut of(Kernel, const Problem& g, int threads) {
    // one row meets wide panels, whose sums take all of k at once
    const std::int64_t column_unit = g.m == 1 ? Kernel::wide_columns : Kernel::tile_columns;
    const std::int64_t wanted = threads * std::int64_t{2};
    gemm_cut c;
    c.rows = g.n < 2 * column_unit * threads && g.m > g.n;
    const std::int64_t unit = c.rows ? Kernel::tile_rows : column_unit, all = c.rows ? g.m : g.n;
    c.each = std::max(all / unit / wanted, std::int64_t{1}) * unit;
    c.parts = std::max(all / c.each, std::int64_t{1});
    return c;
  }
  /// A part's sizes, with the whole's pointers.
  template <class Problem>
  [[nodiscard]] Problem sized(const Problem& g, std::int64_t p) const {
    Problem r = g;
    (rows ? r.m : r.n) = p + 1 < parts ? each : (rows ? g.m : g.n) - p * each;
    return r;
  }
  template <class Problem>
  [[nodiscard]] Problem part(const Problem& g, std::int64_t p) const {
    Problem r = sized(g, p);
    if (rows) r.a += p * each * g.a_row;
    else r.b += p * each * g.b_col;
    r.c += p * each * (rows ? g.c_row : g.c_col);
    return r;
  }
};

/// A product in its orientation, the walk chosen for all of it, and its parts.
template <class Kernel, class T>
struct shared_gemm {
  gemm_choice choice;
  gemm_problem<T> problem;
  gemm_cut cut;

  shared_gemm(const gemm_problem<T>& straight, int threads)
      : choice(Kernel::choose(straight)),
        problem(choice.transposed ? straight.transposed() : straight),
        cut(gemm_cut::of(Kernel{}, problem, threads)) {}
  /// Bytes for one thread: the last part may need more than the others.
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t most = 0;
    for (const std::int64_t p : {std::int64_t{0}, cut.parts - 1})
      most = std::max(most, Kernel::scratch(cut.sized(problem, p), choice.walk));
    return worker_bytes(most * static_cast<std::int64_t>(sizeof(T)));
  }
};

/// Bytes of scratch that `share_gemm` uses.
template <gemm_element T>
[[nodiscard]] CALQUE_HIDDEN std::int64_t shared_gemm_bytes(const gemm_problem<T>& g, int threads) {
  if (g.m == 0 || g.n == 0 || g.k == 0) return 0;
  return with_isa([&](auto level) {
    return shared_gemm<gemm_kernel<level(), T>, T>(g, threads).bytes() * threads;
  });
}

/// c = a * b by `threads` threads, with the bits of `gemm`. k is not 0.
template <gemm_element T>
CALQUE_HIDDEN void share_gemm(const gemm_problem<T>& g, int threads, void* scratch) {
  with_isa([&](auto level) {
    using kernel = gemm_kernel<level(), T>;
    const shared_gemm<kernel, T> s(g, threads);
    const std::int64_t each = s.bytes();
    for_each_block(threads, s.cut.parts, [&](int worker, std::int64_t p) {
      T* const room = reinterpret_cast<T*>(static_cast<std::byte*>(scratch) + worker * each);
      const gemm_problem<T> part = s.cut.part(s.problem, p);
      if (s.choice.walk == gemm_walk::dots) kernel::dots(part, room);
      else kernel::columns(part, room);
    });
  });
}

}  // namespace calque::detail
