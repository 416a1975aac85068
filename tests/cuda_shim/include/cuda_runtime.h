// Stands in front of CUDA's header of the same name, so that a plain C++ compiler builds kernels
// and a CPU runs them. For tests only.
//
// The words and variables that only nvcc knows are defined here. Types and prototypes are NVIDIA's
// own where the toolkit is on the include path, so that a wrong signature does not compile;
// elsewhere the few that are needed are declared here. shim.cpp defines the functions.
#pragma once

#define CALQUE_CUDA_STAND_IN
#define __global__
#define __host__
#define __device__
#define __launch_bounds__(...)
#define __grid_constant__

#if __has_include_next(<cuda_runtime.h>)
#include_next <cuda_runtime.h>
#else
#include <cstddef>

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorInvalidConfiguration = 9 };
using cudaError_t = cudaError;
using cudaStream_t = struct CUstream_st*;
struct cudaLaunchAttribute_st;
using cudaLaunchAttribute = cudaLaunchAttribute_st;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
inline constexpr unsigned cudaMemAttachGlobal = 1;

extern "C" {
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** args);
cudaError_t cudaMallocManaged(void** p, std::size_t bytes, unsigned flags);
cudaError_t cudaFree(void* p);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
}
#endif

#include <cstddef>
#include <utility>

// Variables, not macros: cudaLaunchConfig_t has members of these names.
inline constinit thread_local uint3 threadIdx{}, blockIdx{};
inline constinit thread_local dim3 blockDim{}, gridDim{};

namespace cuda_stand_in {

/// Calls a kernel of one type with the arguments behind `args`.
using thunk = void (*)(const void* kernel, void** args);
/// Makes a kernel known by its address; again for one that is known changes nothing.
void enrol(const void* kernel, thunk call);

template <class... P, std::size_t... I>
void call(const void* kernel, void** args, std::index_sequence<I...>) {
  reinterpret_cast<void (*)(P...)>(const_cast<void*>(kernel))(*static_cast<P*>(args[I])...);
}
template <class... P>
void call_kernel(const void* kernel, void** args) {
  call<P...>(kernel, args, std::index_sequence_for<P...>{});
}
template <class... P>
const void* enrol(void (*kernel)(P...)) {
  const void* address = reinterpret_cast<const void*>(kernel);
  enrol(address, &call_kernel<P...>);
  return address;
}

/// In which order the threads of a launch run. Values must not depend on it.
enum class order { forward, backward };
void run_threads(order o);
/// Launches and threads since the program started.
long long launches();
long long threads();

}  // namespace cuda_stand_in
