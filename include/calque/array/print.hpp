// `std::cout << a`: arrays printed as NumPy prints them by default.
//
// Rows in brackets, lines of 75 columns, more than 1000 elements shortened to 3 at each edge.
// Elements are formatted by format.hpp; here is the layout only. Included by programs that print.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "calque/array/access.hpp"
#include "calque/array/format.hpp"

namespace calque {

namespace detail {

inline constexpr std::int64_t print_threshold = 1000, print_edge = 3;
inline constexpr int print_width = 75;

/// Lays out one array. An index is kept as a pointer to its first element.
template <class T>
class array_printer {
 public:
  array_printer(const std::int64_t* extents, const std::int64_t* strides, int rank, bool shorten)
      : extents_(extents), strides_(strides), rank_(rank), shorten_(shorten) {}

  [[nodiscard]] std::string print(const T* data) const {
    std::int64_t shown = 1;
    for (int axis = 0; axis < rank_; ++axis)
      shown *= shortened(axis) ? 2 * print_edge : extents_[axis];
    // not a vector: that of bool has no elements to point at
    const auto values = std::make_unique<T[]>(static_cast<std::size_t>(shown));
    T* next = values.get();
    collect(data, 0, next);
    const element_format<T> format({values.get(), static_cast<std::size_t>(shown)});
    return block(data, 0, " ", print_width, format);
  }

 private:
  [[nodiscard]] bool shortened(int axis) const {
    return shorten_ && extents_[axis] > 2 * print_edge;
  }

  /// Calls f(index) for the shown indices of an axis; -1 stands for the gap.
  template <class F>
  void each(int axis, F f) const {
    const std::int64_t n = extents_[axis];
    const std::int64_t head = shortened(axis) ? print_edge : n;
    for (std::int64_t i = 0; i < head; ++i) f(i);
    if (head == n) return;
    f(std::int64_t{-1});
    for (std::int64_t i = n - print_edge; i < n; ++i) f(i);
  }

  void collect(const T* data, int axis, T*& to) const {
    if (axis == rank_) {
      *to++ = *data;
      return;
    }
    each(axis, [&](std::int64_t i) {
      if (i >= 0) collect(data + i * strides_[axis], axis + 1, to);
    });
  }

  [[nodiscard]] std::string block(const T* data, int axis, const std::string& indent, int width,
                                  const element_format<T>& format) const {
    const bool last_axis = axis == rank_ - 1;
    const auto room = static_cast<std::size_t>(width - 1);  // the last column is for a bracket
    const std::string separator(last_axis ? 0 : static_cast<std::size_t>(rank_ - 1 - axis), '\n');
    std::string text, line = indent;
    each(axis, [&](std::int64_t i) {
      const T* const at = data + (i < 0 ? 0 : i) * strides_[axis];
      if (last_axis) {
        const std::string word = i < 0 ? "..." : format(*at);
        if (line.size() + word.size() > room && line.size() > indent.size()) {
          text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
          line = indent;
        }
        line += word;
        if (i != extents_[axis] - 1) line += ' ';
      } else {
        text += indent + (i < 0 ? "..." : block(at, axis + 1, indent + ' ', width - 1, format));
        if (i != extents_[axis] - 1) text += separator;
      }
    });
    if (last_axis) text += line;
    return '[' + text.substr(indent.size()) + ']';
  }

  const std::int64_t* extents_;
  const std::int64_t* strides_;
  int rank_;
  bool shorten_;
};

}  // namespace detail

/// The text that `std::cout << a` prints; elements on another device are copied to the host first.
template <class T, int Rank>
[[nodiscard]] std::string to_string(const array<T, Rank>& a) {
  using value = std::remove_const_t<T>;
  if (!a.device().is_host()) return to_string(a.to({}));
  [[maybe_unused]] const value* const data = a.data();
  if constexpr (Rank == 0) {
    return detail::format_scalar(*data);
  } else {
    if (a.size() == 0) return "[]";
    return detail::array_printer<value>(detail::array_access::extents(a), a.strides().data(), Rank,
                                        a.size() > detail::print_threshold)
        .print(data);
  }
}

template <class T, int Rank>
std::ostream& operator<<(std::ostream& out, const array<T, Rank>& a) {
  return out << to_string(a);
}

}  // namespace calque
