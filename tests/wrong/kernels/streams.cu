// Operations of two streams, or of a stream and the host, that share memory and that nothing orders.
#include "case.h"

constexpr int n = 256;

__global__ void count_up(int* keys) { keys[threadIdx.x] = threadIdx.x; }
__global__ void twice(const int* keys, int* out) {
  out[threadIdx.x] = 2 * keys[threadIdx.x];  // expect: stream-race
}
cudaStream_t stream(unsigned flags = cudaStreamDefault) {
  cudaStream_t made;
  cudaStreamCreateWithFlags(&made, flags);
  return made;
}
cudaEvent_t event() {
  cudaEvent_t made;
  cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
  return made;
}
CASE {
  int* keys = device<int>(n);
  count_up<<<1, n, 0, stream()>>>(keys);
  twice<<<1, n, 0, stream()>>>(keys, device<int>(n));
}

/// The consumer waits for an event, but the event is recorded before the copy that it should cover.
__global__ void triple(const int* keys, int* out) {
  out[threadIdx.x] = 3 * keys[threadIdx.x];  // expect: stream-race
}
CASE {
  const cudaStream_t copies = stream(), kernels = stream();
  const cudaEvent_t copied = event();
  int *keys = device<int>(n), *host;
  cudaMallocHost(&host, n * sizeof(int));
  cudaEventRecord(copied, copies);
  cudaMemcpyAsync(keys, host, n * sizeof(int), cudaMemcpyHostToDevice, copies);
  cudaStreamWaitEvent(kernels, copied, 0);
  triple<<<1, n, 0, kernels>>>(keys, device<int>(n));
}

/// Two buffers in turn: the copy of the third part does not wait until the first part's buffer has been read.
__global__ void add(const int* part, int* sums) { atomicAdd(sums, part[threadIdx.x]); }
CASE {
  const cudaStream_t copies = stream(cudaStreamNonBlocking), kernels = stream(cudaStreamNonBlocking);
  int *sums = filled<int>(1), *host;
  int* const buffers[] = {device<int>(n), device<int>(n)};
  cudaMallocHost(&host, 4 * n * sizeof(int));
  cudaDeviceSynchronize();
  for (int part = 0; part < 4; ++part) {
    int* const buffer = buffers[part % 2];
    const cudaEvent_t copied = event();
    cudaMemcpyAsync(buffer, host + part * n, n * sizeof(int), cudaMemcpyHostToDevice, copies);  // expect: stream-race
    cudaEventRecord(copied, copies);
    cudaStreamWaitEvent(kernels, copied, 0);
    add<<<1, n, 0, kernels>>>(buffer, sums);
  }
}

/// The default stream does not wait for a non-blocking stream, nor the other way around.
CASE {
  int *keys = device<int>(n), host[n];
  count_up<<<1, n, 0, stream(cudaStreamNonBlocking)>>>(keys);
  cudaMemcpy(host, keys, sizeof host, cudaMemcpyDeviceToHost);  // expect: stream-race
}
__global__ void increment(int* counts) {
  counts[threadIdx.x] += 1;  // expect: stream-race
}
CASE {
  const cudaStream_t kernels = stream(cudaStreamNonBlocking);
  int* counts = device<int>(n);
  cudaMemset(counts, 0, n * sizeof(int));
  increment<<<1, n, 0, kernels>>>(counts);
}

/// Memory that is freed in one stream while another still uses it.
CASE {
  const cudaStream_t first = stream(), second = stream();
  int* keys;
  cudaMallocAsync(&keys, n * sizeof(int), first);
  const cudaEvent_t allocated = event();
  cudaEventRecord(allocated, first);
  cudaStreamWaitEvent(second, allocated, 0);
  count_up<<<1, n, 0, second>>>(keys);
  cudaFreeAsync(keys, first);  // expect: stream-race
}

/// The host reads what a copy or a kernel has not necessarily written yet, and overwrites what has not been read.
CASE {
  int *keys = filled<int>(n), *host;
  cudaMallocHost(&host, n * sizeof(int));
  cudaMemcpyAsync(host, keys, n * sizeof(int), cudaMemcpyDeviceToHost, stream());
  if (host[3] != 0) std::printf("never\n");  // expect: stream-race
}
CASE {
  int* both;
  cudaMallocManaged(&both, n * sizeof(int));
  count_up<<<1, n>>>(both);
  if (both[7] != 7) std::printf("never\n");  // expect: stream-race
}
CASE {
  const cudaStream_t copies = stream(), kernels = stream();
  const cudaEvent_t counted = event();
  int *keys = filled<int>(n), *host;
  cudaMallocHost(&host, n * sizeof(int));
  count_up<<<1, n, 0, kernels>>>(keys);
  cudaEventRecord(counted, kernels);
  cudaMemcpyAsync(host, keys, n * sizeof(int), cudaMemcpyDeviceToHost, kernels);
  cudaEventSynchronize(counted);
  std::vector<int> sorted(host, host + n);  // expect: stream-race
  if (sorted[7] != 7) std::printf("never\n");
}
CASE {
  int *keys = device<int>(n), *host;
  cudaMallocHost(&host, n * sizeof(int));
  const cudaStream_t copies = stream();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < n; ++i) host[i] = i + round;  // expect: stream-race
    cudaMemcpyAsync(keys, host, n * sizeof(int), cudaMemcpyHostToDevice, copies);
  }
}

/// The same with memory that is not pinned, for which CUDA leaves open whether the call waits for the copy.
CASE {
  std::vector<int> host(n);
  cudaMemcpyAsync(host.data(), filled<int>(n), n * sizeof(int), cudaMemcpyDeviceToHost, stream());
  if (host[5] != 0) std::printf("never\n");  // note: stream-race
}
CASE {
  static int host[n];
  cudaHostRegister(host, sizeof host, cudaHostRegisterDefault);
  cudaMemcpyAsync(host, filled<int>(n), sizeof host, cudaMemcpyDeviceToHost, stream());
  if (host[5] != 0) std::printf("never\n");  // expect: stream-race
}

/// Pieces sorted on two streams, meant to overlap: the memory is not pinned, and the host merges before it waits.
CASE {
  std::vector<int> host(2 * n);
  const cudaStream_t streams[] = {stream(), stream()};
  for (int piece = 0; piece < 2; ++piece) {
    int *keys = device<int>(n), *const part = host.data() + piece * n;
    cudaMemcpyAsync(keys, part, n * sizeof(int), cudaMemcpyHostToDevice, streams[piece]);
    count_up<<<1, n, 0, streams[piece]>>>(keys);
    cudaMemcpyAsync(part, keys, n * sizeof(int), cudaMemcpyDeviceToHost, streams[piece]);
  }
  if (host[n - 1] > host[n]) std::printf("merge\n");  // note: stream-race
}

/// The host waits, but for a kernel that fails: what it reads then is not a second fault.
__global__ void fail(int* values) {
  values[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) values[1 << 28] = 1;  // expect: out-of-bounds
}
CASE {
  int* both = nullptr;
  cudaMallocManaged(&both, n * sizeof(int));
  fail<<<1, n>>>(both);
  cudaDeviceSynchronize();
  if (both[5] != 1) std::printf("failed\n");
}
