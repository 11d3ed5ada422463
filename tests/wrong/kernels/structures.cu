// Structures that functions return and take by value. Registers hold the small ones, memory the large ones.
#include "case.h"

struct Pair {
  unsigned key, value;
};
struct Four {
  float x, y, z, w;
};
struct Large {
  int first, others[9];
};

__device__ __noinline__ Pair pair_of(unsigned i) {
  Pair made;
  made.key = i;
  made.value = i + 1;
  return made;
}
__device__ __noinline__ Four four_of(int i) {
  Four made;
  made.x = made.y = float(i);
  made.z = made.w = 1;
  return made;
}
__device__ __noinline__ float4 vector_of(int i) { return make_float4(float(i), 1, 2, 3); }
__device__ __noinline__ Large large_of(int i) {
  Large made = {};
  made.first = i;
  made.others[8] = i;
  return made;
}
__device__ __noinline__ float sum(Four four) { return four.x + four.y + four.z + four.w; }
__device__ __noinline__ int last(Large large) { return large.others[8]; }

/// All threads store into one element.
__global__ void into_one(Four* out) {
  *out = four_of(int(threadIdx.x));  // expect: race
}
CASE { into_one<<<1, 64>>>(device<Four>(1)); }

__global__ void into_one_vector(float4* out) {
  out[0] = vector_of(int(threadIdx.x));  // expect: race
}
CASE { into_one_vector<<<1, 64>>>(device<float4>(1)); }

__global__ void into_one_large(Large* out) {
  *out = large_of(int(threadIdx.x));  // expect: race
}
CASE { into_one_large<<<1, 64>>>(device<Large>(1)); }

__global__ void into_shared(unsigned* out) {
  __shared__ Pair tile[32];
  tile[threadIdx.x % 32] = pair_of(threadIdx.x);  // expect: race
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x % 32].key;
}
CASE { into_shared<<<1, 64>>>(device<unsigned>(64)); }

__global__ void past_end(Four* out, int shift) {
  out[threadIdx.x + shift] = four_of(int(threadIdx.x));  // expect: out-of-bounds
}
CASE { past_end<<<1, 32>>>(device<Four>(32), 8); }

/// Other files cannot see the structure, whose copies the compiler makes.
namespace {
struct Range {
  long long first, end;
};
}  // namespace
__global__ void past_end_of_ranges(const Range* in, Range* out, int shift) {
  // In one line, because clang++ reads the structure only where it is stored.
  out[threadIdx.x] = in[threadIdx.x + shift];  // expect: out-of-bounds
}
CASE { past_end_of_ranges<<<1, 32>>>(filled<Range>(32), device<Range>(32), 8); }

__global__ void unwritten(const Four* in, float* out) {
  out[threadIdx.x] = sum(in[threadIdx.x]);  // expect: uninitialized
}
CASE { unwritten<<<1, 32>>>(device<Four>(32), device<float>(32)); }

__global__ void unwritten_large(const Large* in, int* out) {
  out[threadIdx.x] = last(in[threadIdx.x]);  // expect: uninitialized
}
CASE { unwritten_large<<<1, 32>>>(device<Large>(32), device<int>(32)); }

/// A thread takes the element that the next one replaces.
__global__ void neighbours(Four* fours, float* out) {
  out[threadIdx.x] = sum(fours[(threadIdx.x + 1) % blockDim.x]);  // expect-one: race
  fours[threadIdx.x] = four_of(int(threadIdx.x));                 // expect-one: race
}
CASE { neighbours<<<1, 64>>>(filled<Four>(64), device<float>(64)); }
