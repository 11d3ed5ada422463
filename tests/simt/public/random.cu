// Random numbers of cuRAND in kernels: the same on each processor.
#include <curand_kernel.h>

#include <cmath>

#include "expect.h"

namespace {

constexpr int threads = 64, draws = 500;

__global__ void start(curandState* states) { curand_init(1234, threadIdx.x, 0, &states[threadIdx.x]); }

__global__ void draw(curandState* states, float* first, float* mean, float* variance) {
  curandState state = states[threadIdx.x];
  float sum = 0, squares = 0;
  for (int i = 0; i < draws; ++i) {
    const float x = curand_uniform(&state), y = curand_normal(&state);
    if (i == 0) first[threadIdx.x] = x;
    sum += x;
    squares += y * y;
  }
  mean[threadIdx.x] = sum / draws;
  variance[threadIdx.x] = squares / draws;
}

__global__ void philox(unsigned* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(7, threadIdx.x, 0, &state);
  const uint4 four = curand4(&state);
  out[threadIdx.x] = four.x ^ four.y ^ four.z ^ four.w;
}

float average(const Array<float>& array) {
  float sum = 0;
  for (float x : array.values()) sum += x;
  return sum / threads;
}

}  // namespace

int main() {
  Array<curandState> states(threads);
  Array<float> first(threads), mean(threads), variance(threads);
  start<<<1, threads>>>(states.data());
  draw<<<1, threads>>>(states.data(), first.data(), mean.data(), variance.data());
  CUDA(cudaDeviceSynchronize());
  EXPECT(std::fabs(first.values()[0] - 0.145468f) < 1e-6f);
  EXPECT(std::fabs(average(mean) - 0.5f) < 0.01f);
  EXPECT(std::fabs(average(variance) - 1) < 0.03f);

  Array<unsigned> words(threads);
  philox<<<1, threads>>>(words.data());
  const auto values = words.values();
  EXPECT(values[0] != values[1]);
  return finish();
}
