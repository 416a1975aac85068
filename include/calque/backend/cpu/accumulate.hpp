// The kernel of running reductions along one axis: which loop walks which layout.
//
// Along the axis where the results are contiguous there; across lines where they are contiguous
// along the next inner axis, or where they are short. What is not contiguous is gathered into a
// tile and scattered from one. Results larger than the caches are written past
// them. Loops and the order of combination are in accumulate_loops.hpp.
#pragma once

#include <atomic>

#include "calque/backend/cpu/accumulate_loops.hpp"
#include "calque/backend/cpu/body_input.hpp"
#include "calque/backend/cpu/stream.hpp"
#include "calque/backend/cpu/tile.hpp"

namespace calque::detail {

/// Bytes of a tile of an operand, or of one value each of many lines.
inline constexpr std::int64_t scan_tile_bytes = 8192, shortest_scan = 8;

/// Blocks that a thread takes of a line: they are still in its second cache when it needs them
/// again.
inline constexpr std::int64_t scan_group = 8;

/// Whether lines are walked side by side.
CALQUE_HIDDEN inline bool scans_across(const geometry& g) {
  const std::int64_t *to = g.operands[g.inputs].strides, n = g.extents[g.kept];
  const int inner = g.kept - 1;
  const bool rows = n <= 1 || to[g.kept] == 1 || to[g.kept] == -1;
  return inner >= 0 && g.extents[inner] >= shortest_scan &&
         (n < shortest_scan || (to[inner] == 1 && !rows));
}
/// Whether threads share each line, and not the lines.
CALQUE_HIDDEN inline bool shares_lines_inside(const geometry& g) {
  return g.threads > 1 && g.kept_size < 2 * g.threads && !scans_across(g) &&
         g.extents[g.kept] > 2 * g.threads * scan_block;
}

/// Bytes of a thread's scratch: four tiles across lines, or two blocks along one. A body has more.
CALQUE_HIDDEN inline std::int64_t accumulate_room(const geometry& g) {
  const std::int64_t most = g.size < scan_block ? g.size : scan_block;
  const std::int64_t block = most * size_of(g.operands[g.inputs].type);
  const std::int64_t tile = block < scan_tile_bytes ? block : scan_tile_bytes;
  return 2 * block > 4 * tile ? 2 * block + 256 : 4 * tile + 256;
}
template <bool Body>
CALQUE_HIDDEN std::int64_t accumulate_worker(const geometry& g) {
  if constexpr (Body) return line_bytes(accumulate_room(g)) + body_input::room(g);
  else return accumulate_room(g);
}
template <bool Body>
CALQUE_HIDDEN std::int64_t accumulate_scratch(const geometry& g) {
  const std::int64_t groups = g.extents[g.kept] / (scan_group * scan_block) + 1;
  return shared_bytes(g, accumulate_worker<Body>(g)) + (shares_lines_inside(g) ? 8 * groups : 0);
}

/// What the threads that go along one line know of each other.
struct CALQUE_HIDDEN scan_chain {
  std::int64_t* carries;              // by group: the combination of all up to its end
  std::atomic<std::int64_t> done{0};  // groups whose carry is there
  std::atomic<bool> broken{false};    // somebody threw: no further carry comes

  [[nodiscard]] bool ready(std::int64_t group) const {
    return done.load(std::memory_order_acquire) >= group;
  }
  /// Waits for the carry of the groups before; the threads that have those are running.
  [[nodiscard]] bool wait(std::int64_t group) {
    for (std::int64_t seen; (seen = done.load(std::memory_order_acquire)) < group;) {
      if (broken.load(std::memory_order_acquire)) return false;
      done.wait(seen, std::memory_order_acquire);
    }
    return !broken.load(std::memory_order_acquire);
  }
  void publish(std::int64_t groups) {
    done.store(groups, std::memory_order_release);
    done.notify_all();
  }
  void fail() {
    broken.store(true, std::memory_order_release);
    publish(INT64_MAX);
  }
};

class CALQUE_HIDDEN accumulation {
 public:
  accumulation(const scan_program& p, const geometry& g, void* const* data, void* scratch,
               const body_input* body = nullptr)
      : p_(p),
        g_(g),
        body_(body),
        scratch_(static_cast<std::byte*>(scratch)),
        in_(static_cast<std::byte*>(body != nullptr ? body_input::origin() : data[0])),
        out_(static_cast<std::byte*>(data[g.inputs])),
        from_(body != nullptr ? body->strides : g.operands[0].strides),
        to_(g.operands[g.inputs].strides),
        n_(g.extents[g.kept]),
        in_step_(from_[g.kept]),
        out_step_(to_[g.kept]) {
    if (n_ <= 1) in_step_ = out_step_ = 1;
  }
  /// Goes over all lines; the first result of each is `identity` where an element is left out of
  /// its own.
  void run(const void* identity) {
    const int inner = g_.kept - 1;
    const bool side_by_side = scans_across(g_), inside = shares_lines_inside(g_);
    std::int64_t width = side_by_side ? scan_tile_bytes / p_.bytes : 1;
    if (body_ != nullptr && width > tile_size) width = tile_size;
    streams_ = !side_by_side && out_step_ == 1 && 2 * g_.size * p_.bytes > streaming_threshold();
    std::int64_t index[max_rank]{};
    const std::int64_t lines = g_.kept_size;
    for (std::int64_t done = 0; done < lines;) {
      const std::byte* in = in_;
      std::byte* out = out_;
      for (int a = 0; a < g_.kept; ++a) {
        in += index[a] * from_[a] * p_.bytes;
        out += index[a] * to_[a] * p_.bytes;
      }
      std::int64_t m = 1;
      if (side_by_side)
        m = g_.extents[inner] - index[inner] < width ? g_.extents[inner] - index[inner] : width;
      std::int64_t n = n_;
      if (identity != nullptr) {
        const std::int64_t step = inner < 0 ? 0 : to_[inner];
        for (std::int64_t k = 0; k < m; ++k)
          std::memcpy(out + k * step * p_.bytes, identity, static_cast<std::size_t>(p_.bytes));
        out += out_step_ * p_.bytes;
        --n;
      }
      if (n > 0) {
        if (side_by_side) across(in, out, n, m);
        else if (inside) along_by_all(in, out, n);
        else along(in, out, n);
      }
      done += m;
      if (inner < 0) break;
      index[inner] += m;
      for (int a = inner; a > 0 && index[a] == g_.extents[a]; --a) index[a] = 0, ++index[a - 1];
    }
    if (streams_) end_streaming();
  }

 private:
  void along(const std::byte* in, std::byte* out, std::int64_t n) {
    std::int64_t carry[1];
    for (std::int64_t at = 0; at < n; at += scan_block)
      block<true>(scratch_, in, out, n, at, at > 0 ? carry : nullptr, carry);
  }
  /// The same by all threads, each some blocks at a time. Where what lies before them is not known
  /// yet, a thread finds their totals first, so that those after it need not wait for its results.
  void along_by_all(const std::byte* in, std::byte* out, std::int64_t n) {
    const std::int64_t room =
        worker_bytes(body_ != nullptr ? accumulate_worker<true>(g_) : accumulate_worker<false>(g_));
    const std::int64_t blocks = (n + scan_block - 1) / scan_block;
    scan_chain chain{reinterpret_cast<std::int64_t*>(scratch_ + g_.threads * room)};
    for_each_block(
        g_.threads, (blocks + scan_group - 1) / scan_group, [&](int worker, std::int64_t group) {
          const std::int64_t first = group * scan_group;
          const std::int64_t count = blocks - first < scan_group ? blocks - first : scan_group;
          try {
            blocks_of(scratch_ + worker * room, in, out, n, first, count, chain);
          } catch (...) {
            chain.fail();
            throw;
          }
          if (streams_) end_streaming();
        });
  }
  /// The blocks [first, first + count), a group of the chain.
  void blocks_of(std::byte* scratch, const std::byte* in, std::byte* out, std::int64_t n,
                 std::int64_t first, std::int64_t count, scan_chain& chain) {
    const std::int64_t group = first / scan_group;
    std::int64_t before[scan_group + 1];
    const auto carry = [&](std::int64_t i) { return first + i > 0 ? before + i : nullptr; };
    const auto publish = [&] {
      chain.carries[group] = before[count];
      chain.publish(group + 1);
    };
    if (chain.ready(group)) {
      if (group > 0) before[0] = chain.carries[group - 1];
      for (std::int64_t i = 0; i < count; ++i)
        block<true>(scratch, in, out, n, (first + i) * scan_block, carry(i), before + i + 1);
      return publish();
    }
    std::int64_t totals[scan_group], last[1];
    for (std::int64_t i = 0; i < count; ++i)
      block<false>(scratch, in, nullptr, n, (first + i) * scan_block, nullptr, totals + i);
    if (!chain.wait(group)) return;
    before[0] = chain.carries[group - 1];
    for (std::int64_t i = 0; i < count; ++i)
      p_.block({totals + i, before + i + 1, 1, 1, 1, before + i, before + i + 1});
    publish();
    for (std::int64_t i = 0; i < count; ++i)
      block<true>(scratch, in, out, n, (first + i) * scan_block, before + i, last);
  }
  /// The block from element `at` of a line on; its last result goes to `last`, the others only
  /// where they are kept. `carry` and `last` may be one place.
  template <bool Keep>
  void block(std::byte* scratch, const std::byte* in, std::byte* out, std::int64_t n,
             std::int64_t at, const void* carry, void* last) {
    const std::int64_t most = n < scan_block ? n : scan_block;
    std::byte *tile = scratch, *results = scratch + most * p_.bytes;
    const std::int64_t left = n - at, m = left < scan_block ? left : scan_block;
    const std::byte* from = in + at * in_step_ * p_.bytes;
    std::byte* to = Keep ? out + at * out_step_ * p_.bytes : nullptr;
    const bool gathers = body_ != nullptr || (in_step_ != 1 && in_step_ != -1);
    const bool direct = streams_ && reinterpret_cast<std::uintptr_t>(to) % 64 == 0;
    const bool aside = !Keep || (streams_ && !direct) || (out_step_ != 1 && out_step_ != -1);
    scan_run b{from,  to,   m,     static_cast<int>(in_step_), static_cast<int>(out_step_),
               carry, last, direct};
    if (gathers) {
      if (body_ != nullptr) body_->along(from, m, tile, scratch + line_bytes(accumulate_room(g_)));
      else gather_tile(tile, const_cast<std::byte*>(from), p_.bytes, &m, &in_step_, 1, 0, m);
      b.in = tile, b.in_step = 1;
    }
    if (aside) b.out = results, b.out_step = 1, b.past_caches = false;
    p_.block(b);
    if (!Keep || !aside) return;
    if (streams_) stream_out(to, results, m * p_.bytes);
    else scatter_tile(results, to, p_.bytes, &m, &out_step_, 1, 0, m);
  }
  /// `lines` lines side by side.
  void across(const std::byte* in, std::byte* out, std::int64_t n, std::int64_t lines) {
    const std::int64_t bytes = lines * p_.bytes;
    const std::int64_t step = from_[g_.kept - 1], out_step = to_[g_.kept - 1];
    std::byte *local = scratch_, *carry = local + bytes, *tile = carry + bytes,
              *results = tile + bytes;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::byte* from = in + i * in_step_ * p_.bytes;
      scan_line l{from,
                  local,
                  out + i * out_step_ * p_.bytes,
                  lines,
                  i % scan_block == 0,
                  i < scan_block ? nullptr : carry};
      if (body_ != nullptr) {
        body_->across(from, g_.kept - 1, lines, tile);
        l.in = tile;
      } else if (step != 1 && lines > 1) {
        gather_tile(tile, const_cast<std::byte*>(from), p_.bytes, &lines, &step, 1, 0, lines);
        l.in = tile;
      }
      if (out_step != 1 && lines > 1) {
        l.out = results;
        p_.across(l);
        scatter_tile(results, out + i * out_step_ * p_.bytes, p_.bytes, &lines, &out_step, 1, 0,
                     lines);
      } else {
        p_.across(l);
      }
      if ((i + 1) % scan_block == 0) std::memcpy(carry, l.out, static_cast<std::size_t>(bytes));
    }
  }

  const scan_program& p_;
  const geometry& g_;
  const body_input* body_;  // computes the input, or null
  std::byte* scratch_;
  std::byte *in_, *out_;
  const std::int64_t *from_, *to_;
  std::int64_t n_, in_step_, out_step_;
  bool streams_ = false;
};

template <class F, class T>
CALQUE_HIDDEN void launch_accumulate(const geometry& g, void* const* data, void* scratch) {
  if (g.threads > 1 && !shares_lines_inside(g))
    return share_lines(&launch_accumulate<F, T>, g, data, scratch, accumulate_room(g),
                       scans_across(g) ? shortest_scan : 1);
  const T identity = monoid<F, T>::identity();
  const scan_program p = scan_program_of<F, T>();
  accumulation(p, g, data, scratch).run(g.start != 0 ? &identity : nullptr);
}

/// The same of what body `P` computes.
template <class F, class T, class P>
CALQUE_HIDDEN void launch_accumulate_body(const geometry& g, void* const* data, void* scratch) {
  if (g.threads > 1 && !shares_lines_inside(g))
    return share_lines(&launch_accumulate_body<F, T, P>, g, data, scratch,
                       accumulate_worker<true>(g), scans_across(g) ? shortest_scan : 1);
  const T identity = monoid<F, T>::identity();
  const scan_program p = scan_program_of<F, T>();
  const body_input body(map_tile<P>(), g, dtype_of<T>, data,
                        static_cast<std::byte*>(scratch) + line_bytes(accumulate_room(g)));
  accumulation(p, g, data, scratch, &body).run(g.start != 0 ? &identity : nullptr);
}

/// The kernel of an operation along one axis on elements of type T; sorting has its own.
template <class F, class T>
struct line_kernel {
  static constexpr kernel_entry entry() {
    return {&launch_accumulate<F, T>, &accumulate_scratch<false>};
  }
};

}  // namespace calque::detail
