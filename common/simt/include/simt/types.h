// CUDA's vector types and dim3, with CUDA's sizes and alignments (CUDA C++ Programming Guide, "Built-in Vector Types").
#pragma once

#include "simt/error.h"

/// name1 to name4 with their make_ functions; the types of two and of four elements have their own alignment.
#define SIMT_VECTORS(name, T, align2, align4)                        \
  struct name##1 { T x; };                                           \
  struct alignas(align2) name##2 { T x, y; };                        \
  struct name##3 { T x, y, z; };                                     \
  inline name##1 make_##name##1(T x) { return {x}; }                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  SIMT_VECTOR4(name##4, T, align4)

#define SIMT_VECTOR4(name, T, align) \
  struct alignas(align) name {       \
    T x, y, z, w;                    \
  };                                 \
  inline name make_##name(T x, T y, T z, T w) { return {x, y, z, w}; }

SIMT_VECTORS(char, signed char, 2, 4)
SIMT_VECTORS(uchar, unsigned char, 2, 4)
SIMT_VECTORS(short, short, 4, 8)
SIMT_VECTORS(ushort, unsigned short, 4, 8)
SIMT_VECTORS(int, int, 8, 16)
SIMT_VECTORS(uint, unsigned int, 8, 16)
SIMT_VECTORS(long, long, 16, 16)
SIMT_VECTORS(ulong, unsigned long, 16, 16)
SIMT_VECTORS(longlong, long long, 16, 16)
SIMT_VECTORS(ulonglong, unsigned long long, 16, 16)
SIMT_VECTORS(float, float, 8, 16)
SIMT_VECTORS(double, double, 16, 16)

// The types of four 8-byte elements by their alignment (CUDA 13 prefers these names).
SIMT_VECTOR4(long4_16a, long, 16)
SIMT_VECTOR4(long4_32a, long, 32)
SIMT_VECTOR4(ulong4_16a, unsigned long, 16)
SIMT_VECTOR4(ulong4_32a, unsigned long, 32)
SIMT_VECTOR4(longlong4_16a, long long, 16)
SIMT_VECTOR4(longlong4_32a, long long, 32)
SIMT_VECTOR4(ulonglong4_16a, unsigned long long, 16)
SIMT_VECTOR4(ulonglong4_32a, unsigned long long, 32)
SIMT_VECTOR4(double4_16a, double, 16)
SIMT_VECTOR4(double4_32a, double, 32)

#undef SIMT_VECTORS
#undef SIMT_VECTOR4

namespace simt {

/// What blockDim and gridDim are in the check build: a dim3 without constructors.
struct ConstantDim3 {
  unsigned int x, y, z;

  constexpr operator uint3() const { return {x, y, z}; }
};

}  // namespace simt

/// A shape in blocks or threads; extents that are left out are 1.
struct dim3 {
  unsigned int x, y, z;

  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 shape) : x(shape.x), y(shape.y), z(shape.z) {}
  constexpr dim3(const simt::ConstantDim3& shape) : x(shape.x), y(shape.y), z(shape.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
