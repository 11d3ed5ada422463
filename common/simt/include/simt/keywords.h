// CUDA's keywords for an ordinary C++ compiler, which compiles every function once, for host and device.
#pragma once

// A source that is not CUDA C++ (`cc` defines SIMT_HOST_SOURCE for a .cpp file) sees the names of the runtime only.
#ifndef SIMT_HOST_SOURCE
#define __CUDACC__ 1
#endif
// CUDA on the CPU: what only a GPU has must be guarded, and __CUDA_ARCH__ is defined in kernels here too.
#define __SIMT__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000

// Programs find out by CUDA's include guards what is declared. All of it is.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __HOST_DEFINES_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__

// g++ writes these attributes, which change nothing here, next to a function's calls: that is how calls of host
// functions in device code are noticed (common/simt/calls).
#if defined(__GNUC__) && !defined(__clang__)
#define __global__ __attribute__((no_icf))
#define __device__ __attribute__((no_profile_instrument_function))
#define __host__ __attribute__((noplt))
#else
#define __global__
#define __device__
#define __host__
#endif
#define __constant__
// A kernel may get a pointer to one of these. A __device__ variable needs cudaGetSymbolAddress first.
#define __managed__ __attribute__((section("simt_managed")))
// One copy for each OS thread, which runs one block at a time. Arrays are aligned as on a GPU, so that a misaligned
// access does not depend on what else is thread-local. The check build leaves gaps, so that an access past the end of
// one array does not reach the next.
#define SIMT_JOIN_(a, b) a##b
#define SIMT_JOIN(a, b) SIMT_JOIN_(a, b)
// The rewriter writes the two parts of __shared__ around an alignas, which must precede `static`.
#ifdef SIMT_CHECK
#define SIMT_SHARED_GAP \
  static __thread __attribute__((used, unused)) char SIMT_JOIN(simt_shared_gap_, __COUNTER__)[8192];
#define SIMT_SHARED \
  static __thread   \
      __attribute__((aligned(16), used))  // `used`: the compiler must not drop reads of an array that nothing writes
#else
#define SIMT_SHARED_GAP
#define SIMT_SHARED static __thread __attribute__((aligned(16)))
#endif
#define __shared__ SIMT_SHARED_GAP SIMT_SHARED
// The rewriter puts these before and after an array of __device__ or __constant__ memory: an index beyond its ends
// reaches a gap, and neither another array nor the emulation's variables. Arrays that begin with zeros take no space in
// the program's file.
#define SIMT_ZEROED_ARRAY __attribute__((section(".bss.simt_device")))
#define SIMT_FILLED_ARRAY __attribute__((section(".data.simt_device")))
#define SIMT_GAP_(array, number) static array __attribute__((used)) char SIMT_JOIN(simt_device_gap_, number)[65536];
#define SIMT_ZEROED_GAP SIMT_GAP_(SIMT_ZEROED_ARRAY, __COUNTER__)
#define SIMT_FILLED_GAP SIMT_GAP_(SIMT_FILLED_ARRAY, __COUNTER__)
// The rewriter puts this behind the declaration of a __constant__ variable, which only the host may write.
#ifdef SIMT_CHECK
#define SIMT_CONSTANT(name)                                          \
  static const volatile void* SIMT_JOIN(simt_constant_, __COUNTER__) \
      __attribute__((used, section("simt_constants"))) = __builtin_addressof(name);
#else
#define SIMT_CONSTANT(name)
#endif
#define CUDARTAPI  // calling conventions of other systems, which programs write before a function's name
#define CUDART_CB
#define __grid_constant__
#define __cluster_dims__(...) \
  _Pragma(                    \
      "GCC error \"clusters of blocks are for GPUs only: use nvcc, or write another kernel behind #ifdef __SIMT__\"")
#define __launch_bounds__(...)
#define __maxnreg__(registers)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __noinline__  // empty, because libstdc++ writes __attribute__((__noinline__))
#define __forceinline__ inline
#define __builtin_align__(bytes) __align__(bytes)

#ifndef __clang__
#define __builtin_assume(condition) (static_cast<bool>(condition) ? void() : __builtin_unreachable())
#endif
