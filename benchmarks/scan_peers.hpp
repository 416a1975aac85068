// What the running sums, sorts and random numbers of scan.cpp are measured against.
#pragma once

#include <cstdint>

namespace peers {

/// std::inclusive_scan.
void running_sum(const float* in, float* out, std::int64_t n);
/// Running sums down the columns of a matrix, row by row.
void column_sums(const float* in, float* out, std::int64_t rows, std::int64_t columns);
/// std::stable_sort of a copy, a row at a time.
void sort_rows(const float* in, float* out, std::int64_t rows, std::int64_t columns);
/// std::mt19937_64 and std::uniform_real_distribution, std::normal_distribution.
void uniform(float* out, std::int64_t n);
void normal(float* out, std::int64_t n);

}  // namespace peers
