// Elements as text: NumPy's rules for one number among the others of an array.
//
// Digits come from std::to_chars and kinds of numbers from their bits: no locale has a say, nor
// what the compiler assumes of floating values (-ffast-math). Apart from print.hpp, which only lays
// out rows. Called by print.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "calque/core/dtype.hpp"

namespace calque::detail {

inline constexpr int print_precision = 8;  // digits after the point

template <class... Format>
[[nodiscard]] std::string digits(Format... format) {
  char text[512];  // the longest: a double below 1e308 with 8 digits after the point
  const auto end = std::to_chars(text, text + sizeof text, format...).ptr;
  return {text, end};
}

[[nodiscard]] inline std::string padded_left(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

/// |x| as an unsigned number: the bits of floating values are in the order of their magnitudes.
template <std::floating_point T>
[[nodiscard]] constexpr auto magnitude(T x) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return static_cast<bits>(static_cast<bits>(std::bit_cast<bits>(x) << 1) >> 1);
}
template <std::floating_point T>
inline constexpr auto infinite_magnitude = magnitude(std::numeric_limits<T>::max()) + 1;
template <std::floating_point T>
[[nodiscard]] constexpr bool is_finite(T x) {
  return magnitude(x) < infinite_magnitude<T>;
}
template <std::floating_point T>
[[nodiscard]] constexpr bool negative(T x) {
  return std::bit_cast<decltype(magnitude(x))>(x) != magnitude(x);
}

/// "nan", "inf", "-inf".
template <std::floating_point T>
[[nodiscard]] std::string special_value(T x) {
  return magnitude(x) > infinite_magnitude<T> ? "nan" : negative(x) ? "-inf" : "inf";
}

/// A number split at its point: "-12", "5", and the exponent with its sign ("" without one).
struct split_number {
  std::string whole, fraction, exponent;
};

[[nodiscard]] inline split_number split(std::string_view text) {
  split_number s;
  if (const auto e = text.find('e'); e != text.npos) {
    s.exponent = text.substr(e + 1);
    text = text.substr(0, e);
  }
  const auto point = text.find('.');
  s.whole = text.substr(0, point);
  if (point != text.npos) s.fraction = text.substr(point + 1);
  return s;
}

/// The shortest digits that read back as `x`, cut (by correct rounding) to the print precision.
template <std::floating_point T>
[[nodiscard]] split_number shortest(T x, std::chars_format style) {
  split_number s = split(digits(x, style));
  if (s.fraction.size() > print_precision) s = split(digits(x, style, print_precision));
  while (!s.fraction.empty() && s.fraction.back() == '0') s.fraction.pop_back();
  return s;
}

/// One width and one notation for all numbers of an array.
template <class T>
class element_format;

template <std::floating_point T>
class element_format<T> {
 public:
  explicit element_format(std::span<const T> values) {
    choose_notation(values);
    bool any_finite = false, all_finite = true, negative_infinity = false;
    for (T x : values) {
      if (!is_finite(x)) {
        all_finite = false;
        negative_infinity = negative_infinity || special_value(x) == "-inf";
        continue;
      }
      any_finite = true;
      const split_number s = shortest(x, style_);
      left_ = std::max(left_, s.whole.size());
      fraction_ = std::max(fraction_, s.fraction.size());
      exponent_ = std::max(exponent_, s.exponent.size());
    }
    right_ = style_ == std::chars_format::scientific && any_finite ? fraction_ + 1 + exponent_
                                                                   : fraction_;
    if (!all_finite) {
      const std::size_t longest = negative_infinity ? 4 : 3;
      if (longest > right_ + 1) left_ = std::max(left_, longest - right_ - 1);
    }
  }

  [[nodiscard]] std::string operator()(T x) const {
    if (!is_finite(x)) return padded_left(special_value(x), left_ + right_ + 1);
    if (style_ == std::chars_format::scientific) {
      // all to the same number of digits, also those whose shortest form has fewer
      split_number s = split(digits(x, style_, static_cast<int>(fraction_)));
      s.exponent.insert(1, exponent_ - s.exponent.size(), '0');  // between its sign and its digits
      return padded_left(s.whole, left_) + '.' + s.fraction + 'e' + s.exponent;
    }
    const split_number s = shortest(x, style_);
    std::string text = padded_left(s.whole, left_) + '.' + s.fraction;
    text.append(fraction_ - s.fraction.size(), ' ');
    return text;
  }

 private:
  void choose_notation(std::span<const T> values) {
    auto largest = magnitude(T(0)), smallest = infinite_magnitude<T>;
    for (T x : values) {
      if (!is_finite(x) || magnitude(x) == 0) continue;
      largest = std::max(largest, magnitude(x));
      smallest = std::min(smallest, magnitude(x));
    }
    if (largest == 0) return;
    constexpr T cutoff = std::numeric_limits<T>::digits10 < print_precision ? T(1e6) : T(1e8);
    if (largest >= magnitude(cutoff) || smallest < magnitude(T(0.0001)) ||
        std::bit_cast<T>(largest) / std::bit_cast<T>(smallest) > T(1000))
      style_ = std::chars_format::scientific;
  }

  std::chars_format style_ = std::chars_format::fixed;
  std::size_t left_ = 0, right_ = 0, fraction_ = 0, exponent_ = 0;
};

template <std::integral T>
class element_format<T> {
 public:
  explicit element_format(std::span<const T> values) {
    for (T x : values) width_ = std::max(width_, digits(x).size());
  }
  [[nodiscard]] std::string operator()(T x) const { return padded_left(digits(x), width_); }

 private:
  std::size_t width_ = 0;
};

template <>
class element_format<bool> {
 public:
  explicit element_format(std::span<const bool>) {}
  [[nodiscard]] std::string operator()(bool x) const { return x ? " True" : "False"; }
};

/// A number on its own, as Python prints a scalar.
template <element T>
[[nodiscard]] std::string format_scalar(T x) {
  if constexpr (std::same_as<T, bool>) {
    return x ? "True" : "False";
  } else if constexpr (std::integral<T>) {
    return digits(x);
  } else {
    if (!is_finite(x)) return special_value(x);
    constexpr double cutoff = std::numeric_limits<T>::digits10 < print_precision ? 1e6 : 1e16;
    const auto size = magnitude(double{x});
    if (magnitude(x) != 0 && (size < magnitude(1e-4) || size >= magnitude(cutoff)))
      return digits(x, std::chars_format::scientific);
    const std::string text = digits(x, std::chars_format::fixed);
    return text.find('.') == text.npos ? text + ".0" : text;
  }
}

}  // namespace calque::detail
