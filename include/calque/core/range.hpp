// `range{lo, hi, step}`: what `slice` keeps of one axis.
//
// Separate from the views because symbolic slices use it as well: a bound may be an extent that
// only the plan knows. Resolved by the views of arrays, by plans and by the interpreter.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

#include "calque/core/error.hpp"

namespace calque {

class builder;

namespace detail {

/// The symbol of an integer: what `x.extent(0) / 2` is inside a traced function.
template <class S>
concept symbolic_bound = requires(const S& s) {
  { s.b } -> std::convertible_to<builder*>;
  { s.id } -> std::convertible_to<std::int32_t>;
  requires std::integral<typename S::value_type>;
};
template <class B>
concept range_bound = std::integral<B> || symbolic_bound<B>;

}  // namespace detail

/// Indices lo, lo + step, … before hi. Negative bounds count from the end, bounds past the axis are
/// clamped to it, `range::open` stands for the end that the step comes from or runs to; `range{}`
/// is the whole axis, `range{range::open, range::open, -1}` the axis reversed. Step 0 throws.
///
/// Inside a traced function a bound may also be made of extents: `cq::range{0, x.extent(0) / 2}`.
struct range {
  static constexpr std::int64_t open = std::numeric_limits<std::int64_t>::min();

  std::int64_t lo = open, hi = open, step = 1;
  builder* trace = nullptr;  // that of the symbols, if a bound is one
  std::int32_t symbolic_lo = -1, symbolic_hi = -1;

  constexpr range() = default;
  /// Any integer types; values past 63 bits are clamped.
  template <detail::range_bound L>
  constexpr explicit range(L first) {
    set(first, lo, symbolic_lo);
  }
  template <detail::range_bound L, detail::range_bound H>
  constexpr range(L first, H last) {
    set(first, lo, symbolic_lo);
    set(last, hi, symbolic_hi);
  }
  template <detail::range_bound L, detail::range_bound H, std::integral S>
  constexpr range(L first, H last, S by) : range(first, last) {
    step = clamped(by);
    if (step == 0) throw shape_error("range: the step is 0; give a positive or a negative one");
  }

  friend constexpr bool operator==(const range&, const range&) = default;

 private:
  template <class B>
  constexpr void set(const B& bound, std::int64_t& number, std::int32_t& symbol) {
    if constexpr (std::integral<B>) {
      number = clamped(bound);
    } else {
      trace = bound.b;
      symbol = bound.id;
    }
  }
  static constexpr std::int64_t clamped(std::integral auto value) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return std::cmp_greater(value, most) ? most : static_cast<std::int64_t>(value);
  }
};

namespace detail {

/// A range on an axis of known extent: `count` indices from `first` on, `step` apart.
struct resolved_range {
  std::int64_t first, count, step;
};

[[nodiscard]] constexpr resolved_range resolve(const range& r, std::int64_t extent) {
  if (r.trace)
    throw value_error(
        "range: a bound is made of the symbols of a traced function; give numbers to slice an "
        "array");
  if (r.step == 0) throw shape_error("range: the step is 0; give a positive or a negative one");
  const bool up = r.step > 0;
  const std::int64_t least = up ? 0 : -1, most = up ? extent : extent - 1;
  const auto bound = [&](std::int64_t b, std::int64_t otherwise) {
    if (b == range::open) return otherwise;
    if (b < 0) b += extent;
    return b < least ? least : b > most ? most : b;
  };
  const std::int64_t first = bound(r.lo, up ? least : most);
  const std::int64_t last = bound(r.hi, up ? most : least);
  const std::int64_t length = up ? last - first : first - last;
  if (length <= 0) return {0, 0, r.step};
  // unsigned, so that the most negative step has a magnitude
  const auto magnitude = up ? static_cast<std::uint64_t>(r.step)
                            : std::uint64_t{0} - static_cast<std::uint64_t>(r.step);
  const auto steps = (static_cast<std::uint64_t>(length) - 1) / magnitude;
  return {first, static_cast<std::int64_t>(steps) + 1, r.step};
}

}  // namespace detail
}  // namespace calque
