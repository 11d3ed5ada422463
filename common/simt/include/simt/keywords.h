// CUDA's keywords, as an ordinary C++ compiler reads them: every function is both host's and device's.
#pragma once

#define __CUDACC__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000

#define __global__
#define __device__
#define __host__
#define __constant__
// Of __device__ variables a kernel is given what cudaGetSymbolAddress gives; these it may be given as they are.
#define __managed__ __attribute__((section("simt_managed")))
// One copy for each OS thread, and an OS thread runs one block at a time. Arrays begin where a GPU's would, so that
// what is misaligned does not depend on what else is thread-local. The check build keeps them apart, so that what runs
// over the end of one does not reach the next.
#ifdef SIMT_CHECK
#define SIMT_JOIN_(a, b) a##b
#define SIMT_JOIN(a, b) SIMT_JOIN_(a, b)
#define __shared__                                                                                   \
  static __thread __attribute__((used, unused)) char SIMT_JOIN(simt_shared_gap_, __COUNTER__)[8192]; \
  static __thread __attribute__((aligned(16), used))  // what is only read is read nevertheless
#else
#define __shared__ static __thread __attribute__((aligned(16)))
#endif
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(registers)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __noinline__  // libstdc++ writes __attribute__((__noinline__)), so it has to vanish
#define __forceinline__ inline
#define __builtin_align__(bytes) __align__(bytes)

#ifndef __clang__
#define __builtin_assume(condition) (static_cast<bool>(condition) ? void() : __builtin_unreachable())
#endif
