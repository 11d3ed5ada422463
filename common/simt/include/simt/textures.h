// Texture and surface objects, and the arrays behind them (CUDA C++ Programming Guide, "Texture and Surface Memory" and
// "Texture Fetching"): of one and two dimensions, with channels of 8, 16 or 32 bits. What is missing is not declared:
// layers, cubes, mipmaps, three dimensions.
#pragma once

#include <type_traits>

#include "simt/device.h"
#include "simt/intrinsics.h"
#include "simt/runtime/types.h"

struct cudaArray;
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

inline constexpr unsigned cudaArrayDefault = 0x00;
inline constexpr unsigned cudaArraySurfaceLoadStore = 0x02;

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3,
};
/// Bits of each channel.
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3,
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned flags;
};
enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3,
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };

// --- host functions ---
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height = 0, unsigned flags = cudaArrayDefault);
cudaError_t cudaFreeArray(cudaArray_t array);
/// Offsets and widths are in bytes, heights in rows.
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                              cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t bytes,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t to_pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
                                  std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

namespace simt {

void destroy_all_textures();

/// Up to four elements that a read needs, and their part in the result.
struct Texels {
  const void* address[4];  ///< null: outside, where the border's colour is
  float weight[4];
  int count;
  int bytes;  ///< of an element
  cudaTextureObject_t texture;
};

enum class TextureRead { fetch_1d, at_1d, at_2d };
Texels find_texels(TextureRead read, cudaTextureObject_t texture, float x, float y, int index, Site site);

/// The four 32-bit registers that a read fills.
struct TextureRegisters {
  unsigned of[4];
};
struct TexelBytes {
  alignas(16) unsigned char of[4][16];
};
TextureRegisters combine(const Texels& texels, const TexelBytes& elements);

/// The address of `bytes` in a surface. Null: a read gives 0, and nothing is written.
void* in_surface(cudaSurfaceObject_t surface, std::size_t bytes, int x, int y, cudaSurfaceBoundaryMode mode, Site site);

/// T's channels: those of a vector, or T itself.
template <class T, class = void>
struct Channels {
  using type = T;
};
template <class T>
struct Channels<T, std::void_t<decltype(T::x)>> {
  using type = decltype(T::x);
};

template <class T>
T from_registers(const TextureRegisters& registers) {
  using Channel = typename Channels<T>::type;
  static_assert(sizeof(Channel) <= 4, "textures have channels of up to 32 bits");
  Channel channels[4] = {};
  for (int i = 0; i < 4; ++i) std::memcpy(&channels[i], &registers.of[i], sizeof(Channel));  // the low bytes come first
  T value;
  std::memcpy(static_cast<void*>(&value), channels, sizeof value);
  return value;
}

template <class T>
[[gnu::always_inline]] inline void load_texel(const void* from, unsigned char* to) {
  const T value = *static_cast<const T*>(from);
  std::memcpy(to, &value, sizeof value);
}

/// The reads of memory are part of the kernel, so that the check build sees them.
template <class T>
[[gnu::always_inline]] inline T read_texture(const Texels& texels) {
  TexelBytes elements = {};
  for (int i = 0; i < texels.count; ++i) {
    const void* const from = texels.address[i];
    if (from == nullptr) continue;
    unsigned char* const to = elements.of[i];
    switch (texels.bytes) {
      case 1:
        load_texel<unsigned char>(from, to);
        break;
      case 2:
        load_texel<unsigned short>(from, to);
        break;
      case 4:
        load_texel<unsigned>(from, to);
        break;
      case 8:
        load_texel<uint2>(from, to);
        break;
      default:
        load_texel<uint4>(from, to);
    }
  }
  return from_registers<T>(combine(texels, elements));
}

template <class T>
constexpr cudaChannelFormatKind channel_kind =
    std::is_floating_point_v<T> ? cudaChannelFormatKindFloat
                                : (std::is_signed_v<T> ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned);

}  // namespace simt

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Channel = typename simt::Channels<T>::type;
  constexpr int bits = 8 * sizeof(Channel), channels = sizeof(T) / sizeof(Channel);
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, simt::channel_kind<Channel>};
}

// --- device functions, inline: the check build names the line of the call ---
template <class T>
[[gnu::always_inline]] inline T tex1Dfetch(cudaTextureObject_t texture, int index,
                                           simt::Site site = simt::Site::here()) {
  return simt::read_texture<T>(simt::find_texels(simt::TextureRead::fetch_1d, texture, 0, 0, index, site));
}
template <class T>
[[gnu::always_inline]] inline T tex1D(cudaTextureObject_t texture, float x, simt::Site site = simt::Site::here()) {
  return simt::read_texture<T>(simt::find_texels(simt::TextureRead::at_1d, texture, x, 0, 0, site));
}
template <class T>
[[gnu::always_inline]] inline T tex2D(cudaTextureObject_t texture, float x, float y,
                                      simt::Site site = simt::Site::here()) {
  return simt::read_texture<T>(simt::find_texels(simt::TextureRead::at_2d, texture, x, y, 0, site));
}
template <class T>
[[gnu::always_inline]] inline void tex1Dfetch(T* to, cudaTextureObject_t texture, int index,
                                              simt::Site site = simt::Site::here()) {
  *to = tex1Dfetch<T>(texture, index, site);
}
template <class T>
[[gnu::always_inline]] inline void tex1D(T* to, cudaTextureObject_t texture, float x,
                                         simt::Site site = simt::Site::here()) {
  *to = tex1D<T>(texture, x, site);
}
template <class T>
[[gnu::always_inline]] inline void tex2D(T* to, cudaTextureObject_t texture, float x, float y,
                                         simt::Site site = simt::Site::here()) {
  *to = tex2D<T>(texture, x, y, site);
}

/// `x` is in bytes.
template <class T>
[[gnu::always_inline]] inline T surf2Dread(cudaSurfaceObject_t surface, int x, int y,
                                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                           simt::Site site = simt::Site::here()) {
  const void* const address = simt::in_surface(surface, sizeof(T), x, y, mode, site);
  return address == nullptr ? T() : *static_cast<const T*>(address);
}
template <class T>
[[gnu::always_inline]] inline void surf2Dread(T* to, cudaSurfaceObject_t surface, int x, int y,
                                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                              simt::Site site = simt::Site::here()) {
  *to = surf2Dread<T>(surface, x, y, mode, site);
}
template <class T>
[[gnu::always_inline]] inline void surf2Dwrite(T value, cudaSurfaceObject_t surface, int x, int y,
                                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                               simt::Site site = simt::Site::here()) {
  void* const address = simt::in_surface(surface, sizeof(T), x, y, mode, site);
  if (address != nullptr) *static_cast<T*>(address) = value;
}
