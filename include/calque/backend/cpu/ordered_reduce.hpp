// Reductions that combine neighbours only, so that a user's monoid need not be commutative.
//
// Lines of kept elements are combined side by side where those are contiguous; else each kept
// element's reduced elements are cut into parts that follow each other, combined by themselves and
// then in order. The identity is the result of no elements, and is never combined.
#pragma once

#include "calque/backend/cpu/accumulate_loops.hpp"
#include "calque/backend/cpu/body_input.hpp"

namespace calque::detail {

/// Elements of a part, and of a tile of kept elements.
inline constexpr std::int64_t ordered_block = 1024;

/// Combines n >= 1 elements in order, on lanes: neighbours in pairs, then their results, until few
/// are left. `room` has space for n; `from` may be it.
template <class F, class T>
struct pairing {
  using m = monoid<F, T>;
  template <int VB>
  CALQUE_INLINE static void run(const T* from, std::int64_t n, T* room, T* result) {
    constexpr int W = lane_width(VB, lane_bytes<T>);
    while (n >= 2 * W) {
      const std::int64_t half = n / 2;
      std::int64_t i = 0;
      for (; i + W <= half; i += W) {
        lane<T, W> a, b, first, second;
        lanes::load<T, W>(a, from + 2 * i);
        lanes::load<T, W>(b, from + 2 * i + W);
        lanes::every_other<T, W, 0>(first, a, b);
        lanes::every_other<T, W, 1>(second, a, b);
        m::template of<W>(first, first, second);
        lanes::store<T, W>(room + i, first);
      }
      for (; i < half; ++i) room[i] = m::of(from[2 * i], from[2 * i + 1]);
      if (n % 2 != 0) room[half] = from[n - 1];
      n = half + n % 2;
      from = room;
    }
    T sum = from[0];
    for (std::int64_t i = 1; i < n; ++i) sum = m::of(sum, from[i]);
    *result = sum;
  }
};
#define CALQUE_PAIRING(LEVEL, TARGET, BYTES)                                                   \
  template <class F, class T>                                                                  \
  CALQUE_HIDDEN TARGET                                                                         \
      [[gnu::noinline]] void pair_##LEVEL(const T* from, std::int64_t n, T* room, T* result) { \
    pairing<F, T>::template run<BYTES>(from, n, room, result);                                 \
  }
CALQUE_PAIRING(baseline, , 16)
CALQUE_PAIRING(avx2, CALQUE_TARGET_AVX2, 32)
CALQUE_PAIRING(avx512, CALQUE_TARGET_AVX512, 64)
#undef CALQUE_PAIRING

CALQUE_HIDDEN inline std::int64_t ordered_reduce_room(const geometry& g) {
  const std::int64_t most = g.size < ordered_block ? g.size : ordered_block;
  return most * size_of(g.operands[0].type) + 64;
}
CALQUE_HIDDEN inline std::int64_t ordered_reduce_scratch(const geometry& g) {
  return shared_bytes(g, ordered_reduce_room(g));
}

template <class F, class T>
class CALQUE_HIDDEN ordered_reduction {
 public:
  using m = monoid<F, T>;

  /// Reads `in`, or what `body` computes, in tiles behind the first; writes to `out`, in strides
  /// `to` over the kept axes.
  ordered_reduction(const geometry& g, const void* in, const std::int64_t* from, void* out,
                    const std::int64_t* to, void* scratch, const body_input* body = nullptr)
      : g_(g),
        body_(body),
        in_(static_cast<const T*>(in)),
        out_(static_cast<T*>(out)),
        tile_(static_cast<T*>(scratch)),
        across_(scan_program_of<F, T>().across),
        from_(from),
        to_(to) {
    if constexpr (m::on_lanes) {
      pairs_ = &pair_baseline<F, T>;
#if CALQUE_X86()
      const isa level = best_isa();
      if (level == isa::avx512) pairs_ = &pair_avx512<F, T>;
      else if (level == isa::avx2) pairs_ = &pair_avx2<F, T>;
#endif
    }
    for (int a = g.kept; a < g.rank; ++a) reduced_ *= g.extents[a];
  }
  void run() {
    const int inner = g_.kept - 1;
    const bool across = inner >= 0 && lies_across(inner) && g_.extents[inner] >= 8 && reduced_ > 0;
    const std::int64_t most = body_ != nullptr ? tile_size : ordered_block;
    std::int64_t index[max_rank]{};
    for (std::int64_t done = 0; done < g_.kept_size;) {
      std::int64_t in = 0, out = 0, n = 1;
      for (int a = 0; a < g_.kept; ++a) in += index[a] * from_[a], out += index[a] * to_[a];
      if (across) {
        n = g_.extents[inner] - index[inner];
        if (n > most) n = most;
        lines(in_ + in, out_ + out, n);
      } else {
        out_[out] = reduced_ == 0 ? m::identity() : one(in_ + in);
      }
      done += n;
      if (inner < 0) break;
      index[inner] += n;
      for (int a = inner; a > 0 && index[a] == g_.extents[a]; --a) index[a] = 0, ++index[a - 1];
    }
  }

 private:
  /// Whether neighbours along a kept axis lie together; of a body's value, where it would be
  /// stored.
  [[nodiscard]] bool lies_across(int inner) const {
    return body_ != nullptr ? g_.start != 0 : from_[inner] == 1;
  }
  /// n kept elements side by side.
  void lines(const T* in, T* out, std::int64_t n) {
    T* sums = tile_;
    std::int64_t inner[max_rank]{}, offset = 0;
    for (std::int64_t i = 0; i < reduced_; ++i) {
      const T* from = in + offset;
      if (body_ != nullptr) {
        body_->across(from, g_.kept - 1, n, sums + ordered_block);
        from = sums + ordered_block;
      }
      across_({from, sums, sums, n, i == 0, nullptr});
      for (int a = g_.rank - 1; a >= g_.kept; --a) {
        offset += from_[a];
        if (++inner[a] < g_.extents[a]) break;
        offset -= g_.extents[a] * from_[a];
        inner[a] = 0;
      }
    }
    const std::int64_t step = to_[g_.kept - 1];
    for (std::int64_t k = 0; k < n; ++k) out[k * step] = sums[k];
  }
  /// All elements that belong to one.
  T one(const T* in) {
    const bool straight = g_.rank == g_.kept + 1 && (from_[g_.kept] == 1 || reduced_ == 1);
    T sum{};
    for (std::int64_t at = 0; at < reduced_; at += ordered_block) {
      const std::int64_t left = reduced_ - at, n = left < ordered_block ? left : ordered_block;
      const T* part = in + at;
      if (body_ != nullptr) {
        body_->along(part, n, tile_);
        part = tile_;
      } else if (!straight) {
        gather_tile(tile_, const_cast<T*>(in), static_cast<int>(sizeof(T)), g_.extents + g_.kept,
                    from_ + g_.kept, g_.rank - g_.kept, at, n);
        part = tile_;
      }
      const T next = fold(part, n);
      sum = at == 0 ? next : m::of(sum, next);
    }
    return sum;
  }
  /// On lanes, or in four parts that do not wait for each other.
  T fold(const T* p, std::int64_t n) {
    if constexpr (m::on_lanes) {
      T sum;
      pairs_(p, n, tile_, &sum);
      return sum;
    }
    const std::int64_t each = n / 4;
    if (each < 4) return serial(p, n);
    T a = p[0], b = p[each], c = p[2 * each], d = p[3 * each];
    for (std::int64_t i = 1; i < each; ++i) {
      a = m::of(a, p[i]);
      b = m::of(b, p[each + i]);
      c = m::of(c, p[2 * each + i]);
      d = m::of(d, p[3 * each + i]);
    }
    for (std::int64_t i = 4 * each; i < n; ++i) d = m::of(d, p[i]);
    return m::of(m::of(a, b), m::of(c, d));
  }
  static T serial(const T* p, std::int64_t n) {
    T sum = p[0];
    for (std::int64_t i = 1; i < n; ++i) sum = m::of(sum, p[i]);
    return sum;
  }

  const geometry& g_;
  const body_input* body_;
  const T* in_;
  T *out_, *tile_;
  void (*across_)(const scan_line&);
  const std::int64_t *from_, *to_;
  std::int64_t reduced_ = 1;
  void (*pairs_)(const T* from, std::int64_t n, T* room, T* result) = nullptr;
};

template <class F, class T>
CALQUE_HIDDEN void launch_ordered_reduce(const geometry& g, void* const* data, void* scratch) {
  if (g.threads > 1)  // parts long enough to be combined side by side if the whole is
    return share_lines(&launch_ordered_reduce<F, T>, g, data, scratch, ordered_reduce_room(g),
                       g.kept > 0 && g.extents[g.kept - 1] >= 8 ? 8 : 1);
  ordered_reduction<F, T>(g, data[0], g.operands[0].strides, data[1], g.operands[1].strides,
                          scratch)
      .run();
}

/// With what feeds it and what uses its results: body `P`, tail `Tail` on all of them.
template <class F, class T, class P, class Tail>
struct CALQUE_HIDDEN ordered_cluster {
  static constexpr bool bare = is_plain_body<P>, direct = is_plain_body<Tail>;

  static std::int64_t results_at(const geometry& g) {
    const std::int64_t tiles = 2 * ordered_block * static_cast<std::int64_t>(sizeof(T));
    return line_bytes(tiles) + (bare ? 0 : body_input::room(g));
  }
  static std::int64_t room(const geometry& g) {
    if (direct) return results_at(g);
    return results_at(g) + line_bytes(g.kept_size * static_cast<std::int64_t>(sizeof(T))) +
           (g.tail_inputs + g.outputs) * tile_size * 8;
  }
  static std::int64_t scratch(const geometry& g) { return shared_bytes(g, room(g)); }

  static void launch(const geometry& g, void* const* data, void* scratch) {
    if (g.threads > 1)
      return share_lines(&launch, g, data, scratch, room(g),
                         g.kept > 0 && g.extents[g.kept - 1] >= 8 ? 8 : 1);
    auto* const tiles = static_cast<std::byte*>(scratch);
    std::byte* const results = tiles + results_at(g);
    const body_input body(map_tile<P>(), g, dtype_of<T>, data,
                          tiles + line_bytes(2 * ordered_block * sizeof(T)));
    const void* const in = bare ? data[0] : body_input::origin();
    const std::int64_t* const from = bare ? g.operands[0].strides : body.strides;
    std::int64_t dense[max_rank]{};
    for (std::int64_t a = g.kept - 1, step = 1; a >= 0; --a) dense[a] = step, step *= g.extents[a];
    const int first_output = g.inputs + g.tail_inputs;
    void* const to = direct ? data[first_output] : results;
    ordered_reduction<F, T>(g, in, from, to, direct ? g.operands[first_output].strides : dense,
                            scratch, bare ? nullptr : &body)
        .run();
    if constexpr (!direct) {
      operand_layout operands[max_operands + 2];
      void* base[max_operands + 2];
      operands[0].type = dtype_of<T>;
      operands[0].linear = true;
      base[0] = results;
      const int count = g.tail_inputs + g.outputs;
      for (int k = 0; k < count; ++k) {
        operands[1 + k] = g.operands[g.inputs + k];
        operands[1 + k].linear = is_contiguous(g, operands[1 + k], 0, g.kept);
        base[1 + k] = data[g.inputs + k];
      }
      run_tiles(map_tile<Tail>(), {g.extents, g.kept, 1 + g.tail_inputs, g.outputs, operands}, base,
                0, g.kept_size,
                results + line_bytes(g.kept_size * static_cast<std::int64_t>(sizeof(T))));
    }
  }
};

}  // namespace calque::detail
