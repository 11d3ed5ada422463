// The functions and classes of CUB that most programs use (CUB, the manual of the CUDA Core Compute Libraries), as plain
// code: each header names its chapter. The costs say nothing about those of CUB. What is missing is not declared, so
// that the compiler names it.
#pragma once

#include "block/block_exchange.cuh"
#include "block/block_load.cuh"
#include "block/block_radix_sort.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "thread/thread_operators.cuh"
#include "util_allocator.cuh"
#include "util_debug.cuh"
#include "util_ptx.cuh"
#include "util_type.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
