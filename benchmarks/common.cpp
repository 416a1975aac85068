// The floors, measured in every program: how fast this machine copies, and how fast one core
// multiplies and adds. A row's time is compared with the better of each kind.
#include "benchmarks/common.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

constexpr std::int64_t copied = 10'000'000;

struct blocks {
  buffer<float> from{copied, 1.f}, to{copied};
};
blocks& shared() {
  static blocks b;
  return b;
}

void copy_by(benchmark::State& state, void (*copy)(const float*, float*)) {
  blocks& b = shared();
  for (auto _ : state) {
    copy(b.from.data(), b.to.data());
    benchmark::ClobberMemory();
  }
  state.counters["bytes"] = 2. * sizeof(float) * copied;
}
void copy_memcpy(const float* from, float* to) { std::memcpy(to, from, copied * sizeof(float)); }

constexpr std::int64_t rounds = 100'000;
constexpr int chains = 12;  // more than latency times width of any core so far

template <int Lanes>
void fma_by(benchmark::State& state, float (*fma)(float, float)) {
  float a = 0.999f, b = 0.001f;
  for (auto _ : state) {
    benchmark::DoNotOptimize(a);
    float r = fma(a, b);
    benchmark::DoNotOptimize(r);
  }
  state.counters["flops"] = 2. * Lanes * chains * rounds;
}

#if defined(__x86_64__)
void copy_streaming(const float* from, float* to) {
  for (std::int64_t i = 0; i < copied; i += 16) {
    const __m128 p = _mm_load_ps(from + i), q = _mm_load_ps(from + i + 4);
    const __m128 r = _mm_load_ps(from + i + 8), s = _mm_load_ps(from + i + 12);
    _mm_stream_ps(to + i, p);
    _mm_stream_ps(to + i + 4, q);
    _mm_stream_ps(to + i + 8, r);
    _mm_stream_ps(to + i + 12, s);
  }
  _mm_sfence();
}
__attribute__((target("avx512f"))) void copy_streaming_512(const float* from, float* to) {
  for (std::int64_t i = 0; i < copied; i += 16) _mm512_stream_ps(to + i, _mm512_load_ps(from + i));
  _mm_sfence();
}

// Twelve chains that stay in registers, with starts that differ, or they would become one.
__attribute__((target("avx512f"))) float fma_512(float a, float b) {
  const __m512 x = _mm512_set1_ps(a), y = _mm512_set1_ps(b);
  __m512 c0 = x, c1 = c0 + y, c2 = c1 + y, c3 = c2 + y, c4 = c3 + y, c5 = c4 + y, c6 = c5 + y,
         c7 = c6 + y, c8 = c7 + y, c9 = c8 + y, ca = c9 + y, cb = ca + y;
  for (std::int64_t i = 0; i < rounds; ++i) {
    c0 = _mm512_fmadd_ps(c0, x, y), c1 = _mm512_fmadd_ps(c1, x, y);
    c2 = _mm512_fmadd_ps(c2, x, y), c3 = _mm512_fmadd_ps(c3, x, y);
    c4 = _mm512_fmadd_ps(c4, x, y), c5 = _mm512_fmadd_ps(c5, x, y);
    c6 = _mm512_fmadd_ps(c6, x, y), c7 = _mm512_fmadd_ps(c7, x, y);
    c8 = _mm512_fmadd_ps(c8, x, y), c9 = _mm512_fmadd_ps(c9, x, y);
    ca = _mm512_fmadd_ps(ca, x, y), cb = _mm512_fmadd_ps(cb, x, y);
  }
  const __m512 s = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + ca + cb;
  return s[0] + s[7];
}
__attribute__((target("avx2,fma"))) float fma_256(float a, float b) {
  const __m256 x = _mm256_set1_ps(a), y = _mm256_set1_ps(b);
  __m256 c0 = x, c1 = c0 + y, c2 = c1 + y, c3 = c2 + y, c4 = c3 + y, c5 = c4 + y, c6 = c5 + y,
         c7 = c6 + y, c8 = c7 + y, c9 = c8 + y, ca = c9 + y, cb = ca + y;
  for (std::int64_t i = 0; i < rounds; ++i) {
    c0 = _mm256_fmadd_ps(c0, x, y), c1 = _mm256_fmadd_ps(c1, x, y);
    c2 = _mm256_fmadd_ps(c2, x, y), c3 = _mm256_fmadd_ps(c3, x, y);
    c4 = _mm256_fmadd_ps(c4, x, y), c5 = _mm256_fmadd_ps(c5, x, y);
    c6 = _mm256_fmadd_ps(c6, x, y), c7 = _mm256_fmadd_ps(c7, x, y);
    c8 = _mm256_fmadd_ps(c8, x, y), c9 = _mm256_fmadd_ps(c9, x, y);
    ca = _mm256_fmadd_ps(ca, x, y), cb = _mm256_fmadd_ps(cb, x, y);
  }
  const __m256 s = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + ca + cb;
  return s[0] + s[7];
}
#endif
float fma_scalar(float a, float b) {
  float c[chains];
  for (int k = 0; k < chains; ++k) c[k] = a + b * static_cast<float>(k);
  for (std::int64_t i = 0; i < rounds; ++i)
    for (float& x : c) x = x * a + b;
  float s = 0;
  for (float x : c) s += x;
  return s;
}

void add_floors() {
  benchmark::RegisterBenchmark("floor/copy memcpy", copy_by, copy_memcpy);
#if defined(__x86_64__)
  benchmark::RegisterBenchmark("floor/copy streaming", copy_by, copy_streaming);
  if (__builtin_cpu_supports("avx512f")) {
    benchmark::RegisterBenchmark("floor/copy streaming 512", copy_by, copy_streaming_512);
    benchmark::RegisterBenchmark("floor/fma 512", fma_by<16>, fma_512);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    benchmark::RegisterBenchmark("floor/fma 256", fma_by<8>, fma_256);
  else
#endif
    benchmark::RegisterBenchmark("floor/fma scalar", fma_by<1>, fma_scalar);
}

}  // namespace

int run(int argc, char** argv) {
  add_floors();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace bench
