// Moves elements between the places of a lane: shifts, reversal, the last one everywhere,
// transposes of fours, halves.
//
// Separate from core/lanes.hpp because only running reductions and matrix products move elements
// across a lane. Where
// the compiler has no shuffle of its own vectors, elements go one by one: slower, the same result.
#pragma once

#include <utility>

#include "calque/core/config.hpp"
#include "calque/core/lane.hpp"

namespace calque::lanes {
namespace detail {

/// r[k] = element index(k) of a and b as one row of 2 W; r has as many as there are K.
template <class T, int W, class Index, int... K>
CALQUE_INLINE void shuffle(lane<T, static_cast<int>(sizeof...(K))>& r, const lane<T, W>& a,
                           const lane<T, W>& b, Index, std::integer_sequence<int, K...>) {
#if CALQUE_SHUFFLES()
  r = __builtin_shufflevector(a, b, Index::at(K)...);
#else
  lane<T, static_cast<int>(sizeof...(K))> out{};
  ((out[K] = Index::at(K) < W ? a[Index::at(K) % W] : b[Index::at(K) % W]), ...);
  r = out;
#endif
}

template <int W, int D>
struct shift_index {
  static constexpr int at(int k) { return k < D ? k : W + k - D; }
};
template <int W, int D>
struct keep_index {
  static constexpr int at(int k) { return k < D ? k : W + k; }
};
template <int W, int First>
struct every_other_index {
  static constexpr int at(int k) { return 2 * k + First; }
};
template <int First>
struct from_index {
  static constexpr int at(int k) { return First + k; }
};
// Groups of four: elements First and First + 1 of a and b in turn, or in pairs.
template <int W, int First>
struct in_turn_index {
  static constexpr int at(int k) { return k / 4 * 4 + First + k % 4 / 2 + k % 2 * W; }
};
template <int W, int First>
struct in_pairs_index {
  static constexpr int at(int k) { return k / 4 * 4 + First + k % 2 + k % 4 / 2 * W; }
};
template <int W>
struct last_index {
  static constexpr int at(int) { return W - 1; }
};
template <int W>
struct reverse_index {
  static constexpr int at(int k) { return W - 1 - k; }
};

}  // namespace detail

/// The elements moved up by D places; below them those of `fill`.
template <class T, int W, int D>
CALQUE_INLINE void shift_up(lane<T, W>& r, const lane<T, W>& v, const lane<T, W>& fill) {
  detail::shuffle<T, W>(r, fill, v, detail::shift_index<W, D>{},
                        std::make_integer_sequence<int, W>{});
}
/// The first D elements of `a`, then those of `b`.
template <class T, int W, int D>
CALQUE_INLINE void keep_first(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  detail::shuffle<T, W>(r, a, b, detail::keep_index<W, D>{}, std::make_integer_sequence<int, W>{});
}
/// Every other element of `a` and `b` in a row, from the first (0) or the second one (1).
template <class T, int W, int First>
CALQUE_INLINE void every_other(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  detail::shuffle<T, W>(r, a, b, detail::every_other_index<W, First>{},
                        std::make_integer_sequence<int, W>{});
}
/// All elements of `a`, then those of `b`.
template <class T, int W>
CALQUE_INLINE void join(lane<T, 2 * W>& r, const lane<T, W>& a, const lane<T, W>& b) {
  detail::shuffle<T, W>(r, a, b, detail::from_index<0>{}, std::make_integer_sequence<int, 2 * W>{});
}
/// The first half of the elements (0), or the second one (1).
template <class T, int W, int Half>
CALQUE_INLINE void half(lane<T, W / 2>& r, const lane<T, W>& v) {
  detail::shuffle<T, W>(r, v, v, detail::from_index<Half * W / 2>{},
                        std::make_integer_sequence<int, W / 2>{});
}
/// In each group of four elements, rows become columns: element q of lane p goes to element p of
/// lane q.
template <class T, int W>
CALQUE_INLINE void transpose_fours(lane<T, W>& a, lane<T, W>& b, lane<T, W>& c, lane<T, W>& d) {
  constexpr std::make_integer_sequence<int, W> all{};
  lane<T, W> ab_low, ab_high, cd_low, cd_high;
  detail::shuffle<T, W>(ab_low, a, b, detail::in_turn_index<W, 0>{}, all);
  detail::shuffle<T, W>(ab_high, a, b, detail::in_turn_index<W, 2>{}, all);
  detail::shuffle<T, W>(cd_low, c, d, detail::in_turn_index<W, 0>{}, all);
  detail::shuffle<T, W>(cd_high, c, d, detail::in_turn_index<W, 2>{}, all);
  detail::shuffle<T, W>(a, ab_low, cd_low, detail::in_pairs_index<W, 0>{}, all);
  detail::shuffle<T, W>(b, ab_low, cd_low, detail::in_pairs_index<W, 2>{}, all);
  detail::shuffle<T, W>(c, ab_high, cd_high, detail::in_pairs_index<W, 0>{}, all);
  detail::shuffle<T, W>(d, ab_high, cd_high, detail::in_pairs_index<W, 2>{}, all);
}
/// The last element in every place.
template <class T, int W>
CALQUE_INLINE void spread_last(lane<T, W>& r, const lane<T, W>& v) {
  detail::shuffle<T, W>(r, v, v, detail::last_index<W>{}, std::make_integer_sequence<int, W>{});
}
template <class T, int W>
CALQUE_INLINE void reverse(lane<T, W>& r, const lane<T, W>& v) {
  detail::shuffle<T, W>(r, v, v, detail::reverse_index<W>{}, std::make_integer_sequence<int, W>{});
}

}  // namespace calque::lanes
