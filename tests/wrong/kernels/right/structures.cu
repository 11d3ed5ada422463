// Structures that functions return and take by value: what they store has been written, and can be read.
#include "../case.h"

struct Four {
  float x, y, z, w;
};
struct Large {
  int first, others[9];
};

__device__ __noinline__ Four reversed(Four four) {
  Four made;
  made.x = four.w;
  made.y = four.z;
  made.z = four.y;
  made.w = four.x;
  return made;
}
__device__ __noinline__ float4 doubled(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }
__device__ __noinline__ Large shifted(Large large, int by) {
  for (int& other : large.others) other += by;
  return large;
}

__global__ void store(const Four* in, Four* fours, float4* vectors, Large* larges) {
  const int i = threadIdx.x;
  fours[i] = reversed(in[i]);
  vectors[i] = doubled(make_float4(1, 2, 3, float(i)));
  larges[i] = shifted(Large{i, {}}, i);
}
__global__ void load(const Four* fours, const float4* vectors, const Large* larges, float* out) {
  const int i = blockDim.x - 1 - threadIdx.x;
  out[i] = fours[i].x + vectors[i].w + float(larges[i].others[8]) + doubled(vectors[i]).x;
}
CASE {
  Four* fours = device<Four>(64);
  auto* vectors = device<float4>(64);
  auto* larges = device<Large>(64);
  store<<<1, 64>>>(filled<Four>(64), fours, vectors, larges);
  load<<<1, 64>>>(fours, vectors, larges, device<float>(64));
}

/// Through shared memory, with a barrier.
__global__ void exchanged(Four* fours) {
  __shared__ Four tile[64];
  tile[threadIdx.x] = reversed(fours[threadIdx.x]);
  __syncthreads();
  fours[threadIdx.x] = reversed(tile[63 - threadIdx.x]);
}
CASE { exchanged<<<1, 64>>>(filled<Four>(64)); }
