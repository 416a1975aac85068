#include "benchmarks/scan_peers.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#if defined(CALQUE_BENCH_THRUST)
#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#endif

namespace peers::CALQUE_BENCH_BUILD {
namespace {

using operands = scan_operands;

void running_sum_std(const operands& o) { std::inclusive_scan(o.x, o.x + o.n, o.out); }
#if defined(CALQUE_BENCH_THRUST)
void running_sum_thrust(const operands& o) {
  thrust::inclusive_scan(thrust::cpp::par, o.x, o.x + o.n, o.out);
}
#endif
// Sixteen numbers at a time: sums within the block by doubling steps, which the compiler
// vectorises; only the block's total waits for the block before.
void running_sum_hand(const operands& o) {
  constexpr int lanes = 16;
  const float* __restrict x = o.x;
  float* __restrict out = o.out;
  float before = 0;
  std::int64_t i = 0;
  for (; i + lanes <= o.n; i += lanes) {
    float s[lanes], t[lanes];
    for (int k = 0; k < lanes; ++k) s[k] = x[i + k];
    for (int k = 0; k < lanes; ++k) t[k] = k >= 1 ? s[k] + s[k - 1] : s[k];
    for (int k = 0; k < lanes; ++k) s[k] = k >= 2 ? t[k] + t[k - 2] : t[k];
    for (int k = 0; k < lanes; ++k) t[k] = k >= 4 ? s[k] + s[k - 4] : s[k];
    for (int k = 0; k < lanes; ++k) s[k] = k >= 8 ? t[k] + t[k - 8] : t[k];
    for (int k = 0; k < lanes; ++k) out[i + k] = s[k] + before;
    before += s[lanes - 1];
  }
  for (; i < o.n; ++i) out[i] = before += x[i];
}
// Down the columns, row by row.
void column_scan_hand(const operands& o) {
  const std::int64_t m = o.columns;
  std::copy(o.x, o.x + m, o.out);
  for (std::int64_t i = 1; i < o.rows; ++i) {
    const float* __restrict x = o.x + i * m, * __restrict before = o.out + (i - 1) * m;
    float* __restrict out = o.out + i * m;
    for (std::int64_t k = 0; k < m; ++k) out[k] = before[k] + x[k];
  }
}
void sort_std(const operands& o) {
  std::copy(o.x, o.x + o.sorted, o.out);
  for (std::int64_t i = 0; i + o.line <= o.sorted; i += o.line)
    std::stable_sort(o.out + i, o.out + i + o.line);
}
void uniform_std(const operands& o) {
  static std::mt19937_64 random(1);
  std::uniform_real_distribution<float> draw(0, 1);
  std::generate(o.out, o.out + o.n, [&] { return draw(random); });
}
void normal_std(const operands& o) {
  static std::mt19937_64 random(1);
  std::normal_distribution<float> draw;
  std::generate(o.out, o.out + o.n, [&] { return draw(random); });
}

constexpr peer<operands> all[] = {
    {"inclusive scan", "hand", running_sum_hand},
    {"inclusive scan", "std", running_sum_std},
#if defined(CALQUE_BENCH_THRUST)
    {"inclusive scan", "Thrust", running_sum_thrust},
#endif
    {"column scan", "hand", column_scan_hand},
    {"sort rows", "std", sort_std},
    {"uniform", "std", uniform_std},
    {"normal", "std", normal_std},
};

}  // namespace

list<scan_operands> scan() { return all; }

}  // namespace peers::CALQUE_BENCH_BUILD
