// `shape{…}`: the extents of an array, and the checked arithmetic on them.
//
// `shape{n, 3}` takes any integer types. With a symbolic extent among its values (`x.extent(0)`
// inside a traced function) it becomes a symbolic shape; that type lives in trace/.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "calque/core/config.hpp"
#include "calque/core/error.hpp"

namespace calque {

namespace detail {

template <class... E>
struct common_extent {
  using type = std::int64_t;
};
template <class E, class... Rest>
struct common_extent<E, Rest...> {
  static constexpr auto pick() {
    if constexpr (requires { typename E::extent_type; })
      return std::type_identity<typename E::extent_type>{};
    else return std::type_identity<typename common_extent<Rest...>::type>{};
  }
  using type = typename decltype(pick())::type;
};

template <std::integral I>
constexpr std::int64_t checked_extent(I value) {
  if constexpr (std::is_unsigned_v<I> && sizeof(I) >= sizeof(std::int64_t)) {
    if (value > static_cast<I>(std::numeric_limits<std::int64_t>::max()))
      throw shape_error("shape: extent " + std::to_string(value) + " does not fit 63 bits");
  }
  if constexpr (std::is_signed_v<I>) {
    if (value < 0)
      throw shape_error("shape: extent " + std::to_string(value) +
                        " is negative; extents count elements and start at 0");
  }
  return static_cast<std::int64_t>(value);
}

template <class Extent, class E>
constexpr Extent to_extent(const E& e) {
  if constexpr (std::is_same_v<Extent, std::int64_t>) return checked_extent(e);
  else return Extent(e);
}

/// Product that throws `shape_error` past 63 bits; a zero extent makes it 0 whatever the others
/// are.
template <class Range>
constexpr std::int64_t checked_product(const Range& extents, const char* what) {
  std::int64_t n = 1;
  for (std::int64_t e : extents)
    if (e == 0) return 0;
  for (std::int64_t e : extents)
    if (__builtin_mul_overflow(n, e, &n))
      throw shape_error(std::string(what) + ": the extents multiply to more than 2^63 - 1");
  return n;
}

}  // namespace detail

/// Extents of a rank-`Rank` array. `Extent` is `std::int64_t`, or a symbolic extent inside a trace.
///
///   cq::shape s{rows, 3};      // any integer types, checked
template <int Rank, class Extent = std::int64_t>
class shape {
  static_assert(Rank >= 0 && Rank <= max_rank, "calque::shape: rank must be 0 to 8");

 public:
  using extent_value = Extent;

  constexpr shape() = default;

  /// Throws `shape_error` for a negative extent or one that does not fit 63 bits.
  template <class... E>
    requires(sizeof...(E) == Rank && Rank > 0 &&
             ((std::integral<E> || !std::is_same_v<Extent, std::int64_t>) && ...))
  constexpr explicit shape(const E&... extents) : extents_{detail::to_extent<Extent>(extents)...} {}

  constexpr explicit shape(const std::array<Extent, Rank>& extents) : extents_(extents) {
    if constexpr (std::is_same_v<Extent, std::int64_t>)
      for (std::int64_t e : extents_) (void)detail::checked_extent(e);
  }

  [[nodiscard]] static constexpr int rank() { return Rank; }
  [[nodiscard]] constexpr Extent operator[](int axis) const {
    return extents_[static_cast<std::size_t>(axis)];
  }
  [[nodiscard]] constexpr const Extent* begin() const { return extents_.data(); }
  [[nodiscard]] constexpr const Extent* end() const { return extents_.data() + Rank; }
  [[nodiscard]] constexpr const std::array<Extent, Rank>& extents() const { return extents_; }

  /// Number of elements; throws `shape_error` past 63 bits.
  [[nodiscard]] constexpr std::int64_t size() const
    requires std::same_as<Extent, std::int64_t>
  {
    return detail::checked_product(extents_, "shape");
  }

  friend constexpr bool operator==(const shape&, const shape&) = default;

 private:
  std::array<Extent, Rank> extents_{};
};

template <class... E>
shape(E...) -> shape<static_cast<int>(sizeof...(E)), typename detail::common_extent<E...>::type>;
template <class Extent, std::size_t N>
shape(std::array<Extent, N>) -> shape<static_cast<int>(N), Extent>;

namespace detail {

/// An entry of the braced list `{n, 3}`: any integer type, checked as `shape{n, 3}` checks it.
struct listed_extent {
  std::int64_t value;
  template <std::integral I>
  constexpr listed_extent(I extent) : value(checked_extent(extent)) {}
};
template <std::size_t Rank>
constexpr shape<static_cast<int>(Rank)> listed_shape(const listed_extent (&list)[Rank]) {
  std::array<std::int64_t, Rank> extents{};
  for (std::size_t i = 0; i < Rank; ++i) extents[i] = list[i].value;
  return shape<static_cast<int>(Rank)>(extents);
}

}  // namespace detail

/// "[64, 128]"; "[]" for rank 0.
[[nodiscard]] inline std::string to_string(const std::int64_t* extents, int rank) {
  std::string s = "[";
  for (int i = 0; i < rank; ++i) {
    if (i) s += ", ";
    s += std::to_string(extents[i]);
  }
  return s + "]";
}
template <int Rank>
[[nodiscard]] std::string to_string(const shape<Rank>& s) {
  return to_string(s.begin(), Rank);
}

}  // namespace calque
