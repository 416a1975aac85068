// What calque is measured against in bench_fused: hand-written loops and Eigen.
#pragma once

#include <cstdint>
#include <memory>

namespace peers {

void copy(const float* x, float* out, std::int64_t n);
void axpy_hand(const float* x, const float* y, float a, float* out, std::int64_t n);
void axpy_eigen(const float* x, const float* y, float a, float* out, std::int64_t n);
float norm_hand(const float* x, const float* y, float a, std::int64_t n);
float norm_eigen(const float* x, const float* y, float a, std::int64_t n);

/// Softmax regression by hand with Eigen: forward, gradient, update.
class eigen_softmax {
 public:
  eigen_softmax(int inputs, int classes);
  ~eigen_softmax();
  float step(const float* x, const std::int32_t* labels, int rows, float rate);

 private:
  struct data;
  std::unique_ptr<data> d_;
};

}  // namespace peers
