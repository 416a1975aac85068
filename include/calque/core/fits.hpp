// Whether an integer can become an element of an array: by its value, not by its type.
//
// In a traced body the compiler refuses a literal that does not fit (graph/fault.hpp). This is the
// same rule for numbers at run time, so that none wraps in silence. Called by the constructors and
// factories of arrays, and by the operators on them.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "calque/core/dtype.hpp"
#include "calque/core/error.hpp"
#include "calque/core/saturate.hpp"

namespace calque::detail {

/// Does an element of type `To` hold `x`? Bool and floating types take every number.
template <class To, class From>
[[nodiscard]] constexpr bool fits(From x) {
  if constexpr (std::integral<To> && std::integral<From> && !std::same_as<To, bool> &&
                !std::same_as<From, bool>)
    return std::in_range<To>(x);
  else return true;
}

/// `where`: the array, or its type alone: "i32[2]", "u8".
[[noreturn, gnu::noinline]] inline void throw_unfit(const char* op, const std::string& number,
                                                    const std::string& where, const char* remedy) {
  throw dtype_error(std::string(op) + ": " + number + " does not fit " + where + "; " + remedy);
}

/// A number as an element, rounded once; throws `dtype_error` for an integer that does not fit.
template <class To, class From>
[[nodiscard]] constexpr To checked_element(From x, const char* op) {
  if (!fits<To>(x)) [[unlikely]]
    throw_unfit(op, std::to_string(x), std::string(name_of(dtype_of<To>)),
                "take a wider element type, or cast the number");
  return saturate_cast<To>(x);
}

}  // namespace calque::detail
