// Several threads of the host, each with a stream and memory of its own: while one of them runs a kernel, the others
// use theirs, and copy. They end before a long kernel runs.
#include <thread>
#include <vector>

#include "expect.h"

namespace {

constexpr int n = 1000, rounds = 50;

__global__ void add_one(double* values) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] += 1;
}

/// Takes long enough for a watchdog to look at the threads that have run kernels.
__global__ void count_long(unsigned* counts) {
  unsigned count = 0;
  for (unsigned i = 0; i < 100'000'000; ++i) count += i % 3 == threadIdx.x;
  counts[threadIdx.x] = count;
}

void expect_long_kernel() {
  unsigned* counts = nullptr;
  CUDA(cudaMallocManaged(reinterpret_cast<void**>(&counts), 3 * sizeof *counts));
  count_long<<<1, 3>>>(counts);
  CUDA(cudaDeviceSynchronize());
  EXPECT(counts[0] + counts[1] + counts[2] == 100'000'000);
  CUDA(cudaFree(counts));
}

/// How often the kernel has added 1, and a sum in the host's own memory.
void work(double* added, double* sum) {
  double* values = nullptr;
  CUDA(cudaMallocManaged(reinterpret_cast<void**>(&values), n * sizeof(double)));
  for (int i = 0; i < n; ++i) values[i] = 0;
  std::vector<double> own(n, 1);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  for (int round = 0; round < rounds; ++round) {
    add_one<<<1, 128, 0, stream>>>(values);
    for (const double value : own) *sum += value;
  }
  CUDA(cudaStreamSynchronize(stream));
  *added = values[n - 1];
  double* device = nullptr;
  CUDA(cudaMalloc(reinterpret_cast<void**>(&device), n * sizeof(double)));
  for (int round = 0; round < rounds; ++round) {
    CUDA(cudaMemcpyAsync(device, own.data(), n * sizeof(double), cudaMemcpyHostToDevice, stream));
    add_one<<<1, 128, 0, stream>>>(device);
    CUDA(cudaMemcpyAsync(own.data(), device, n * sizeof(double), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
  }
  *added += own[0];
  CUDA(cudaFree(device));
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaFree(values));
}

}  // namespace

int main() {
  constexpr int count = 4;
  double added[count] = {}, sums[count] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, &added[i], &sums[i]);
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < count; ++i) EXPECT(added[i] == 2 * rounds + 1 && sums[i] == double(n) * rounds);
  expect_long_kernel();
  return finish();
}
