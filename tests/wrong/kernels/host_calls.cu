// Calls of the host's that leave an allocation, or free what they must not.
#include <memory>

#include "case.h"

CASE {
  int *keys = device<int>(100), host[128] = {};
  cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice);  // expect: out-of-bounds
}
CASE {
  int *keys = filled<int>(100), host[100];
  cudaMemcpyAsync(host, keys + 1, 400, cudaMemcpyDeviceToHost, nullptr);  // expect: out-of-bounds
}
/// The size in elements, multiplied by that of a larger type.
CASE {
  float* sums = device<float>(64);
  cudaMemset(sums, 0, 64 * sizeof(double));  // expect: out-of-bounds
}
CASE {
  unsigned char *image = filled<unsigned char>(100 * 64), host[100 * 64];
  cudaMemcpy2D(host, 64, image, 80, 64, 100, cudaMemcpyDeviceToHost);  // expect: out-of-bounds
}
__constant__ int weights[16];
CASE {
  const int host[32] = {};
  cudaMemcpyToSymbol(weights, host, sizeof host);  // expect: out-of-bounds
}
CASE {
  int *keys = filled<int>(64), host[64];
  cudaFree(keys);
  cudaMemcpy(host, keys, sizeof host, cudaMemcpyDeviceToHost);  // expect: use-after-free
}

/// A pointer that was never allocated.
CASE {
  int host[64] = {}, *keys = host + 32;
  cudaMemcpy(keys, host, 128, cudaMemcpyHostToDevice);  // expect: invalid-copy
}
CASE {
  int host[64], *keys = nullptr;
  cudaMemcpy(host, keys, sizeof host, cudaMemcpyDeviceToHost);  // expect: invalid-copy
}
CASE {
  std::vector<int> counts(64);
  cudaMemset(counts.data(), 0, 256);  // expect: invalid-copy
}

CASE {
  int* keys = device<int>(64);
  cudaFree(keys);
  cudaFree(keys);  // expect: invalid-free
}
CASE {
  int* keys;
  cudaMallocAsync(&keys, 256, nullptr);
  cudaFreeAsync(keys, nullptr);
  cudaFreeAsync(keys, nullptr);  // expect: invalid-free
}
CASE {
  std::vector<int> keys(64);
  cudaFree(keys.data());  // expect: invalid-free
}
CASE {
  int* keys = device<int>(64);
  ++keys;
  cudaFree(keys);  // expect: invalid-free
}
CASE {
  int* pinned;
  cudaMallocHost(&pinned, 256);
  cudaFree(pinned);  // expect: invalid-free
}
CASE {
  int* keys = device<int>(64);
  cudaFreeHost(keys);  // expect: invalid-free
}

/// Each copy frees the memory, and the launch makes one.
struct Copied {
  int* data = device<int>(64);
  ~Copied() { cudaFree(data); }  // expect: invalid-free
};
__global__ void fill(Copied copied) { copied.data[threadIdx.x] = 1; }
CASE {
  Copied copied;
  fill<<<1, 64>>>(copied);
}
struct CopiedTwice {
  int* data = device<int>(64);
  ~CopiedTwice() { cudaFree(data); }
};
__global__ void fill_twice(CopiedTwice copied) {
  copied.data[threadIdx.x] = 1;  // expect: use-after-free
}
CASE {
  auto& copied = *std::make_unique<CopiedTwice>().release();
  fill_twice<<<1, 64>>>(copied);
  fill_twice<<<1, 64>>>(copied);
}
