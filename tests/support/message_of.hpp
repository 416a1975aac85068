// What an error says.
#pragma once

#include <string>

#include <calque/core/error.hpp>

namespace calque::test {

/// The text of the error of type `E` that `f()` throws, or "" if it throws none. Others pass
/// through.
template <class E = calque::error, class F>
[[nodiscard]] std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

}  // namespace calque::test
