// Declares C's functions so that g++ may call the vector forms of glibc's libmvec (4 ulp) in a
// loop, without -ffast-math. Included by peers where CMake found that this links
// (CALQUE_BENCH_LIBMVEC).
#pragma once

#include <cmath>

extern "C" {
__attribute__((simd("notinbranch"))) float expf(float) noexcept;
__attribute__((simd("notinbranch"))) float logf(float) noexcept;
__attribute__((simd("notinbranch"))) float tanhf(float) noexcept;
__attribute__((simd("notinbranch"))) float erff(float) noexcept;
}
