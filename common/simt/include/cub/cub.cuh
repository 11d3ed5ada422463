// The functions and classes of CUB that most programs use (CUB, the manual of the CUDA Core Compute Libraries), as plain
// code: each header names its chapter. The costs say nothing about those of CUB. What is missing is not declared, so
// that the compiler names it.
#pragma once

// The original includes these, and programs rely on it.
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "block/block_exchange.cuh"
#include "block/block_load.cuh"
#include "block/block_radix_sort.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "device/device_histogram.cuh"
#include "device/device_merge.cuh"
#include "device/device_merge_sort.cuh"
#include "device/device_partition.cuh"
#include "device/device_radix_sort.cuh"
#include "device/device_reduce.cuh"
#include "device/device_run_length_encode.cuh"
#include "device/device_scan.cuh"
#include "device/device_segmented_reduce.cuh"
#include "device/device_select.cuh"
#include "iterator/constant_input_iterator.cuh"
#include "iterator/counting_input_iterator.cuh"
#include "iterator/transform_input_iterator.cuh"
#include "thread/thread_operators.cuh"
#include "util_allocator.cuh"
#include "util_debug.cuh"
#include "util_ptx.cuh"
#include "util_type.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
