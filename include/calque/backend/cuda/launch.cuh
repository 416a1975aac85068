// How kernels are launched: one function, checked, without triple chevrons.
//
// The only file that knows whether nvcc or a stand-in for it compiles the kernels: a stand-in calls
// a kernel through a thunk of its type, which it gets to know here. Called by all kernels'
// launchers.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "calque/core/config.hpp"
#include "calque/core/error.hpp"

namespace calque::detail {

inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw device_error(std::string("calque: ") + what + ": " + cudaGetErrorString(status));
}

template <class... P>
const void* kernel_address(void (*kernel)(P...)) {
#if defined(CALQUE_CUDA_STAND_IN)
  return cuda_stand_in::enrol(kernel);
#else
  return reinterpret_cast<const void*>(kernel);
#endif
}

/// Largest sum of a kernel's parameters, in bytes.
inline constexpr int max_parameter_bytes = 32764;

/// Starts `blocks` blocks of `threads` threads on a stream. Arguments are copied at the call.
template <class... P>
void launch(unsigned blocks, unsigned threads, cudaStream_t stream, void (*kernel)(P...),
            P... arguments) {
  static_assert((sizeof(P) + ...) <= max_parameter_bytes);
  void* addresses[] = {static_cast<void*>(&arguments)...};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  check_cuda(cudaLaunchKernelExC(&config, kernel_address(kernel), addresses), "kernel launch");
}

}  // namespace calque::detail
