#include "benchmarks/scan_peers.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace peers {

void running_sum(const float* in, float* out, std::int64_t n) {
  std::inclusive_scan(in, in + n, out);
}
void column_sums(const float* in, float* out, std::int64_t rows, std::int64_t columns) {
  std::copy(in, in + columns, out);
  for (std::int64_t i = 1; i < rows; ++i)
    for (std::int64_t k = 0; k < columns; ++k)
      out[i * columns + k] = out[(i - 1) * columns + k] + in[i * columns + k];
}
void sort_rows(const float* in, float* out, std::int64_t rows, std::int64_t columns) {
  std::copy(in, in + rows * columns, out);
  for (std::int64_t i = 0; i < rows; ++i)
    std::stable_sort(out + i * columns, out + (i + 1) * columns);
}
void uniform(float* out, std::int64_t n) {
  static std::mt19937_64 random(1);
  std::uniform_real_distribution<float> draw(0, 1);
  std::generate(out, out + n, [&] { return draw(random); });
}
void normal(float* out, std::int64_t n) {
  static std::mt19937_64 random(1);
  std::normal_distribution<float> draw;
  std::generate(out, out + n, [&] { return draw(random); });
}

}  // namespace peers
