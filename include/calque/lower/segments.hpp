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

template <class P>
struct segments;
template <class... I>
struct segments<program<I...>> {
  static constexpr int size = static_cast<int>(sizeof...(I));
  /// By register: its segment, the last one that reads it, and its place among values that wait.
  struct plan {
    int of[size + 1]{}, last[size + 1]{}, place[size + 1]{};
    int count = 1, waiting = 0;
  };
  static constexpr plan make() {
    plan p;
    int d = 0, longs = 0;
    ((longs += weight_of<I> > 1 ? 1 : 0, p.of[d++] = longs > 1 ? longs - 1 : 0), ...);
    p.count = longs > 1 ? longs : 1;
    d = 0;
    (read(p, d++, I{}), ...);
    for (int k = 0; k < size; ++k)
      if (p.last[k] > p.of[k]) p.place[k] = p.waiting++;
    return p;
  }

 private:
  template <class Op, class Out, class In, int... Src>
  static constexpr void read(plan& p, int d, ins<Op, Out, In, Src...>) {
    ((p.last[Src] = p.of[d]), ...);
  }
  template <int K, class T, int Src>
  static constexpr void read(plan& p, int d, store<K, T, Src>) {
    p.last[Src] = p.of[d];
  }
  template <class Other>
  static constexpr void read(plan&, int, Other) {}
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

template <int S, int D, int W, class P, class I, class R, class Room>
CALQUE_INLINE void fetch_value(R& r, const R& uniform, const Room& room) {
  constexpr auto& p = segments_of<P>;
  auto& v = at_reg<D, typename I::type, W>(r);
  if constexpr (uniform_of<P>.of[D]) {
    v = at_reg<D, typename I::type, W>(uniform);
  } else if constexpr (p.of[D] < S && p.last[D] >= S) {
    std::memcpy(&v, room.value[p.place[D]], sizeof(v));
  }
}
template <int S, int D, int W, class P, class I, class R>
CALQUE_INLINE void step_of_segment(R& r, const lane_window& w) {
  if constexpr (!uniform_of<P>.of[D] && segments_of<P>.of[D] == S) step<D, W, true>(I{}, r, w);
}
template <int S, int D, int W, class P, class I, class R, class Room>
CALQUE_INLINE void leave_value(const R& r, Room& room) {
  constexpr auto& p = segments_of<P>;
  if constexpr (!uniform_of<P>.of[D] && p.of[D] == S && p.last[D] > S) {
    const auto& v = at_reg<D, typename I::type, W>(r);
    std::memcpy(room.value[p.place[D]], &v, sizeof(v));
  }
}
template <int S, int W, class... I, class R, class Room, int... D>
CALQUE_INLINE void evaluate_segment(program<I...>, std::integer_sequence<int, D...>,
                                    const R& uniform, Room& room, const lane_window& w) {
  R r;
  (fetch_value<S, D, W, program<I...>, I>(r, uniform, room), ...);
  (step_of_segment<S, D, W, program<I...>, I>(r, w), ...);
  (leave_value<S, D, W, program<I...>, I>(r, room), ...);
}
template <int S, int W, class P, class Room>
CALQUE_INLINE void run_segment(const registers<W, P>& uniform, Room* rooms, const lane_window& w,
                               int windows) {
  for (int u = 0; u < windows; ++u)
    evaluate_segment<S, W>(P{}, std::make_integer_sequence<int, P::size>{}, uniform, rooms[u],
                           lane_window{w.data, w.i + u * W, w.n});
}
/// Computes what is not uniform for `windows` neighbouring windows, at most `strip_windows<P>`.
template <int W, class P, class Room, int... S>
CALQUE_INLINE void evaluate_strip(const registers<W, P>& uniform, Room* rooms, const lane_window& w,
                                  int windows, std::integer_sequence<int, S...>) {
  (run_segment<S, W, P>(uniform, rooms, w, windows), ...);
}

}  // namespace calque::detail
