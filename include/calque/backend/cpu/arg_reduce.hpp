// argmax and argmin along one axis: the first of equals, and the first NaN if there is one.
//
// Contiguous rows are searched for their extreme in chunks on lanes, then the chunk that has it for
// its place. Where the kept elements are contiguous instead, the running extremes of a line of them
// and their places are kept beside each other, and the rows are read in memory's order. Other
// layouts go element by element. Called through the kernel table.
#pragma once

#include <array>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "calque/backend/cpu/reduce_loops.hpp"
#include "calque/backend/cpu/reduce_room.hpp"
#include "calque/backend/cpu/share.hpp"
#include "calque/ops/select.hpp"

namespace calque::detail {

/// Where an extreme is looked for: `lines` lines of n elements, `step` elements from one line's
/// start to the next one's and `along` from one element of a line to its next.
template <class T>
struct arg_lines {
  const T* in;
  std::int64_t n, along, lines, step;
  std::int64_t* out;
  std::int64_t out_step;
};

template <class Better>
struct arg_extreme {
  using combine = std::conditional_t<std::same_as<Better, op::greater>, op::maximum, op::minimum>;
};

/// The places of the extremes of contiguous rows, as a loop of one instruction set.
template <class Better, class T>
struct arg_rows {
  using extreme = arg_extreme<Better>;
  using place = signed_bits<T>;

  template <int VB>
  CALQUE_INLINE static void run(const arg_lines<T>& l) {
    constexpr int W = lane_width(VB, sizeof(T));
    const T* row = l.in;
    for (std::int64_t i = 0; i < l.lines; ++i, row += l.step)
      l.out[i * l.out_step] = l.n < W ? of_short(row, l.n) : of_row<W>(row, l.n);
  }

 private:
  static constexpr place none = std::numeric_limits<place>::max();
  /// Lanes that are searched at once; places among them fit into an element's bits.
  template <int W>
  static constexpr int group = sizeof(T) == 1 ? 64 / W : 8;

  CALQUE_INLINE static std::int64_t of_short(const T* row, std::int64_t n) {
    std::int64_t best = 0;
    T value = row[0];
    for (std::int64_t i = 1; i < n && value == value; ++i)
      if (Better{}(row[i], value) || row[i] != row[i]) value = row[i], best = i;
    return best;
  }
  template <int W>
  CALQUE_INLINE static std::int64_t of_row(const T* row, std::int64_t n) {
    constexpr std::int64_t chunk = 64 * W;  // in the first-level cache when it is searched again
    std::int64_t best = 0;
    T value = row[0], most;
    for (std::int64_t at = 0; at < n && value == value; at += chunk) {
      of_chunk<W>(row, at, n - at < chunk ? n : at + chunk, most);
      if (at > 0 && !Better{}(most, value) && most == most) continue;
      value = most;
      best = at;
    }
    const std::int64_t end = n - best < chunk ? n : best + chunk;
    if (value != value) return find<W, true>(row, best, end, value);
    return find<W, false>(row, best, end, value);
  }
  /// The extreme of row[at, end). The last lane reaches back: what it sees twice changes nothing.
  template <int W>
  CALQUE_INLINE static void of_chunk(const T* row, std::int64_t at, std::int64_t end, T& most) {
    lane<T, W> a, b, c, d;
    lanes::load<T, W>(a, row + (at + W <= end ? at : end - W));
    b = c = d = a;
    for (; at + 4 * W <= end; at += 4 * W) {
      join<W>(a, row + at);
      join<W>(b, row + at + W);
      join<W>(c, row + at + 2 * W);
      join<W>(d, row + at + 3 * W);
    }
    for (; at + W <= end; at += W) join<W>(a, row + at);
    if (at < end) join<W>(b, row + end - W);
    apply_lanes<typename extreme::combine, T, T, W>(a, a, b);
    apply_lanes<typename extreme::combine, T, T, W>(c, c, d);
    apply_lanes<typename extreme::combine, T, T, W>(a, a, c);
    lane_fold<extreme, T>::template fold<W>(a, most);
  }
  template <int W>
  CALQUE_INLINE static void join(lane<T, W>& acc, const T* p) {
    lane<T, W> x;
    lanes::load<T, W>(x, p);
    apply_lanes<typename extreme::combine, T, T, W>(acc, acc, x);
  }
  /// The first place in [at, end) that holds `value`, or a NaN; there is one.
  template <int W, bool Nan>
  CALQUE_INLINE static std::int64_t find(const T* row, std::int64_t at, std::int64_t end, T value) {
    lane<T, W> wanted;
    lanes::splat<T, W>(wanted, value);
    for (; at + group<W> * W <= end; at += group<W> * W) {
      const std::int64_t first = first_of<W, Nan, group<W>>(row + at, wanted);
      if (first != none) return at + first;
    }
    for (;; at += W) {  // the last lane reaches back to places that do not hold it
      const std::int64_t from = at + W <= end ? at : end - W;
      const std::int64_t first = first_of<W, Nan, 1>(row + from, wanted);
      if (first != none) return from + first;
    }
  }
  template <int W, bool Nan, int Lanes>
  CALQUE_INLINE static place first_of(const T* p, const lane<T, W>& wanted) {
    lane<place, W> found;
    lanes::splat<place, W>(found, none);
    see<W, Nan, Lanes - 1>(found, p, wanted);
    place first;
    lane_fold<least, place>::template fold<W>(found, first);
    return first;
  }
  /// From the last lane to the first, whose places are written over the others'.
  template <int W, bool Nan, int K>
  CALQUE_INLINE static void see(lane<place, W>& found, const T* p, const lane<T, W>& wanted) {
    lane<T, W> x;
    lane<place, W> at;
    lanes::load<T, W>(x, p + K * W);
    lanes::load<place, W>(at, counted<W, K * W>::value.data());
    if constexpr (Nan) found = (lane<place, W>)(x != x) ? at : found;
    else found = (lane<place, W>)(x == wanted) ? at : found;
    if constexpr (K > 0) see<W, Nan, K - 1>(found, p, wanted);
  }
  struct least {
    using combine = op::minimum;
  };
  template <int W, int First>
  struct counted {
    static constexpr auto make() {
      std::array<place, W> a{};
      for (std::size_t k = 0; k < W; ++k) a[k] = static_cast<place>(First + k);
      return a;
    }
    static constexpr auto value = make();
  };
};

/// The same where the lines lie beside each other (`step` is 1): rows of elements of many lines.
template <class Better, class T>
struct arg_columns {
  using place = signed_bits<T>;

  template <int VB>
  CALQUE_INLINE static void run(const arg_lines<T>& l) {
    constexpr int W = lane_width(VB, sizeof(T));
    for (std::int64_t at = 0; at < l.lines; at += most)
      some<W>(l.in + at, l.n, l.along, l.lines - at < most ? l.lines - at : most,
              l.out + at * l.out_step, l.out_step);
  }

 private:
  /// Lines whose state is held at once, and rows whose numbers fit into any element's bits.
  static constexpr std::int64_t most = 1024, block = 64;

  template <int W>
  CALQUE_INLINE static void some(const T* in, std::int64_t n, std::int64_t along, std::int64_t m,
                                 std::int64_t* out, std::int64_t step) {
    T best[most];
    place places[most];
    for (std::int64_t i = 0; i < m; ++i) best[i] = in[i];
    for (std::int64_t i = 0; i + W <= m; i += W) {
      lane<T, W> x;
      get<W>(x, in + i);
      lanes::store<T, W>(best + i, x);
    }
    for (std::int64_t i = 0; i < m; ++i) out[i * step] = 0;
    for (std::int64_t first = 0; first < n; first += block) {
      for (std::int64_t i = 0; i < m; ++i) places[i] = -1;
      const std::int64_t end = n - first < block ? n : first + block;
      for (std::int64_t row = first; row < end; ++row)
        one_row<W>(in + row * along, best, places, m, static_cast<place>(row - first));
      for (std::int64_t i = 0; i < m; ++i)
        if (places[i] >= 0) out[i * step] = first + places[i];
    }
  }
  /// Elements such that equal ones have equal bits, and a NaN keeps them: what replaces an extreme
  /// is then seen in its bits, and one comparison does.
  template <int W>
  CALQUE_INLINE static void get(lane<T, W>& x, const T* p) {
    lanes::load<T, W>(x, p);
    if constexpr (std::is_floating_point_v<T>) x = x + lane<T, W>{};
  }
  template <int W>
  CALQUE_INLINE static void one_row(const T* in, T* best, place* places, std::int64_t m,
                                    place row) {
    lane<place, W> at, now;
    lanes::splat<place, W>(now, row);
    std::int64_t i = 0;
    for (; i + W <= m; i += W) {
      lane<T, W> x, value, next;
      get<W>(x, in + i);
      lanes::load<T, W>(value, best + i);
      lanes::load<place, W>(at, places + i);
      apply_lanes<typename arg_extreme<Better>::combine, T, T, W>(next, value, x);
      at = (lane<place, W>)next == (lane<place, W>)value ? at : now;
      lanes::store<place, W>(places + i, at);
      lanes::store<T, W>(best + i, next);
    }
    for (; i < m; ++i)
      if (best[i] == best[i] && (Better{}(in[i], best[i]) || in[i] != in[i]))
        best[i] = in[i], places[i] = row;
  }
};

/// A line's extreme element by element. The reduced axis may have been split or dropped by
/// collapsing: it is walked in row-major order.
template <class Better, class T>
CALQUE_HIDDEN std::int64_t arg_walk(const geometry& g, const T* in, std::int64_t n) {
  const operand_layout& from = g.operands[0];
  std::int64_t best = 0, inner[max_rank]{}, offset = 0;
  T value = *in;
  for (std::int64_t i = 1; i < n && value == value; ++i) {
    for (int a = g.rank - 1; a >= g.kept; --a) {
      offset += from.strides[a];
      if (++inner[a] < g.extents[a]) break;
      offset -= g.extents[a] * from.strides[a];
      inner[a] = 0;
    }
    const T x = in[offset];
    if (Better{}(x, value) || x != x) value = x, best = i;
  }
  return best;
}

template <class Body, class T>
CALQUE_HIDDEN void run_arg_lines(const arg_lines<T>& l) {
#if CALQUE_X86()
  const isa level = best_isa();
  if (level == isa::avx512) return on<isa::avx512>::run<Body>(l);
  if (level == isa::avx2) return on<isa::avx2>::run<Body>(l);
#endif
  on<isa::baseline>::run<Body>(l);
}

template <class Better, class T>
CALQUE_HIDDEN void launch_arg_reduce(const geometry& g, void* const* data, void*) {
  if (g.threads > 1) return share_lines(&launch_arg_reduce<Better, T>, g, data, nullptr, 0);
  if (g.kept_size == 0) return;
  const T* in = static_cast<const T*>(data[0]);
  std::int64_t* out = static_cast<std::int64_t*>(data[1]);
  const std::int64_t *from = g.operands[0].strides, *to = g.operands[1].strides;
  const std::int64_t n = g.size / g.kept_size;
  const int last = g.kept - 1;  // lines along this axis are one run
  arg_lines<T> l{in, n, 1, 1, 0, out, 0};
  if (last >= 0) l.lines = g.extents[last], l.step = from[last], l.out_step = to[last];
  const bool one_axis = g.rank == g.kept + 1 && !std::same_as<T, bool>;
  if (one_axis) l.along = from[g.kept];
  const bool rows = one_axis && (l.along == 1 || n == 1);
  const bool columns = one_axis && !rows && l.step == 1 && l.lines >= shortest_line;
  std::int64_t index[max_rank]{};
  for (std::int64_t done = 0; done < g.kept_size; done += l.lines) {
    l.in = in, l.out = out;
    for (int a = 0; a < last; ++a) {
      l.in += index[a] * from[a];
      l.out += index[a] * to[a];
    }
    if constexpr (!std::same_as<T, bool>) {
      if (rows) run_arg_lines<arg_rows<Better, T>>(l);
      else if (columns) run_arg_lines<arg_columns<Better, T>>(l);
    }
    if (!rows && !columns)
      for (std::int64_t i = 0; i < l.lines; ++i)
        l.out[i * l.out_step] = arg_walk<Better, T>(g, l.in + i * l.step, n);
    for (int a = last - 1; a >= 0; --a) {
      if (++index[a] < g.extents[a]) break;
      index[a] = 0;
    }
  }
}

}  // namespace calque::detail
