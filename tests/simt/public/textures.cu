// Textures of linear memory, of pitched memory and of arrays, and surfaces.
#include <cmath>
#include <cstdint>
#include <vector>

#include "expect.h"

namespace {

/// One object for each kind of read.
class Texture {
 public:
  Texture(const cudaResourceDesc& resource, const cudaTextureDesc& how) {
    CUDA(cudaCreateTextureObject(&object_, &resource, &how, nullptr));
  }
  ~Texture() { cudaDestroyTextureObject(object_); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  cudaTextureObject_t object() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

cudaTextureDesc how(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool is_normalized,
                    cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = mode;
  description.filterMode = filter;
  description.readMode = read;
  description.normalizedCoords = is_normalized;
  return description;
}

template <class T>
cudaResourceDesc linear(const Array<T>& data, std::size_t n) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data.data();
  resource.res.linear.desc = cudaCreateChannelDesc<T>();
  resource.res.linear.sizeInBytes = n * sizeof(T);
  return resource;
}

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

template <class T>
__global__ void fetch(cudaTextureObject_t texture, const int* at, T* to) {
  to[threadIdx.x] = tex1Dfetch<T>(texture, at[threadIdx.x]);
}
__global__ void read_1d(cudaTextureObject_t texture, const float* at, float* to) {
  to[threadIdx.x] = tex1D<float>(texture, at[threadIdx.x]);
}
__global__ void read_2d(cudaTextureObject_t texture, const float2* at, float* to) {
  to[threadIdx.x] = tex2D<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y);
}
__global__ void read_pixels(cudaTextureObject_t texture, uchar4* to) {
  to[threadIdx.x] = tex2D<uchar4>(texture, float(threadIdx.x % 3) + 0.5f, float(threadIdx.x / 3) + 0.5f);
}
__global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width) {
  const int x = int(threadIdx.x), y = int(blockIdx.x);
  const float value = surf2Dread<float>(from, x * int(sizeof(float)), y);
  surf2Dwrite(-value, to, (width - 1 - x) * int(sizeof(float)), y);
}

template <class T>
void copy_in(const Array<T>& to, const std::vector<T>& values) {
  CUDA(cudaMemcpy(to.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
}

std::vector<float> at_1d(const Texture& texture, const std::vector<float>& places) {
  Array<float> at(places.size()), to(places.size());
  copy_in(at, places);
  read_1d<<<1, unsigned(places.size())>>>(texture.object(), at.data(), to.data());
  CUDA(cudaGetLastError());
  return to.values();
}
std::vector<float> at_2d(const Texture& texture, const std::vector<float2>& places) {
  Array<float2> at(places.size());
  Array<float> to(places.size());
  copy_in(at, places);
  read_2d<<<1, unsigned(places.size())>>>(texture.object(), at.data(), to.data());
  CUDA(cudaGetLastError());
  return to.values();
}

void fetches() {
  Array<int> data(100), at(4), to(4);
  data.fill([](int i) { return 7 - 2 * i; });
  copy_in(at, {0, 99, 50, 3});
  const Texture texture(linear(data, 100), cudaTextureDesc());
  fetch<<<1, 4>>>(texture.object(), at.data(), to.data());
  EXPECT((to.values() == std::vector<int>{7, -191, -93, 1}));

  // Outside is 0.
  copy_in(at, {-1, 49, 50, 100});
  const Texture half(linear(data, 50), cudaTextureDesc());
  fetch<<<1, 4>>>(half.object(), at.data(), to.data());
  EXPECT((to.values() == std::vector<int>{0, -91, 0, 0}));

  // Small integers as numbers from -1 to 1.
  Array<signed char> bytes(4);
  Array<float> parts(4);
  copy_in<signed char>(bytes, {127, -128, -127, 0});
  copy_in(at, {0, 1, 2, 3});
  const Texture numbers(linear(bytes, 4),
                        how(cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat));
  fetch<<<1, 4>>>(numbers.object(), at.data(), parts.data());
  EXPECT((parts.values() == std::vector<float>{1, -1, -1, 0}));
}

void address_modes() {
  const float values[] = {10, 20, 30, 40};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CUDA(cudaMallocArray(&array, &format, 4));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, values, sizeof values, sizeof values, 1, cudaMemcpyHostToDevice));
  const cudaResourceDesc resource = of_array(array);
  using Floats = std::vector<float>;
  {
    const Texture clamp(resource, how(cudaAddressModeClamp, cudaFilterModePoint, false));
    EXPECT((at_1d(clamp, {-5, 0, 0.99f, 1, 3.5f, 4, 100}) == Floats{10, 10, 10, 20, 40, 40, 40}));
    const Texture border(resource, how(cudaAddressModeBorder, cudaFilterModePoint, false));
    EXPECT((at_1d(border, {-0.1f, 0, 3.9f, 4}) == Floats{0, 10, 40, 0}));
    const Texture wrap(resource, how(cudaAddressModeWrap, cudaFilterModePoint, true));
    EXPECT((at_1d(wrap, {0.1f, 0.9f, 1.1f, -0.1f, 2.4f}) == Floats{10, 40, 10, 40, 20}));
    const Texture mirror(resource, how(cudaAddressModeMirror, cudaFilterModePoint, true));
    EXPECT((at_1d(mirror, {0.1f, 1.1f, 1.4f, -0.1f, 2.1f}) == Floats{10, 40, 30, 10, 10}));
  }
  {
    // Halfway between the centres of two elements; the weight has 8 bits.
    const Texture clamp(resource, how(cudaAddressModeClamp, cudaFilterModeLinear, false));
    EXPECT((at_1d(clamp, {0.5f, 1, 1.75f, 0, 4}) == Floats{10, 15, 22.5f, 10, 40}));
    EXPECT((at_1d(clamp, {0.5f + 0.3f}) == Floats{10 + 10 * 77 / 256.0f}));
    const Texture border(resource, how(cudaAddressModeBorder, cudaFilterModeLinear, false));
    // Along the other axis, the place is 0: halfway between the row and the border.
    EXPECT((at_1d(border, {0, -1, 4}) == Floats{2.5f, 0, 10}));
    cudaTextureDesc at_ends = how(cudaAddressModeBorder, cudaFilterModeLinear, false);
    at_ends.addressMode[1] = cudaAddressModeClamp;
    const Texture border_at_ends(resource, at_ends);
    EXPECT((at_1d(border_at_ends, {0, -1, 4}) == Floats{5, 0, 20}));
    const Texture wrap(resource, how(cudaAddressModeWrap, cudaFilterModeLinear, true));
    EXPECT((at_1d(wrap, {0, 1, 0.125f}) == Floats{25, 25, 10}));
  }
  CUDA(cudaFreeArray(array));
}

void two_dimensions() {
  const int width = 5, height = 3;
  char* data = nullptr;
  std::size_t pitch = 0;
  CUDA(cudaMallocPitch(reinterpret_cast<void**>(&data), &pitch, width * sizeof(float), height));
  std::vector<float> values(width * height);
  for (int i = 0; i < width * height; ++i) values[std::size_t(i)] = float(100 * (i / width) + i % width);
  CUDA(cudaMemcpy2D(data, pitch, values.data(), width * sizeof(float), width * sizeof(float), height,
                    cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = data;
  resource.res.pitch2D.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  {
    const Texture point(resource, how(cudaAddressModeClamp, cudaFilterModePoint, false));
    EXPECT((at_2d(point, {{0, 0}, {4.5f, 2.5f}, {9, 1}, {2, -3}}) == std::vector<float>{0, 204, 104, 2}));
    const Texture filtered(resource, how(cudaAddressModeClamp, cudaFilterModeLinear, false));
    EXPECT((at_2d(filtered, {{1, 1}, {2.5f, 1.25f}, {5, 3}}) == std::vector<float>{50.5f, 77, 204}));
  }
  CUDA(cudaFree(data));
}

void pixels() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  std::vector<uchar4> values(6);
  for (unsigned i = 0; i < 6; ++i) values[i] = {static_cast<unsigned char>(40 * i), 1, 2, 255};
  cudaArray_t array;
  CUDA(cudaMallocArray(&array, &format, 3, 2));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, values.data(), 3 * sizeof(uchar4), 3 * sizeof(uchar4), 2,
                           cudaMemcpyHostToDevice));
  Array<uchar4> to(6);
  {
    const Texture elements(of_array(array), how(cudaAddressModeClamp, cudaFilterModePoint, false));
    read_pixels<<<1, 6>>>(elements.object(), to.data());
    const std::vector<uchar4> read = to.values();
    EXPECT(read[1].x == 40 && read[5].x == 200 && read[5].y == 1 && read[5].z == 2 && read[5].w == 255);
    const Texture numbers(of_array(array),
                          how(cudaAddressModeClamp, cudaFilterModeLinear, true, cudaReadModeNormalizedFloat));
    const std::vector<float> mean = at_2d(numbers, {{0.5f, 0.5f}});
    EXPECT(std::fabs(mean[0] - 100 / 255.0f) < 1e-6f);
  }
  std::vector<uchar4> back(4);
  CUDA(cudaMemcpy2DFromArray(back.data(), 2 * sizeof(uchar4), array, sizeof(uchar4), 0, 2 * sizeof(uchar4), 2,
                             cudaMemcpyDeviceToHost));
  EXPECT(back[0].x == 40 && back[3].x == 200);
  CUDA(cudaFreeArray(array));
}

void surfaces() {
  const int width = 8, height = 4;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t arrays[2];
  cudaSurfaceObject_t objects[2];
  for (int i = 0; i < 2; ++i) {
    CUDA(cudaMallocArray(&arrays[i], &format, width, height, cudaArraySurfaceLoadStore));
    const cudaResourceDesc resource = of_array(arrays[i]);
    CUDA(cudaCreateSurfaceObject(&objects[i], &resource));
  }
  std::vector<float> values(width * height);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  const std::size_t row = width * sizeof(float);
  CUDA(cudaMemcpy2DToArray(arrays[0], 0, 0, values.data(), row, row, height, cudaMemcpyHostToDevice));
  invert<<<height, width>>>(objects[0], objects[1], width);
  CUDA(cudaMemcpy2DFromArray(values.data(), row, arrays[1], 0, 0, row, height, cudaMemcpyDeviceToHost));
  EXPECT(values[0] == -7 && values[7] == 0 && values[31] == -24);
  for (int i = 0; i < 2; ++i) {
    CUDA(cudaDestroySurfaceObject(objects[i]));
    CUDA(cudaFreeArray(arrays[i]));
  }
}

void refusals() {
  cudaTextureObject_t object = 0;
  cudaArray_t array = nullptr;
  cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
  EXPECT(cudaMallocArray(&array, &format, 4) != cudaSuccess);
  format = cudaCreateChannelDesc<int>();
  CUDA(cudaMallocArray(&array, &format, 4));
  const cudaResourceDesc of_integers = of_array(array);
  const cudaTextureDesc filtered = how(cudaAddressModeClamp, cudaFilterModeLinear, false);
  EXPECT(cudaCreateTextureObject(&object, &of_integers, &filtered, nullptr) != cudaSuccess);
  CUDA(cudaFreeArray(array));
  cudaGetLastError();
}

}  // namespace

int main() {
  fetches();
  address_modes();
  two_dimensions();
  pixels();
  surfaces();
  refusals();
  return finish();
}
