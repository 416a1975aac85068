// One training step compiled by two levels of optimisation (debug_step.cpp, built twice), each in a
// shared library of its own, so that no inline function of one build serves the other.
#pragma once

#include <cstdint>

#if !defined(CALQUE_BENCH_BUILD)
#define CALQUE_BENCH_BUILD optimised
#endif

namespace debug {
namespace optimised {
/// Trains one step on a batch of 100 rows of 784 numbers; gives the loss.
float step(const float* images, const std::int32_t* labels);
}  // namespace optimised
namespace unoptimised {
float step(const float* images, const std::int32_t* labels);
}
}  // namespace debug
