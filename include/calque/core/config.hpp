// The only file that tests compilers and platforms.
//
// Macros are 0/1 functions, so that a misspelt one is an error instead of a silent 0. No class
// layout depends on them; of inline bodies, the choice of a kernel for the processor and the way to
// the planner do. The options that a user may define are read here alone.
//
// What compiler options take away: without exceptions the library does not compile. Under
// -ffast-math and -ffinite-math-only the compiler assumes that there is no NaN and no infinity, so
// the promises about them (maximum, argmax, casts, empty means) do not hold; printing still does,
// and functions on lanes keep their accuracy.
#pragma once

// the pass of nvcc that compiles for the GPU has no exceptions and throws none
#if !defined(__cpp_exceptions) && !defined(__EXCEPTIONS) && !defined(__CUDA_ARCH__)
#error "calque reports errors by exceptions; compile without -fno-exceptions"
#endif

#if defined(__CUDACC__)
#define CALQUE_COMPILES_CUDA() 1
#define CALQUE_HD __host__ __device__
#else
#define CALQUE_COMPILES_CUDA() 0
/// Marks the few functions that run on a device as well as on the host.
#define CALQUE_HD
#endif

/// 1 in the pass of nvcc that compiles for the GPU.
#if defined(__CUDA_ARCH__)
#define CALQUE_ON_DEVICE() 1
#else
#define CALQUE_ON_DEVICE() 0
#endif

/// Whether loops for AVX2 and AVX-512 are compiled beside the baseline. CALQUE_BASELINE_ONLY leaves
/// them out: a third of the kernels to compile, for debugging and sanitizers.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(CALQUE_BASELINE_ONLY)
#define CALQUE_X86() 1
#else
#define CALQUE_X86() 0
#endif

#if defined(__linux__)
#define CALQUE_LINUX() 1
#else
#define CALQUE_LINUX() 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define CALQUE_ADDRESS_SANITIZER() 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALQUE_ADDRESS_SANITIZER() 1
#else
#define CALQUE_ADDRESS_SANITIZER() 0
#endif
#else
#define CALQUE_ADDRESS_SANITIZER() 0
#endif

/// Whether virtual devices close their memory while nothing of theirs runs, unless their spec says
/// otherwise: a program defines CALQUE_CHECK_DEVICES in all of its files, for tests.
#if defined(CALQUE_CHECK_DEVICES)
#define CALQUE_CHECKED() true
#else
#define CALQUE_CHECKED() false
#endif

#if defined(__clang__)
#define CALQUE_CLANG() 1
#else
#define CALQUE_CLANG() 0
#endif

/// Whether the compiler shuffles vectors by constant indices (nvcc's front end does not).
#if defined(__has_builtin) && !defined(__CUDACC__)
#if __has_builtin(__builtin_shufflevector)
#define CALQUE_SHUFFLES() 1
#endif
#endif
#if !defined(CALQUE_SHUFFLES)
#define CALQUE_SHUFFLES() 0
#endif

/// Inlined at every optimisation level: lane code takes vectors by reference and must never be a
/// call.
#define CALQUE_INLINE [[gnu::always_inline]] inline

/// Kernels and plan caches: one copy for each shared object, so differently compiled ones never
/// mix.
#define CALQUE_HIDDEN [[gnu::visibility("hidden")]]

/// Process-wide state (device table, log sink): one copy however the program hides its symbols.
#define CALQUE_SHARED [[gnu::visibility("default")]]

#if CALQUE_X86()
#define CALQUE_TARGET_AVX2 [[gnu::target("avx2,fma")]]
#define CALQUE_TARGET_AVX512 [[gnu::target("avx512f,avx512dq,avx512vl,avx512bw,fma")]]
#else
#define CALQUE_TARGET_AVX2
#define CALQUE_TARGET_AVX512
#endif

/// Functions that are the same for every traced function: the planner, the plan cache, walking
/// tiles. They are inline, or with CALQUE_SEPARATE_PLANNER compiled in the one file of the program
/// that also defines CALQUE_PLANNER_HERE (the CMake target `calque::separate_planner` does it all):
/// declared CALQUE_ONCE, defined only where CALQUE_DEFINES_ONCE() holds.
#if !defined(CALQUE_SEPARATE_PLANNER)
#define CALQUE_ONCE CALQUE_HIDDEN inline
#define CALQUE_DEFINES_ONCE() 1
#elif defined(CALQUE_PLANNER_HERE)
#define CALQUE_ONCE CALQUE_HIDDEN
#define CALQUE_DEFINES_ONCE() 1
#else
#define CALQUE_ONCE CALQUE_HIDDEN
#define CALQUE_DEFINES_ONCE() 0
#endif

/// x as it is written: nothing that is computed before it is joined with what comes after, also
/// under -ffast-math. For what tells how much a rounding has lost.
#if !defined(__FAST_MATH__) || CALQUE_COMPILES_CUDA()
#define CALQUE_AS_WRITTEN(...) (__VA_ARGS__)
#elif defined(__clang__)
#define CALQUE_AS_WRITTEN(...) __arithmetic_fence(__VA_ARGS__)
#else
#define CALQUE_AS_WRITTEN(...) __builtin_assoc_barrier(__VA_ARGS__)
#endif

namespace calque {

/// Largest rank of an array or a symbol.
inline constexpr int max_rank = 8;

/// Most arrays that one kernel reads and writes.
inline constexpr int max_operands = 64;

}  // namespace calque
