// The state of a random number generator, as a variable of two words: seed, and draws so far.
#pragma once

#include <cstdint>

#include "calque/array/variable.hpp"

namespace calque {

/// A generator: passed to traced functions like a variable, or to `cq::random` functions outside.
/// Copies name the same state. The same seed and the same draws give the same numbers, on every
/// machine and at every call: float and double uniform numbers to the bit, normal ones within
/// rounding.
///
///   cq::rng state{42};
///   auto noise = cq::random::normal<float>(state, cq::shape{100});
class rng : public variable<std::uint64_t, 1> {
 public:
  explicit rng(std::uint64_t seed) : variable(array<std::uint64_t, 1>{seed, 0}, "rng") {}

  /// Starts again, with the numbers of `seed`.
  void seed(std::uint64_t seed) const { assign(array<std::uint64_t, 1>{seed, 0}); }
};

}  // namespace calque
