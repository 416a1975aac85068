// Products of float and double matrices by a BLAS library: including this header is all it takes.
//
// Link one that has the C interface; the CMake target `calque::blas` does. Layouts that BLAS cannot
// express (zero, negative or two wide strides) and other element types stay with the library's own
// kernel. Results differ from it by rounding; how many threads a BLAS uses is its own setting.
#pragma once

#include "calque/core/push_macros.inc"

#include <cblas.h>

#include "calque/backend/cpu/blas.hpp"

namespace calque {
namespace detail {

inline void multiply_by_cblas(const blas_product& p) {
  const auto a_form = p.a_transposed ? CblasTrans : CblasNoTrans;
  const auto b_form = p.b_transposed ? CblasTrans : CblasNoTrans;
  if (p.is_double)
    cblas_dgemm(CblasRowMajor, a_form, b_form, p.m, p.n, p.k, 1.0, static_cast<const double*>(p.a),
                p.a_pitch, static_cast<const double*>(p.b), p.b_pitch, 0.0,
                static_cast<double*>(p.c), p.c_pitch);
  else
    cblas_sgemm(CblasRowMajor, a_form, b_form, p.m, p.n, p.k, 1.0f, static_cast<const float*>(p.a),
                p.a_pitch, static_cast<const float*>(p.b), p.b_pitch, 0.0f,
                static_cast<float*>(p.c), p.c_pitch);
}

inline const bool cblas_registered = (use_blas(&multiply_by_cblas), true);

}  // namespace detail
}  // namespace calque

#include "calque/core/pop_macros.inc"
