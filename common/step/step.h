// What a step is called with: keys, order, launch shape and stream.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "step/keys.h"

namespace lab {

/// n consecutive keys (or values) in device memory. This is a view, which owns nothing.
template <class T>
struct Span {
  T* data = nullptr;
  std::int64_t n = 0;
};

/// n consecutive keys in host memory. This is a view, which owns nothing.
template <class T>
struct HostSpan {
  T* data = nullptr;
  std::int64_t n = 0;
};

/// Blocks and threads of a launch. 0 lets the step choose.
struct LaunchShape {
  int blocks = 0;
  int threads = 0;
};

/// Sorts `keys` in place. Errors: lab::Unsupported, before anything is changed; lab::CudaError.
template <class Key>
using SortKeys = void (*)(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream);

/// The same with values that travel with their keys. Both spans have the same n.
template <class Key, class Value>
using SortPairs = void (*)(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream);

/// Sorts `keys`, which are in host memory, in pieces that fit on the device. Begins after the work that is queued on
/// `stream`, and returns when the keys are sorted. `scratch`: room for as many keys in host memory; its contents are
/// arbitrary before and after. Both are pinned, unless the caller has chosen pageable memory. `device_bytes`: how much
/// device memory the step may have allocated at any time, where 0 means nearly all that is free. Errors: the same.
template <class Key>
using SortHostKeys = void (*)(HostSpan<Key> keys, HostSpan<Key> scratch, Order order, std::int64_t device_bytes,
                              LaunchShape shape, cudaStream_t stream);

/// Reads `input` and writes all of `result`, whose memory is not initialized. Errors: the same.
template <class Input, class Result>
using ReadAndWrite = void (*)(Span<const Input> input, Span<Result> result, LaunchShape shape, cudaStream_t stream);

}  // namespace lab
