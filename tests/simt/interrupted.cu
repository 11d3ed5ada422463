// A program that the watchdog's signal interrupts far more often than the watchdog would: wherever it comes, each thread
// continues with its own registers and stack. Also compiled for processors on which Boost.Context switches stacks.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

namespace {

constexpr int threads = 96, rounds = 50;

/// The sum of all threads' numbers, over and over: by barriers, by shuffles, and after loops long enough to be
/// interrupted in.
__global__ void add_up(int* wrong) {
  __shared__ int numbers[threads];
  for (int round = 0; round < rounds; ++round) {
    numbers[threadIdx.x] = int(threadIdx.x) + round;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < threads; ++i) sum += numbers[i];
    const int warp_sum = __reduce_add_sync(0xffffffffu, int(threadIdx.x % 32));
    if (sum != threads * (threads - 1) / 2 + threads * round || warp_sum != 496) atomicAdd(wrong, 1);
    if (__syncthreads_count(threadIdx.x % 3 == 0) != threads / 3) atomicAdd(wrong, 1);
  }
}

}  // namespace

int main() {
  int* wrong;
  if (cudaMallocManaged(&wrong, sizeof *wrong) != cudaSuccess) return 2;
  *wrong = 0;
  std::atomic<bool> ended = false;
  std::thread interrupter([&ended, worker = pthread_self()] {
    while (!ended) {
      pthread_kill(worker, SIGURG);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  cudaError_t error = cudaSuccess;
  while (error == cudaSuccess && *wrong == 0 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(3)) {
    add_up<<<8, threads>>>(wrong);
    error = cudaDeviceSynchronize();
  }
  ended = true;
  interrupter.join();
  if (error != cudaSuccess || *wrong != 0) std::printf("%s, %d wrong sums\n", cudaGetErrorName(error), *wrong);
  return error != cudaSuccess || *wrong != 0;
}
