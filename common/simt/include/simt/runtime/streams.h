// Streams, and host functions in them.
#pragma once

#include "simt/runtime/types.h"

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = cudaEventWaitDefault);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data, unsigned flags);
/// Runs `function` at once, on the calling thread. CUDA calls inside it return cudaErrorNotPermitted.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);
namespace simt {

/// Is it a name of the default stream?
bool is_default_stream(cudaStream_t stream);

/// Is `stream` one of the default streams, or one that cudaStreamCreate* made and that has not been destroyed?
bool is_stream(cudaStream_t stream);
/// The same, or one of those that only kernels have.
bool is_stream_of_kernels(cudaStream_t stream);

void destroy_all_streams();

/// One that does not wait for the default stream, and removing it.
cudaStream_t new_stream();
void remove_stream(cudaStream_t stream);
bool is_blocking_stream(cudaStream_t stream);

}  // namespace simt
