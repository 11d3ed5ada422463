// What all parts of CUDA on the CPU share, and how the parts build on each other:
//
//     runtime/      CUDA's host functions (cudaMalloc, streams, events ...) and kernel launches
//        |
//     faults/       signals in device code become findings
//        |
//     execution/    a thread block on an OS thread: fibers, barriers, warp primitives; the OS threads that run blocks,
//        |          the turns of blocks that wait for others, and the barrier of a grid
//     memory/       the device's memory: allocations between guard pages, pools, global variables
//        |
//     error.cpp     error codes, and the error that stays after a kernel has failed
//
// A file includes headers of its own layer and of the layers below it, never of a layer above. Each source has one
// header: a file that implements part of CUDA's interface has the header of the same name in include/simt, any other
// file the header next to it. In the check build, all layers also report events to the observers in ../check.
#pragma once

#ifdef SIMT_CHECK
#define SIMT_OBSERVE(...) __VA_ARGS__
#else
#define SIMT_OBSERVE(...)  // nothing: the plain build pays nothing
#endif

namespace simt {

inline constexpr int lanes_per_warp = 32;
inline constexpr int max_threads_per_block = 1024;
inline constexpr int max_warps = max_threads_per_block / lanes_per_warp;
/// What a multiprocessor of the device has room for.
inline constexpr int max_threads_per_multiprocessor = 2048, max_blocks_per_multiprocessor = 32;
/// Shared memory per block, in bytes: without and with cudaFuncSetAttribute.
inline constexpr int default_shared_bytes = 49152, max_shared_bytes = 232448;
inline constexpr int reserved_shared_bytes = 1024;  ///< of each block, in addition
inline constexpr int compute_capability_major = 9, compute_capability_minor = 0;

}  // namespace simt
