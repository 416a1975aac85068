// Exceptions. Every message is one sentence: operation, operands with dtype and shape, remedy.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "calque/core/config.hpp"

namespace calque {

/// Base of every exception of the library but `out_of_memory`.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Extents that do not fit: mismatched operands, negative sizes, overflowing byte counts.
struct shape_error : error {
  using error::error;
};
/// An element type that an operation does not take.
struct dtype_error : error {
  using error::error;
};
/// Memory that overlaps where it may not: one variable twice with a write, overlapping results.
struct alias_error : error {
  using error::error;
};
/// An index outside its axis.
struct index_error : error {
  using error::error;
};
/// A value used before it was given one: uninitialised variable, unset symbol, null memory.
struct value_error : error {
  using error::error;
};
/// A device that does not exist or cannot do what was asked.
struct device_error : error {
  using error::error;
};

/// A device that has no kernel for what it was asked to compute.
struct placement_error : error {
  using error::error;
};

/// Memory ran out; derives from `std::bad_alloc` so that existing handlers catch it.
class out_of_memory : public std::bad_alloc {
 public:
  explicit out_of_memory(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace calque
