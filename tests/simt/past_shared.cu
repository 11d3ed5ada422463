// A program of its own, so that this array is the last one before the emulation's memory: a write to the first byte
// past it is reported, and a write to its last byte is not. Far behind it, a read is reported as well.
#include <cstdio>

namespace {

__global__ void write(int at, char* out) {
  __shared__ volatile char last[13];
  last[at] = 1;
  *out = last[0];
}
__global__ void read(int at, char* out) {
  __shared__ volatile char last[13];
  *out = last[at];
}

}  // namespace

int main() {
  char* out;
  if (cudaMallocManaged(&out, 1) != cudaSuccess) return 2;
  for (int at : {0, 12, 13, 14, 4096, 38400, 200000, -8192}) {
    if (at >= 0) {
      write<<<1, 1>>>(at, out);
    } else {
      read<<<1, 1>>>(at = -at, out);
    }
    const cudaError_t expected = at < 13 ? cudaSuccess : cudaErrorIllegalAddress;
    if (cudaDeviceSynchronize() != expected) {
      std::printf("a write at %d of 13: %s, not %s\n", at, cudaGetErrorName(cudaDeviceSynchronize()),
                  cudaGetErrorName(expected));
      return 1;
    }
    if (expected != cudaSuccess && (cudaDeviceReset() != cudaSuccess || cudaMallocManaged(&out, 1) != cudaSuccess))
      return 2;
  }
}
