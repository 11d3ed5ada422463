// Streams and the host in the right order, by each of the ways that CUDA has.
#include "../case.h"

constexpr int n = 256;

__global__ void count_up(int* keys) { keys[threadIdx.x] = threadIdx.x; }
__global__ void twice(const int* keys, int* out) { out[threadIdx.x] = 2 * keys[threadIdx.x]; }
__global__ void sum_up(const int* keys, int* sum) { atomicAdd(sum, keys[threadIdx.x]); }

cudaStream_t stream(unsigned flags = cudaStreamDefault) {
  cudaStream_t made;
  cudaStreamCreateWithFlags(&made, flags);
  return made;
}
cudaEvent_t record(cudaStream_t stream) {
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventRecord(event, stream);
  return event;
}

/// An event after the producer, for which the consumer waits; then the host waits for the consumer.
CASE {
  const cudaStream_t first = stream(cudaStreamNonBlocking), second = stream(cudaStreamNonBlocking);
  int *keys = device<int>(n), *out = device<int>(n), *host;
  cudaMallocHost(&host, n * sizeof(int));
  count_up<<<1, n, 0, first>>>(keys);
  cudaStreamWaitEvent(second, record(first), 0);
  twice<<<1, n, 0, second>>>(keys, out);
  cudaMemcpyAsync(host, out, n * sizeof(int), cudaMemcpyDeviceToHost, second);
  cudaEventSynchronize(record(second));
  if (host[3] != 6) std::abort();
  host[3] = 1;
  count_up<<<1, n, 0, first>>>(keys);  // the host knows that its reader has ended
}

/// The default stream waits for blocking streams, and they wait for it.
CASE {
  const cudaStream_t first = stream(), second = stream();
  int *keys = device<int>(n), *out = device<int>(n), host[n];
  cudaMemset(keys, 0, n * sizeof(int));
  count_up<<<1, n, 0, first>>>(keys);
  twice<<<1, n>>>(keys, out);
  twice<<<1, n, 0, second>>>(out, keys);
  cudaMemcpy(host, keys, sizeof host, cudaMemcpyDeviceToHost);
  if (host[3] != 12) std::abort();
}

/// Each stream has a part of the data; all of them add to one sum.
CASE {
  int *keys = filled<int>(4 * n), *sum = filled<int>(1), *host, total = 0;
  cudaMallocHost(&host, 4 * n * sizeof(int));
  for (int i = 0; i < 4 * n; ++i) host[i] = 1;
  cudaStream_t streams[4];
  for (cudaStream_t& own : streams) own = stream(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  for (int part = 0; part < 4; ++part) {
    int *const from = host + part * n, *const to = keys + part * n;
    cudaMemcpyAsync(to, from, n * sizeof(int), cudaMemcpyHostToDevice, streams[part]);
    twice<<<1, n, 0, streams[part]>>>(to, to);
    sum_up<<<1, n, 0, streams[part]>>>(to, sum);
    cudaMemcpyAsync(from, to, n * sizeof(int), cudaMemcpyDeviceToHost, streams[part]);
  }
  for (int part = 0; part < 4; ++part) {
    cudaStreamSynchronize(streams[part]);
    for (int i = 0; i < n; ++i) total += host[part * n + i];
  }
  cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
  if (total != 8 * n) std::abort();
}

/// Managed memory, and a flag in mapped memory for which the host waits.
__global__ void publish(int* data, volatile int* flag) {
  data[0] = 5;
  __threadfence_system();
  *flag = 1;
}
CASE {
  int *both, *mapped;
  cudaMallocManaged(&both, n * sizeof(int));
  cudaHostAlloc(&mapped, 2 * sizeof(int), cudaHostAllocMapped);
  mapped[0] = mapped[1] = 0;
  count_up<<<1, n>>>(both);
  cudaDeviceSynchronize();
  both[0] = both[7];
  publish<<<1, 1>>>(mapped, mapped + 1);
  while (*static_cast<volatile int*>(mapped + 1) == 0) {
  }
  if (mapped[0] != 5 || both[0] != 7) std::abort();
}

/// Memory from a pool, used in another stream between two events; and a host function in a stream.
CASE {
  const cudaStream_t first = stream(), second = stream();
  int *keys, *host;
  cudaMallocHost(&host, n * sizeof(int));
  cudaMallocAsync(&keys, n * sizeof(int), first);
  cudaStreamWaitEvent(second, record(first), 0);
  count_up<<<1, n, 0, second>>>(keys);
  cudaMemcpyAsync(host, keys, n * sizeof(int), cudaMemcpyDeviceToHost, second);
  cudaLaunchHostFunc(second, [](void* data) { static_cast<int*>(data)[0] += static_cast<int*>(data)[9]; }, host);
  cudaStreamWaitEvent(first, record(second), 0);
  cudaFreeAsync(keys, first);
  cudaStreamSynchronize(first);
  if (host[0] != 9) std::abort();
}
