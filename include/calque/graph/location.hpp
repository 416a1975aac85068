// The place in a user's program that a node comes from: what errors and dumps name.
//
// Separate, since functions of arrays take one before there is a graph to build.
#pragma once

namespace calque {

/// Where a piece of user code stands, and which function composed of others it calls there.
struct location {
  int line = 0;
  const char* file = nullptr;
  const char* function = nullptr;

  /// The same place inside function `name`; what the user called keeps its name.
  [[nodiscard]] constexpr location in(const char* name) const {
    return {line, file, function ? function : name};
  }
  /// The same place outside any.
  [[nodiscard]] constexpr location alone() const { return {line, file, nullptr}; }
};

}  // namespace calque
