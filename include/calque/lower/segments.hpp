// A program in segments of one long instruction each, evaluated for a strip of windows segment by
// segment.
//
// The instructions of exp or erf wait for one another, and the processor looks ahead about as far
// as two of them. In a chain of such functions it would find the next window too late; the same
// function of the next window it finds at once. Values that later segments read wait in memory, in
// the first cache. Separate from lower/program.hpp, whose steps it runs in another order. Called by
// backend/cpu/map.hpp.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "calque/lower/program.hpp"

namespace calque::detail {

template <int D, class I>
struct numbered {
  using type = I;
};
template <class P, class Ds>
struct instructions;
template <class... I, int... D>
struct instructions<program<I...>, std::integer_sequence<int, D...>> : numbered<D, I>... {};
template <int D, class I>
numbered<D, I> find_instruction(const numbered<D, I>&);
template <class P, int D>
using instruction_at = typename decltype(find_instruction<D>(
    instructions<P, std::make_integer_sequence<int, P::size>>{}))::type;

template <class P>
struct segments;
template <class... I>
struct segments<program<I...>> {
  static constexpr int size = static_cast<int>(sizeof...(I));
  static constexpr int most_segments = 24;  // beyond, one: to keep compilation short
  struct plan {
    // by register: its segment, the last one that reads it, its place among values that wait
    int of[size + 1]{}, last[size + 1]{}, place[size + 1]{};
    // by segment: its first instruction, and where its part of `fetch` begins
    int first[size + 2]{}, first_fetch[size + 2]{};
    int fetch[3 * size + 1]{};  // registers that a segment reads and does not compute, each once
    int count = 1, waiting = 0;
  };
  static constexpr plan make() {
    plan p;
    int d = 0, longs = 0;
    const int all = ((weight_of<I> > 1 ? 1 : 0) + ... + 0);
    const bool splits = all <= most_segments;
    ((longs += splits && weight_of<I> > 1 ? 1 : 0, p.of[d++] = longs > 1 ? longs - 1 : 0), ...);
    p.count = longs > 1 ? longs : 1;
    for (d = size - 1; d >= 0; --d) p.first[p.of[d]] = d;
    p.first[p.count] = size;
    int fetched_by[size + 1]{};  // a segment's number, from 1
    int fetches = 0, begun = 0;
    d = 0;
    (read(p, d++, fetched_by, fetches, begun, I{}), ...);
    for (int k = begun; k <= p.count; ++k) p.first_fetch[k] = fetches;
    for (int k = 0; k < size; ++k)
      if (p.last[k] > p.of[k]) p.place[k] = p.waiting++;
    return p;
  }

 private:
  template <class J>
  static constexpr void read(plan& p, int d, int* fetched_by, int& fetches, int& begun, J) {
    for (; begun <= p.of[d]; ++begun) p.first_fetch[begun] = fetches;
    sources(J{}, [&](int src) {
      p.last[src] = p.of[d];
      if (p.of[src] == p.of[d] && !uniform_of<program<I...>>.of[src]) return;
      if (fetched_by[src] == p.of[d] + 1) return;
      fetched_by[src] = p.of[d] + 1;
      p.fetch[fetches++] = src;
    });
  }
  template <class Op, class Out, class In, int... Src, class F>
  static constexpr void sources(ins<Op, Out, In, Src...>, F f) {
    (f(Src), ...);
  }
  template <int K, class T, int Src, class F>
  static constexpr void sources(store<K, T, Src>, F f) {
    f(Src);
  }
  template <class Other, class F>
  static constexpr void sources(Other, F) {}
};
template <class P>
inline constexpr auto segments_of = segments<P>::make();

/// Windows of a strip: many, as long as what waits stays in the first cache.
template <class P>
inline constexpr int strip_windows = segments_of<P>.waiting < 16   ? 16
                                     : segments_of<P>.waiting < 32 ? 8
                                                                   : 4;

/// Values that wait for later segments, of one window.
template <int VB, class P>
struct waiting_room {
  alignas(64) std::byte value[segments_of<P>.waiting + 1][VB];
};

template <int D, int W, class P, class R, class Room>
CALQUE_INLINE void fetch_value(R& r, const R& uniform, const Room& room) {
  using T = typename instruction_at<P, D>::type;
  auto& v = at_reg<D, T, W>(r);
  if constexpr (uniform_of<P>.of[D]) v = at_reg<D, T, W>(uniform);
  else std::memcpy(&v, room.value[segments_of<P>.place[D]], sizeof(v));
}
template <int D, int W, class P, class R>
CALQUE_INLINE void step_of_segment(R& r, const lane_window& w) {
  if constexpr (!uniform_of<P>.of[D]) step<D, W, true>(instruction_at<P, D>{}, r, w);
}
template <int D, int W, class P, class R, class Room>
CALQUE_INLINE void leave_value(const R& r, Room& room) {
  constexpr auto& p = segments_of<P>;
  if constexpr (!uniform_of<P>.of[D] && p.last[D] > p.of[D]) {
    const auto& v = at_reg<D, typename instruction_at<P, D>::type, W>(r);
    std::memcpy(room.value[p.place[D]], &v, sizeof(v));
  }
}
// Only what a segment has to do with: a program of many segments would take the compiler long.
template <int S, int W, class P, class R, class Room, int... D, int... F>
CALQUE_INLINE void evaluate_segment(std::integer_sequence<int, D...>,
                                    std::integer_sequence<int, F...>, const R& uniform, Room& room,
                                    const lane_window& w) {
  constexpr auto& p = segments_of<P>;
  R r;
  (fetch_value<p.fetch[p.first_fetch[S] + F], W, P>(r, uniform, room), ...);
  (step_of_segment<p.first[S] + D, W, P>(r, w), ...);
  (leave_value<p.first[S] + D, W, P>(r, room), ...);
}
template <int S, int W, class P, class Room>
CALQUE_INLINE void run_segment(const registers<W, P>& uniform, Room* rooms, const lane_window& w,
                               int windows) {
  constexpr auto& p = segments_of<P>;
  using own = std::make_integer_sequence<int, p.first[S + 1] - p.first[S]>;
  using fetched = std::make_integer_sequence<int, p.first_fetch[S + 1] - p.first_fetch[S]>;
  for (int u = 0; u < windows; ++u)
    evaluate_segment<S, W, P>(own{}, fetched{}, uniform, rooms[u],
                              lane_window{w.data, w.i + u * W, w.n});
}
/// Computes what is not uniform for `windows` neighbouring windows, at most `strip_windows<P>`.
template <int W, class P, class Room, int... S>
CALQUE_INLINE void evaluate_strip(const registers<W, P>& uniform, Room* rooms, const lane_window& w,
                                  int windows, std::integer_sequence<int, S...>) {
  (run_segment<S, W, P>(uniform, rooms, w, windows), ...);
}

}  // namespace calque::detail
