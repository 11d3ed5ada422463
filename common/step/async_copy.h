// Asynchronous copies from global to shared memory. They bypass the registers, so a thread can have many of them under
// way at a time, which hides their latency.
// Source: NVIDIA, CUDA C++ Programming Guide, "Asynchronous Data Copies" (pipeline primitives).
#pragma once

#ifndef __SIMT__
#include <cuda_pipeline.h>
#endif

namespace lab {

/// Begins *to = *from, from global to shared memory. T has 4, 8 or 16 bytes. The thread must call wait_for_copies(), and
/// a barrier follow, before other threads read what it has copied.
template <class T>
__device__ inline void begin_copy(T* to, const T* from) {
#ifndef __SIMT__
  __pipeline_memcpy_async(to, from, sizeof(T));  // on GPUs before compute capability 8.0 an ordinary copy
#else
  *to = *from;
#endif
}

/// Waits for all copies that this thread has begun.
__device__ inline void wait_for_copies() {
#ifndef __SIMT__
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

}  // namespace lab
