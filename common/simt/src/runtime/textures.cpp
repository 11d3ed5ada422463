#include "simt/textures.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>

#include "../memory/access.h"
#include "../memory/heap.h"
#include "../memory/pool.h"
#include "call.h"
#include "handles.h"

namespace simt {
namespace {

struct Array {
  char* data;
  std::size_t width, height;  ///< elements, rows; a one-dimensional array has no height
  std::size_t pitch;          ///< bytes from one row to the next
  cudaChannelFormatDesc format;
  unsigned flags;

  std::size_t rows() const { return std::max<std::size_t>(height, 1); }
};

Handles<cudaArray_t, Array>& arrays() {
  static auto* const arrays = new Handles<cudaArray_t, Array>;  // never destroyed, like the heap
  return *arrays;
}

/// A texture or surface object.
struct Texture {
  bool is_surface;
  bool is_linear;  ///< tex1Dfetch() only
  Array memory;
  cudaTextureDesc how;
};

/// A kernel finds an object by its number without a lock. Numbers are never used again.
constexpr std::size_t most_textures = 65536;
std::array<std::atomic<const Texture*>, most_textures> textures;
std::atomic<std::size_t> next_texture = 1;

const Texture* texture_at(unsigned long long handle) {
  return handle < most_textures ? textures[handle].load() : nullptr;
}

cudaError_t add_texture(unsigned long long* handle, const Texture& texture) {
  const std::size_t number = next_texture++;
  if (number >= most_textures) return cudaErrorMemoryAllocation;
  textures[number] = new Texture(texture);
  *handle = number;
  return cudaSuccess;
}

/// The object itself stays: a kernel of another host thread may still read it.
cudaError_t remove_texture(unsigned long long handle, bool is_surface) {
  const Texture* const texture = texture_at(handle);
  if (handle != 0 && (texture == nullptr || texture->is_surface != is_surface)) return cudaErrorInvalidValue;
  if (handle != 0) textures[handle] = nullptr;
  return cudaSuccess;
}

int channels_of(const cudaChannelFormatDesc& f) { return (f.x != 0) + (f.y != 0) + (f.z != 0) + (f.w != 0); }
std::size_t element_bytes(const cudaChannelFormatDesc& f) { return std::size_t(f.x + f.y + f.z + f.w) / 8; }

/// One, two or four channels of the same size.
bool is_format(const cudaChannelFormatDesc& f) {
  const int channels = channels_of(f);
  const bool is_size = f.f == cudaChannelFormatKindFloat ? f.x == 32 : f.x == 8 || f.x == 16 || f.x == 32;
  const bool is_kind = f.f >= cudaChannelFormatKindSigned && f.f <= cudaChannelFormatKindFloat;
  const bool is_same = (channels < 2 || f.y == f.x) && (channels < 4 || (f.z == f.x && f.w == f.x));
  return is_size && is_kind && is_same && channels != 3;
}

/// The memory that a resource describes.
cudaError_t memory_of(const cudaResourceDesc& resource, Array& memory) {
  const auto& linear = resource.res.linear;
  const auto& pitched = resource.res.pitch2D;
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return arrays().with(resource.res.array.array, [&](const Array& array) {
        memory = array;
        return cudaSuccess;
      });
    case cudaResourceTypeLinear:
      if (!is_format(linear.desc) || !access_of(linear.devPtr, linear.sizeInBytes).device) break;
      memory = {static_cast<char*>(linear.devPtr),
                linear.sizeInBytes / element_bytes(linear.desc),
                0,
                linear.sizeInBytes,
                linear.desc,
                cudaArrayDefault};
      return cudaSuccess;
    case cudaResourceTypePitch2D: {
      if (!is_format(pitched.desc) || pitched.width == 0 || pitched.height == 0) break;
      const std::size_t row = pitched.width * element_bytes(pitched.desc);
      if (row > pitched.pitchInBytes || pitched.pitchInBytes % 32 != 0) break;  // texturePitchAlignment
      if (!access_of(pitched.devPtr, (pitched.height - 1) * pitched.pitchInBytes + row).device) break;
      memory = {static_cast<char*>(pitched.devPtr),
                pitched.width,
                pitched.height,
                pitched.pitchInBytes,
                pitched.desc,
                cudaArrayDefault};
      return cudaSuccess;
    }
    case cudaResourceTypeMipmappedArray:
      return cudaErrorNotSupported;
  }
  return cudaErrorInvalidValue;
}

/// Whether elements of this format can be read in this way.
bool is_readable(const cudaChannelFormatDesc& format, const cudaTextureDesc& how) {
  const bool is_float = format.f == cudaChannelFormatKindFloat;
  if (how.readMode == cudaReadModeNormalizedFloat) return is_float || format.x <= 16;
  return is_float || how.filterMode == cudaFilterModePoint;  // a filter makes numbers between the elements
}

/// The element at index `i` of `n`, or -1: the border. CUDA wraps and mirrors normalized coordinates only.
long inside(long i, long n, cudaTextureAddressMode mode, bool is_normalized) {
  if (i >= 0 && i < n) return i;
  if (mode == cudaAddressModeBorder) return -1;
  if (!is_normalized || mode == cudaAddressModeClamp) return i < 0 ? 0 : n - 1;
  const long period = mode == cudaAddressModeMirror ? 2 * n : n;
  const long folded = (i % period + period) % period;
  return folded < n ? folded : period - 1 - folded;
}

/// One coordinate: the elements on both sides, and the part of the second one.
struct Axis {
  long of[2];
  float part = 0;  ///< in 256ths: the hardware has 8 bits for it
  int count = 1;

  Axis(float x, std::size_t size, const cudaTextureDesc& how, int axis) {
    const bool is_linear = how.filterMode == cudaFilterModeLinear, is_normalized = how.normalizedCoords != 0;
    const long n = long(size);
    float at = is_normalized ? x * float(n) : x;
    if (is_linear) at -= 0.5f;
    if (!(std::fabs(at) < 1e9f)) at = at > 0 ? 1e9f : std::isnan(at) ? 0.0f : -1e9f;
    const float below = std::floor(at);
    of[0] = inside(long(below), n, how.addressMode[axis], is_normalized);
    if (!is_linear) return;
    of[1] = inside(long(below) + 1, n, how.addressMode[axis], is_normalized);
    part = std::floor((at - below) * 256 + 0.5f) / 256;
    count = 2;
  }
};

const void* element(const Array& memory, long x, long y) {
  if (x < 0 || y < 0) return nullptr;
  return memory.data + std::size_t(y) * memory.pitch + std::size_t(x) * element_bytes(memory.format);
}

[[noreturn]] void refuse_read(const std::string& why, Site site) {
  Worker::running()->fail({"invalid-texture", why, site, cudaErrorLaunchFailure});
}

/// Why this function cannot read the texture, or null.
const char* unreadable(const Texture* texture, TextureRead read) {
  if (texture == nullptr || texture->is_surface) return "reads a texture object that does not exist or was destroyed";
  const bool has_rows = texture->memory.height != 0;
  if (read == TextureRead::fetch_1d) {
    return texture->is_linear ? nullptr : "calls tex1Dfetch(), which reads textures of linear memory only";
  }
  if (texture->is_linear) return "reads a texture of linear memory by tex1D() or tex2D(): call tex1Dfetch()";
  if (read == TextureRead::at_1d) return has_rows ? "calls tex1D() for a texture of two dimensions" : nullptr;
  return has_rows ? nullptr : "calls tex2D() for a texture of one dimension";
}

/// The bits that a read without a filter gives for channel `c`.
unsigned bits_of(const cudaChannelFormatDesc& format, const unsigned char* element, int c) {
  const int bytes = format.x / 8;
  unsigned bits = 0;
  std::memcpy(&bits, element + c * bytes, std::size_t(bytes));
  if (format.f != cudaChannelFormatKindSigned || bytes == 4) return bits;
  const int shift = 32 - format.x;
  return unsigned(int(bits << shift) >> shift);
}

/// The same as a number: integers as a part of the largest one.
float number(const Texture& texture, const unsigned char* element, int c) {
  const cudaChannelFormatDesc& format = texture.memory.format;
  const unsigned bits = bits_of(format, element, c);
  if (format.f == cudaChannelFormatKindFloat) return bit_cast<float>(bits);
  if (format.f == cudaChannelFormatKindUnsigned) return float(bits) / float((1u << format.x) - 1);
  return std::max(-1.0f, float(int(bits)) / float((1u << (format.x - 1)) - 1));
}

/// cudaSuccess if the array has so many rows and bytes from (x, y) on.
cudaError_t check_part(const Array& array, std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
  const bool fits = x <= array.pitch && width <= array.pitch - x && y <= array.rows() && height <= array.rows() - y;
  return fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t find_array(cudaArray_const_t handle, Array& found) {
  return arrays().with(const_cast<cudaArray_t>(handle), [&](const Array& array) {
    found = array;
    return cudaSuccess;
  });
}

/// cudaSuccess if so many bytes in a row follow (x, y), across rows.
cudaError_t check_bytes(const Array& array, std::size_t begin, std::size_t bytes) {
  const std::size_t all = array.pitch * array.rows();
  return begin <= all && bytes <= all - begin ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

void destroy_all_textures() {
  arrays().clear();
  for (std::size_t i = 0; i < std::min(next_texture.load(), most_textures); ++i) textures[i] = nullptr;
}

Texels find_texels(TextureRead read, cudaTextureObject_t handle, float x, float y, int index, Site site) {
  const Texture* const texture = texture_at(handle);
  if (const char* const why = unreadable(texture, read)) refuse_read(why, site);
  const Array& memory = texture->memory;
  Texels texels = {{}, {1, 0, 0, 0}, 1, int(element_bytes(memory.format)), handle};
  if (read == TextureRead::fetch_1d) {  // which gives 0 outside
    texels.address[0] = index < 0 || std::size_t(index) >= memory.width ? nullptr : element(memory, index, 0);
    return texels;
  }
  const Axis column(x, memory.width, texture->how, 0);
  // A GPU filters an array of one dimension along the other axis, too, at 0: halfway between its row and what is before.
  const bool has_border_above = column.count == 2 && texture->how.addressMode[1] == cudaAddressModeBorder;
  if (read == TextureRead::at_1d && !has_border_above) {
    for (int i = 0; i < column.count; ++i) {
      texels.address[i] = element(memory, column.of[i], 0);
      texels.weight[i] = i == 0 ? 1 - column.part : column.part;
    }
    texels.count = column.count;
    return texels;
  }
  const Axis row(read == TextureRead::at_1d ? 0 : y, memory.rows(), texture->how, 1);
  texels.count = column.count * row.count;
  for (int i = 0; i < texels.count; ++i) {
    texels.address[i] = element(memory, column.of[i % 2], row.of[i / 2]);
    texels.weight[i] = (i % 2 == 0 ? 1 - column.part : column.part) * (i / 2 == 0 ? 1 - row.part : row.part);
  }
  return texels;
}

TextureRegisters combine(const Texels& texels, const TexelBytes& elements) {
  const Texture& texture = *texture_at(texels.texture);
  const cudaChannelFormatDesc& format = texture.memory.format;
  const bool is_number = format.f == cudaChannelFormatKindFloat || texture.how.readMode == cudaReadModeNormalizedFloat;
  const bool has_border = !texture.is_linear;
  TextureRegisters registers = {};
  for (int c = 0; c < channels_of(format); ++c) {
    if (!is_number) {
      registers.of[c] = texels.address[0] == nullptr ? 0 : bits_of(format, elements.of[0], c);
      continue;
    }
    float sum = 0;
    for (int i = 0; i < texels.count; ++i) {
      const float border = has_border ? texture.how.borderColor[c] : 0;
      const float value = texels.address[i] == nullptr ? border : number(texture, elements.of[i], c);
      sum = texels.count == 1 ? value : sum + texels.weight[i] * value;
    }
    registers.of[c] = bit_cast<unsigned>(sum);
  }
  return registers;
}

void* in_surface(cudaSurfaceObject_t handle, std::size_t bytes, int x, int y, cudaSurfaceBoundaryMode mode, Site site) {
  const Texture* const surface = texture_at(handle);
  if (surface == nullptr || !surface->is_surface) {
    refuse_read("uses a surface object that does not exist or was destroyed", site);
  }
  const Array& memory = surface->memory;
  const long last_x = long(memory.pitch) - long(bytes), last_y = long(memory.rows()) - 1;
  if (x < 0 || x > last_x || y < 0 || y > last_y) {
    if (mode == cudaBoundaryModeZero) return nullptr;
    if (mode == cudaBoundaryModeTrap) {
      refuse_read("accesses byte " + std::to_string(x) + " of row " + std::to_string(y) + " of a surface that has " +
                      std::to_string(memory.rows()) + " rows of " + std::to_string(memory.pitch) +
                      " bytes; x counts bytes: multiply it by the size of an element",
                  site);
    }
    x = int(std::clamp<long>(x, 0, last_x));
    y = int(std::clamp<long>(y, 0, last_y));
  }
  return memory.data + std::size_t(y) * memory.pitch + x;
}

}  // namespace simt

using namespace simt;

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height, unsigned flags) {
  return call(__func__, [&] {
    if (array == nullptr || format == nullptr || width == 0 || !is_format(*format)) return cudaErrorInvalidValue;
    if (flags > cudaArraySurfaceLoadStore) return cudaErrorNotSupported;
    Array made = {nullptr, width, height, width * element_bytes(*format), *format, flags};
    void* data = nullptr;
    const cudaError_t error = allocate(&data, made.pitch * made.rows(), MemoryKind::device);
    if (error != cudaSuccess) return error;
    made.data = static_cast<char*>(data);
    *array = arrays().add(made);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeArray(cudaArray_t handle) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    if (handle == nullptr) return cudaSuccess;
    Array array;
    if (const cudaError_t error = find_array(handle, array); error != cudaSuccess) return error;
    arrays().remove(handle);
    return free_memory({"cudaFreeArray", caller}, array.data, {MemoryKind::device});
  });
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                              cudaMemcpyKind kind) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    Array array;
    if (const cudaError_t error = find_array(to, array); error != cudaSuccess) return error;
    const std::size_t begin = y * array.pitch + x;
    if (const cudaError_t error = check_bytes(array, begin, bytes); error != cudaSuccess) return error;
    return copy({"cudaMemcpyToArray", caller}, array.data + begin, from, bytes, kind, {});
  });
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t bytes,
                                cudaMemcpyKind kind) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    Array array;
    if (const cudaError_t error = find_array(from, array); error != cudaSuccess) return error;
    const std::size_t begin = y * array.pitch + x;
    if (const cudaError_t error = check_bytes(array, begin, bytes); error != cudaSuccess) return error;
    return copy({"cudaMemcpyFromArray", caller}, to, array.data + begin, bytes, kind, {});
  });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    Array array;
    if (const cudaError_t error = find_array(to, array); error != cudaSuccess) return error;
    if (const cudaError_t error = check_part(array, x, y, width, height); error != cudaSuccess) return error;
    return copy_2d({"cudaMemcpy2DToArray", caller},
                   {array.data + y * array.pitch + x, array.pitch, from, from_pitch, width, height}, kind);
  });
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t to_pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
                                  std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return call(__func__, [&, caller = __builtin_return_address(0)] {
    Array array;
    if (const cudaError_t error = find_array(from, array); error != cudaSuccess) return error;
    if (const cudaError_t error = check_part(array, x, y, width, height); error != cudaSuccess) return error;
    return copy_2d({"cudaMemcpy2DFromArray", caller},
                   {to, to_pitch, array.data + y * array.pitch + x, array.pitch, width, height}, kind);
  });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view) {
  return call(__func__, [&] {
    if (texture == nullptr || resource == nullptr || description == nullptr) return cudaErrorInvalidValue;
    if (view != nullptr || description->sRGB != 0) return cudaErrorNotSupported;
    Texture made = {false, resource->resType == cudaResourceTypeLinear, {}, *description};
    if (const cudaError_t error = memory_of(*resource, made.memory); error != cudaSuccess) return error;
    if (!made.is_linear && !is_readable(made.memory.format, *description)) return cudaErrorInvalidValue;
    return add_texture(texture, made);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return call(__func__, [&] { return remove_texture(texture, false); });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  return call(__func__, [&] {
    if (surface == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    if (resource->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
    Texture made = {true, false, {}, {}};
    if (const cudaError_t error = memory_of(*resource, made.memory); error != cudaSuccess) return error;
    if (made.memory.flags != cudaArraySurfaceLoadStore) return cudaErrorInvalidValue;
    return add_texture(surface, made);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return call(__func__, [&] { return remove_texture(surface, true); });
}
