// What a step's kernels and host functions may take from CUDA. Compiled, never run.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "step/device_array.h"
#include "step/error.h"
#include "step/host_view.h"
#include "step/key_type.h"
#include "step/launch_shape.h"
#include "step/step.h"

namespace corpus {
namespace {

namespace cg = cooperative_groups;

__device__ unsigned next_tile;
__constant__ unsigned table[256];
__managed__ int managed;

template <class Key>
__global__ void atomics(Key* keys, unsigned* counters, unsigned long long* wide, float* floats) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&counters[0], 1u);
  atomicSub(&counters[0], 1u);
  atomicMin(&counters[1], i);
  atomicMax(&counters[2], i);
  atomicAnd(&counters[3], i);
  atomicOr(&counters[4], i);
  atomicXor(&counters[5], i);
  atomicInc(&counters[6], 5u);
  atomicDec(&counters[6], 5u);
  atomicExch(&counters[7], i);
  counters[8] = atomicExch(&counters[9], i);
  atomicCAS(&counters[8], 0u, i);
  atomicAdd(wide, 1ull);
  atomicMax(wide, 1ull);
  atomicCAS(wide, 0ull, 1ull);
  atomicExch(wide, 1ull);
  atomicAdd(floats, 1.f);
  atomicAdd(&next_tile, 1u);
  managed = int(table[i % 256]);
  keys[i] = Key(__ldg(&counters[i]));
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}

__global__ void warps(unsigned* keys, int* results) {
  extern __shared__ unsigned dynamic[];
  __shared__ unsigned tile[64];
  const unsigned i = threadIdx.x;
  unsigned key = keys[i];
  tile[i % 64] = key;
  dynamic[i] = key;
  __syncthreads();
  key += __shfl_sync(~0u, key, 0) + __shfl_up_sync(~0u, key, 1) + __shfl_down_sync(~0u, key, 1);
  key += __shfl_xor_sync(~0u, key, 1) + __ballot_sync(~0u, key > 3) + __match_any_sync(~0u, key);
  results[0] = __all_sync(~0u, key > 3) + __any_sync(~0u, key > 3) + __popc(key) + __clz(int(key)) + __ffs(int(key));
  results[1] = __syncthreads_count(int(key)) + __syncthreads_or(int(key)) + __syncthreads_and(int(key));
  results[2] = int(__brev(key) + __byte_perm(key, key, 3) + __activemask());
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  results[2] += int(__reduce_add_sync(~0u, key));
#endif
  results[3] = int(__funnelshift_l(key, key, 3) + __umulhi(key, key)) + __popcll(key) + __clzll(key) + __mul24(3, 4);
  results[4] = __float_as_int(1.f) + int(__int_as_float(3)) + int(__uint_as_float(3)) + int(__float_as_uint(3.f));
  results[5] = int(__double_as_longlong(1.0)) + int(sqrtf(float(key))) + int(powf(2.f, float(key)));
  results[6] = min(3, int(key)) + max(3, int(key)) + abs(int(key)) + int(fminf(1.f, float(key)) + floorf(float(key)));
  __syncwarp();
  __nanosleep(20);
  const volatile unsigned* const flag = keys;
  while (*flag == 0) {
  }
  printf("key %u\n", key);
  assert(key != 3);
  if (key == 7) __trap();
  const long long start = clock64();
  keys[i] = dynamic[i] + tile[i % 64] + unsigned(clock64() - start);
  const int4 four = make_int4(1, 2, 3, 4);
  reinterpret_cast<int4*>(results)[i] = four;
}

__global__ void groups(unsigned* keys) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const unsigned key = warp.shfl_down(keys[block.thread_rank()], 1) + warp.shfl_xor(3u, 1) + warp.ballot(true);
  block.sync();
  warp.sync();
  keys[warp.thread_rank()] = key + warp.any(key == 3) + warp.meta_group_rank() + unsigned(block.size());
}

/// What a kernel may have, although it is a mistake: references, pointers to pointers, large arrays of its own.
__device__ int leave(int n) {
  if (n > 1) return 1;
  __syncthreads();
  return 2;
}
__global__ void mistakes(unsigned** keys, const lab::Order& order) {
  unsigned own[256];
  own[threadIdx.x] = unsigned(leave(int(threadIdx.x)));
  (*keys)[threadIdx.x] = own[threadIdx.x + (order == lab::Order::ascending)];
}

__global__ void grids(unsigned* keys) {
  const cg::grid_group grid = cg::this_grid();
  keys[grid.thread_rank()] = 3;
  grid.sync();
}

}  // namespace

void CUDART_CB host_function(void*) {}

std::size_t memory(unsigned* keys, std::vector<unsigned>& host, cudaStream_t stream) {
  void *device, *pinned, *managed_memory;
  std::size_t pitch, free_bytes, all_bytes, bytes = host.size() * sizeof host[0];
  CUDA_CHECK(cudaMalloc(&device, bytes));
  CUDA_CHECK(cudaMallocPitch(&device, &pitch, 100, 100));
  CUDA_CHECK(cudaMallocHost(&pinned, bytes));
  CUDA_CHECK(cudaHostAlloc(&pinned, bytes, cudaHostAllocDefault));
  CUDA_CHECK(cudaMallocManaged(&managed_memory, bytes));
  CUDA_CHECK(cudaMallocAsync(&device, bytes, stream));
  CUDA_CHECK(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpyAsync(device, keys, bytes, cudaMemcpyDeviceToDevice, stream));
  CUDA_CHECK(cudaMemcpy2D(device, pitch, keys, pitch, 3, 4, cudaMemcpyDeviceToDevice));
  CUDA_CHECK(cudaMemcpy2DAsync(device, pitch, keys, pitch, 3, 4, cudaMemcpyDeviceToDevice, stream));
#if CUDART_VERSION >= 13000
  cudaMemcpyAttributes of_copies{};
  std::size_t first_copy = 0;
  const void* const from = keys;
  CUDA_CHECK(cudaMemcpyBatchAsync(&device, &from, &bytes, 1, &of_copies, &first_copy, 1, stream));
#endif
  CUDA_CHECK(cudaMemset(device, 0, bytes));
  CUDA_CHECK(cudaMemsetAsync(device, 0, bytes, stream));
  CUDA_CHECK(cudaMemcpyToSymbol(table, host.data(), 256 * sizeof(unsigned)));
  CUDA_CHECK(cudaMemcpyFromSymbol(host.data(), next_tile, sizeof(unsigned)));
  CUDA_CHECK(cudaMemcpyToSymbolAsync(table, host.data(), 4, 0, cudaMemcpyHostToDevice, stream));
  CUDA_CHECK(cudaMemcpyFromSymbolAsync(host.data(), next_tile, 4, 0, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaGetSymbolAddress(&device, next_tile));
  CUDA_CHECK(cudaGetSymbolSize(&pitch, table));
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  CUDA_CHECK(cudaFreeAsync(device, stream));
  CUDA_CHECK(cudaFreeHost(pinned));
  CUDA_CHECK(cudaFree(managed_memory));
  cudaPointerAttributes attributes;
  CUDA_CHECK(cudaPointerGetAttributes(&attributes, keys));
  return free_bytes;
}

float streams_and_events(cudaStream_t stream) {
  cudaStream_t own;
  cudaEvent_t start, stop;
  float milliseconds;
  CUDA_CHECK(cudaStreamCreate(&own));
  CUDA_CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreateWithFlags(&stop, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventRecord(start, own));
  CUDA_CHECK(cudaStreamWaitEvent(stream, start, 0));
  CUDA_CHECK(cudaEventSynchronize(stop));
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CUDA_CHECK(cudaEventQuery(stop));
  CUDA_CHECK(cudaStreamQuery(own));
  CUDA_CHECK(cudaStreamSynchronize(own));
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaEventDestroy(start));
  CUDA_CHECK(cudaStreamDestroy(own));
  CUDA_CHECK(cudaPeekAtLastError());
  return milliseconds;
}

int devices() {
  int device, blocks, value, least, count;
  cudaDeviceProp properties;
  cudaFuncAttributes attributes;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaSetDevice(device));
  CUDA_CHECK(cudaGetDeviceCount(&count));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, warps));
  CUDA_CHECK(cudaFuncSetAttribute(warps, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, warps, 256, 0));
  CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &blocks, warps));
  printf("%s %s\n", cudaGetErrorName(cudaSuccess), cudaGetErrorString(cudaSuccess));
  managed = blocks;
  return managed + properties.multiProcessorCount + attributes.numRegs + value;
}

void launches(unsigned* keys, unsigned long long* wide, int* results, float* floats, cudaStream_t stream) {
  atomics<<<3, 256, 0, stream>>>(keys, keys, wide, floats);
  CUDA_CHECK(cudaGetLastError());
  atomics<<<3, 256>>>(wide, keys, wide, floats);
  warps<<<1, 32, 128, stream>>>(keys, results);
  groups<<<dim3(2, 2), dim3(32, 2)>>>(keys);
  grids<<<3, 32>>>(keys);
  mistakes<<<1, 32>>>(&keys, lab::Order::ascending);
  void* arguments[] = {&keys};
  CUDA_CHECK(cudaLaunchCooperativeKernel(grids, dim3(1), dim3(32), arguments, 0, stream));
}

void of_the_labs(lab::Span<unsigned> keys, lab::LaunchShape shape, cudaStream_t stream) {
  lab::DeviceArray<unsigned> scratch(keys.n, stream);
  lab::DeviceArray<unsigned> moved(std::move(scratch));
  const lab::HostView<unsigned> view(keys, stream);
  const int threads = lab::threads_or(shape, 256);
  const unsigned blocks = lab::blocks_or(shape, keys.n, threads);
  if (blocks == 7) throw lab::Unsupported(std::string("no ") + lab::name_of(lab::KeyType::u32));
  if (blocks == 8) throw lab::Error("no");
  if (blocks == 9) NOT_WRITTEN("step 09");
  view.store();
}

}  // namespace corpus
