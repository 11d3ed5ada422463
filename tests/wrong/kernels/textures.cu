// Reads through texture objects.
#include "case.h"

cudaTextureDesc point() {
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  return how;
}

cudaTextureObject_t linear(float* data, std::size_t n) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = n * sizeof(float);
  cudaTextureObject_t texture = 0;
  const cudaTextureDesc how = point();
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  return texture;
}

cudaTextureObject_t unwritten_array() {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&resource.res.array.array, &format, 8, 8);
  cudaTextureObject_t texture = 0;
  const cudaTextureDesc how = point();
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  return texture;
}

/// Linear memory that nothing has written.
__global__ void fetch_unwritten(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, int(threadIdx.x));  // expect: uninitialized
}
CASE { fetch_unwritten<<<1, 32>>>(linear(device<float>(32), 32), device<float>(32)); }

/// An array into which nothing was copied.
__global__ void read_unwritten(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, 0.5f, float(threadIdx.x) + 0.5f);  // expect: uninitialized
}
CASE { read_unwritten<<<1, 8>>>(unwritten_array(), device<float>(8)); }

/// Others write what the texture reads.
__global__ void write_and_fetch(float* data, cudaTextureObject_t texture, float* out) {
  data[threadIdx.x] = 1;                                                      // expect-one: race
  out[threadIdx.x] = tex1Dfetch<float>(texture, int(threadIdx.x + 32) % 64);  // expect-one: race
}
CASE {
  float* const data = filled<float>(64);
  write_and_fetch<<<1, 64>>>(data, linear(data, 64), device<float>(64));
}

/// Memory that was freed while a texture of it remained.
__global__ void fetch_freed(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, int(threadIdx.x));  // expect: use-after-free
}
CASE {
  float* const data = filled<float>(32);
  const cudaTextureObject_t texture = linear(data, 32);
  cudaFree(data);
  fetch_freed<<<1, 32>>>(texture, device<float>(32));
}

/// A texture object that was destroyed.
__global__ void fetch_destroyed(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, int(threadIdx.x));  // expect: invalid-texture
}
CASE {
  const cudaTextureObject_t texture = linear(filled<float>(32), 32);
  cudaDestroyTextureObject(texture);
  fetch_destroyed<<<1, 32>>>(texture, device<float>(32));
}

/// A function for textures of another kind.
__global__ void read_linear(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1D<float>(texture, float(threadIdx.x));  // expect: invalid-texture
}
CASE { read_linear<<<1, 32>>>(linear(filled<float>(32), 32), device<float>(32)); }
