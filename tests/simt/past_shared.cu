// A program of its own, so that this array is the last one before the emulation's memory: a write to the first byte
// past it is reported, and a write to its last byte is not. Far behind it, a read is reported as well.
#include <cstdio>
#include <utility>

namespace {

__global__ void access(int at, bool writes, char* out) {
  __shared__ volatile char last[13];
  if (writes) {
    last[at] = 1;
    at = 0;
  }
  *out = last[at];
}

}  // namespace

int main() {
  char* out;
  if (cudaMallocManaged(&out, 1) != cudaSuccess) return 2;
  for (const auto& [at, writes] : {std::pair{0, true},
                                   {12, true},
                                   {13, true},
                                   {14, true},
                                   {4096, true},
                                   {38400, true},
                                   {200000, true},
                                   {131072, false}}) {
    access<<<1, 1>>>(at, writes, out);
    const cudaError_t expected = at < 13 ? cudaSuccess : cudaErrorIllegalAddress;
    if (cudaDeviceSynchronize() != expected) {
      std::printf("%s at %d of 13: %s, not %s\n", writes ? "a write" : "a read", at,
                  cudaGetErrorName(cudaDeviceSynchronize()), cudaGetErrorName(expected));
      return 1;
    }
    if (expected != cudaSuccess && (cudaDeviceReset() != cudaSuccess || cudaMallocManaged(&out, 1) != cudaSuccess))
      return 2;
  }
}
